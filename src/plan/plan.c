// Plans the instrumentation of one translation unit: see plan.h. flow.c decides
// what is counted; here the entities are made from it.
#include "plan/plan.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "plan/contract_wrap.h"
#include "plan/flow.h"
#include "plan/leave.h"
#include "plan/place.h"
#include "plan/written_condition.h"

typedef struct {
  Plan *plan;
  bool returns;
  uint32_t entity; // of the function
  Flow flow;
  ConditionList conditions;
  uint32_t nconditions, ncalls;
} Fn;

// --- entities ---------------------------------------------------------------

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint32_t add_entity(Plan *p, Entity e, NumberList *refs) {
  qsort(refs->items, refs->len, sizeof *refs->items, by_number);
  uint32_t last = NONE;
  for (size_t i = 0; i < refs->len; i++) {
    if (refs->items[i] != last)
      array_push(&p->refs, refs->items[i]);
    last = refs->items[i];
  }
  refs->len = 0;
  array_push(&p->entities, e);
  array_push(&p->first_ref, (uint32_t)p->refs.len);
  return (uint32_t)p->entities.len - 1;
}

static void add_function(Fn *f, LLVMMetadataRef subprogram) {
  size_t n;
  const char *name = LLVMGetValueName2(f->flow.function, &n);
  if (*name == '\1')
    name++, n--;
  const char *symbol = name;
  name = contract_source_name(symbol);
  n -= (size_t)(name - symbol);
  NumberList refs = {0};
  flow_entry_refs(&f->flow, &f->flow.nodes.items[0], &refs);
  f->entity = (uint32_t)f->plan->entities.len;
  add_entity(
      f->plan,
      (Entity){.kind = ENTITY_FUNCTION,
               .source = place_source(f->plan, LLVMDIScopeGetFile(subprogram)),
               .line = LLVMDISubprogramGetLine(subprogram),
               .function = f->entity,
               .from = ENTITY_NONE,
               .to = ENTITY_NONE,
               .name = arena_strndup(&f->plan->arena, name, n)},
      &refs);
  array_release(&refs);
}

static Entity entity_at(const Fn *f, EntityKind kind, const Place *place) {
  const Entity *fn = &f->plan->entities.items[f->entity];
  Entity e = {.kind = kind,
              .source = fn->source,
              .line = fn->line,
              .function = f->entity,
              .from = ENTITY_NONE,
              .to = ENTITY_NONE};
  if (place) {
    e.source = place->source;
    e.line = place->line;
    e.col_lo = place->col_lo;
    e.col_hi = place->col_hi;
  }
  return e;
}

static void add_blocks(Fn *f) {
  NumberList refs = {0};
  uint32_t index = 0;
  const Occurrence *o = f->flow.occurrences.items;
  const Occurrence *end = o + f->flow.occurrences.len;
  for (uint32_t i = 0; i < f->flow.nodes.len; i++) {
    FlowNode *n = &f->flow.nodes.items[i];
    while (o < end && o->node < i)
      o++;
    if (n->forwards)
      continue;
    Entity e =
        entity_at(f, ENTITY_BLOCK, o < end && o->node == i ? &o->place : NULL);
    e.index = index++;
    flow_entry_refs(&f->flow, n, &refs);
    n->entity = add_entity(f->plan, e, &refs);
  }
  array_release(&refs);
}

static void mark(Fn *f, LLVMValueRef inst, MarkKind kind, size_t first,
                 size_t site) {
  Plan *p = f->plan;
  if (p->marking)
    array_push(&p->marks,
               (Mark){inst, kind, (uint32_t)first,
                      (uint32_t)(p->entities.len - first), (uint32_t)site});
}

static void mark_blocks(Fn *f) {
  for (size_t b = 0; f->plan->marking && b < f->flow.blocks.len; b++) {
    uint32_t node = f->flow.node_of.items[b];
    LLVMBasicBlockRef block = f->flow.blocks.items[b];
    if (node != NONE && !f->flow.nodes.items[node].forwards)
      mark(f, LLVMGetBasicBlockTerminator(block), MARK_BLOCK,
           f->flow.nodes.items[node].entity, 0);
  }
}

static void add_edge(Fn *f, uint32_t from, uint32_t to, uint32_t index,
                     const Place *place, NumberList *refs) {
  Entity e = entity_at(f, ENTITY_EDGE, place);
  e.index = index;
  e.from = from;
  e.to = to;
  add_entity(f->plan, e, refs);
}

static void add_edges(Fn *f) {
  NumberList refs = {0};
  uint32_t index = 0;
  flow_entry_refs(&f->flow, &f->flow.nodes.items[0], &refs);
  add_edge(f, ENTITY_NONE, f->flow.nodes.items[0].entity, index++, NULL, &refs);
  for (uint32_t i = 0; i < f->flow.nodes.len; i++) {
    const FlowNode *n = &f->flow.nodes.items[i];
    if (n->forwards)
      continue;
    Place place;
    bool known =
        place_of(f->plan, LLVMGetBasicBlockTerminator(n->tail), &place);
    for (size_t k = 0; k < n->succs.len; k++) {
      uint32_t to = flow_landing(&f->flow, n->succs.items[k]);
      flow_edge_refs(&f->flow, n, &f->flow.nodes.items[n->succs.items[k]],
                     &refs);
      add_edge(f, n->entity, f->flow.nodes.items[to].entity, index++,
               known ? &place : NULL, &refs);
    }
  }
  array_release(&refs);
}

static int by_place(const void *a, const void *b) {
  const Place *x = &((const Occurrence *)a)->place;
  const Place *y = &((const Occurrence *)b)->place;
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  uint32_t s = ((const Occurrence *)a)->part;
  uint32_t t = ((const Occurrence *)b)->part;
  return (s > t) - (s < t);
}

// The occurrences of one line come node by node.
static void add_standing(Fn *f, uint32_t statement, const FlowNode *n) {
  const Standing s = {statement, n->entity};
  size_t len = f->plan->standings.len;
  const Standing *last = len ? &f->plan->standings.items[len - 1] : NULL;
  if (!last || last->statement != statement || last->block != s.block)
    array_push(&f->plan->standings, s);
}

// One statement entity per line of the function, over all its parts.
static void add_statements(Fn *f) {
  NumberList refs = {0};
  qsort(f->flow.occurrences.items, f->flow.occurrences.len, sizeof(Occurrence),
        by_place);
  for (size_t i = 0; i < f->flow.occurrences.len;) {
    Place place = f->flow.occurrences.items[i].place;
    const FlowNode *first =
        &f->flow.nodes.items[f->flow.occurrences.items[i].node];
    for (; i < f->flow.occurrences.len; i++) {
      const Occurrence *o = &f->flow.occurrences.items[i];
      if (o->place.source != place.source || o->place.line != place.line)
        break;
      if (o->place.col_lo && o->place.col_lo < place.col_lo)
        place.col_lo = o->place.col_lo;
      if (o->place.col_hi > place.col_hi)
        place.col_hi = o->place.col_hi;
      const FlowNode *n = &f->flow.nodes.items[o->node];
      flow_part_refs(&f->flow, n, &f->flow.parts.items[o->part], &refs);
      add_standing(f, (uint32_t)f->plan->entities.len, n);
    }
    Entity e = entity_at(f, ENTITY_STATEMENT, &place);
    e.to = first->entity;
    add_entity(f->plan, e, &refs);
  }
  array_release(&refs);
}

// --- conditions -------------------------------------------------------------

static const char *condition_kind(const char *text) {
  static const char *const kinds[] = {"if", "while", "for", "do", "switch"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (source_word_is(text, kinds[i]))
      return kinds[i];
  return "operand";
}

static void add_outcome(Fn *f, const FlowNode *n, Entity e, size_t succ,
                        NumberList *refs) {
  flow_edge_refs(&f->flow, n, &f->flow.nodes.items[n->succs.items[succ]], refs);
  e.to = n->entity;
  add_entity(f->plan, e, refs);
}

static void put_written(Entity *e, const Condition *c) {
  e->text = c->text;
  if (c->line == e->line) {
    e->col_lo = c->col_lo;
    e->col_hi = c->col_hi;
  }
}

// How an outcome is called of which only is known where it leads.
static const char *branch_name(Fn *f, const FlowNode *n, size_t succ) {
  uint32_t to = flow_landing(&f->flow, n->succs.items[succ]);
  uint32_t entity = f->flow.nodes.items[to].entity;
  char *text =
      mem_printf("branch to line %u", f->plan->entities.items[entity].line);
  const char *kept = arena_strdup(&f->plan->arena, text);
  free(text);
  return kept;
}

// LLVM's successors: true, false.
static void add_branch(Fn *f, const FlowNode *n, Entity e, const Condition *c) {
  NumberList refs = {0};
  put_written(&e, c);
  for (uint32_t i = 0; i < 2; i++) {
    e.from = c->inverted ? i : 1 - i;
    if (!c->known)
      e.name = branch_name(f, n, i);
    add_outcome(f, n, e, i, &refs);
  }
  array_release(&refs);
}

// LLVM's successors: default, then the cases in the order of the source.
static void add_switch(Fn *f, const FlowNode *n, Entity e, LLVMValueRef end) {
  NumberList refs = {0};
  const char **texts = mem_array(const char *, n->succs.len + 1);
  bool whole = n->succs.len == LLVMGetNumSuccessors(end);
  if (whole)
    condition_cases(f->plan, end, texts);
  for (uint32_t i = 0; i < n->succs.len; i++) {
    e.from = i;
    e.text = texts[i];
    add_outcome(f, n, e, i, &refs);
  }
  free(texts);
  array_release(&refs);
}

static void add_condition(Fn *f, const FlowNode *n, LLVMValueRef end) {
  LLVMOpcode op = LLVMGetInstructionOpcode(end);
  bool branch = op == LLVMBr && LLVMIsConditional(end);
  if (!branch && op != LLVMSwitch)
    return;
  Place place, operand;
  if (!place_of(f->plan, end, &place))
    return;
  const char *kind = condition_kind(place_text(f->plan, &place));
  LLVMValueRef value = branch ? LLVMGetCondition(end) : LLVMGetOperand(end, 0);
  if (LLVMIsAInstruction(value) && place_of(f->plan, value, &operand))
    place = operand;
  Entity e = entity_at(f, ENTITY_CONDITION, &place);
  e.index = f->nconditions++;
  e.name = kind;
  size_t first = f->plan->entities.len;
  if (branch) {
    Condition c = condition_read(f->plan, &f->conditions, value, end);
    add_branch(f, n, e, &c);
  } else {
    add_switch(f, n, e, end);
  }
  mark(f, end, MARK_CONDITION, first, 0);
}

// A condition whose value is used, not branched on.
static void add_value(Fn *f, const FlowNode *n, LLVMValueRef condition,
                      LLVMValueRef before, const char *kind) {
  Place place;
  if (!LLVMIsAInstruction(condition) || !place_of(f->plan, condition, &place))
    return;
  Condition c = condition_read(f->plan, &f->conditions, condition, NULL);
  Entity e = entity_at(f, ENTITY_CONDITION, &place);
  put_written(&e, &c);
  e.index = f->nconditions++;
  e.name = kind;
  e.to = n->entity;
  NumberList refs = {0};
  uint32_t first = f->plan->ncounters;
  for (e.from = 0; e.from < 2; e.from++) {
    array_push(&refs, first + e.from);
    add_entity(f->plan, e, &refs);
  }
  array_release(&refs);
  array_push(&f->plan->values, (ValueProbe){condition, before, first});
  f->plan->ncounters += 2;
}

static bool is_truth(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(t) == 1;
}

// `c ? a : b` over plain values is a select, not a branch.
static void add_select(Fn *f, const FlowNode *n, LLVMValueRef select) {
  if (is_truth(LLVMGetOperand(select, 0)))
    add_value(f, n, LLVMGetOperand(select, 0), select, "?:");
}

// `x = a && b`: b is not a branch, but the value that arrives from where it was
// computed.
static void add_last_operands(Fn *f, const FlowNode *n, LLVMValueRef phi) {
  for (unsigned i = 0; is_truth(phi) && i < LLVMCountIncoming(phi); i++)
    add_value(f, n, LLVMGetIncomingValue(phi, i),
              LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, i)),
              "operand");
}

static void add_conditions(Fn *f) {
  for (size_t i = 0; i < f->flow.nodes.len; i++) {
    const FlowNode *n = &f->flow.nodes.items[i];
    if (!n->forwards)
      add_condition(f, n, LLVMGetBasicBlockTerminator(n->tail));
  }
}

// --- call sites -------------------------------------------------------------

static ResultType result_type(LLVMValueRef call) {
  LLVMTypeRef t = LLVMTypeOf(call);
  switch (LLVMGetTypeKind(t)) {
  case LLVMVoidTypeKind:
    return RESULT_NONE;
  case LLVMPointerTypeKind:
    return RESULT_POINTER;
  case LLVMIntegerTypeKind:
    return LLVMGetIntTypeWidth(t) == 1 ? RESULT_BOOL : RESULT_INT;
  case LLVMFloatTypeKind:
  case LLVMDoubleTypeKind:
  case LLVMX86_FP80TypeKind:
    return RESULT_FLOAT;
  default:
    return RESULT_OTHER;
  }
}

// The classes distinguished per type, and the counters (relative to the first)
// that stand for each.
typedef struct {
  ResultType type;
  ReturnClass class;
  unsigned char ncounters, counters[5];
} ResultClass;

// A constant result: any of the classes, and (last) not changed.
#define SAME(...) {__VA_ARGS__, RESULT_CHANGED}
static const ResultClass classes[] = {
    {RESULT_INT, RETURN_NEGATIVE, 1, {0}},
    {RESULT_INT, RETURN_ZERO, 1, {1}},
    {RESULT_INT, RETURN_NON_ZERO, 2, {0, 2}},
    {RESULT_INT, RETURN_CONSTANT, 4, SAME(0, 1, 2)},
    {RESULT_INT, RETURN_NON_CONSTANT, 1, {RESULT_CHANGED}},
    {RESULT_BOOL, RETURN_FALSE, 1, {1}},
    {RESULT_BOOL, RETURN_TRUE, 1, {2}},
    {RESULT_POINTER, RETURN_NULL, 1, {1}},
    {RESULT_POINTER, RETURN_NON_NULL, 1, {2}},
    {RESULT_POINTER, RETURN_CONSTANT, 3, SAME(1, 2)},
    {RESULT_POINTER, RETURN_NON_CONSTANT, 1, {RESULT_CHANGED}},
    {RESULT_FLOAT, RETURN_NEGATIVE, 1, {0}},
    {RESULT_FLOAT, RETURN_ZERO, 1, {1}},
    {RESULT_FLOAT, RETURN_NON_ZERO, 2, {0, 2}},
    {RESULT_FLOAT, RETURN_NAN, 1, {3}},
};
enum { NCLASSES = sizeof classes / sizeof *classes };

static void add_result(Fn *f, const CallSite *c, ReturnClass class,
                       NumberList *refs) {
  Place place = {c->source, c->line, c->col, c->col};
  Entity e = entity_at(f, ENTITY_RETURN, &place);
  e.index = f->ncalls;
  e.from = class;
  e.to = c->block;
  e.name = c->callee;
  add_entity(f->plan, e, refs);
}

// A result that is only compared with zero or null and branched on: the
// outcomes of that branch tell the class. Which one is zero, or -1.
static int outcome_for_zero(const FlowNode *n, LLVMValueRef call) {
  LLVMUseRef use = LLVMGetFirstUse(call);
  if (!use || LLVMGetNextUse(use))
    return -1;
  LLVMValueRef compare = LLVMGetUser(use);
  LLVMUseRef branched = LLVMGetFirstUse(compare);
  if (!LLVMIsAICmpInst(compare) || !branched || LLVMGetNextUse(branched) ||
      LLVMGetUser(branched) != LLVMGetBasicBlockTerminator(n->tail) ||
      !LLVMIsABranchInst(LLVMGetUser(branched)) ||
      !LLVMIsNull(LLVMGetOperand(compare, 1)))
    return -1;
  LLVMIntPredicate p = LLVMGetICmpPredicate(compare);
  return p == LLVMIntEQ ? 1 : p == LLVMIntNE ? 0 : -1;
}

static void add_branched_result(Fn *f, const FlowNode *n, const CallSite *c,
                                int zero) {
  NumberList refs = {0};
  bool pointer = c->type == RESULT_POINTER;
  for (int outcome = 0; outcome < 2; outcome++) {
    // Successor 0 is the true one.
    uint32_t to = n->succs.items[1 - outcome];
    flow_edge_refs(&f->flow, n, &f->flow.nodes.items[to], &refs);
    ReturnClass class = pointer ? RETURN_NULL : RETURN_ZERO;
    add_result(f, c, outcome == zero ? class : class + 1, &refs);
  }
  array_release(&refs);
}

static void add_counted_result(Fn *f, const CallSite *c, LLVMValueRef call) {
  uint32_t first = f->plan->ncounters;
  NumberList refs = {0};
  bool any = false;
  for (uint32_t k = 0; k < NCLASSES; k++) {
    if (classes[k].type != c->type)
      continue;
    any = true;
    for (int i = 0; i < classes[k].ncounters; i++)
      array_push(&refs, first + classes[k].counters[i]);
    add_result(f, c, classes[k].class, &refs);
  }
  array_release(&refs);
  if (!any)
    return;
  f->plan->ncounters += RESULT_COUNTERS;
  array_push(&f->plan->results, (ResultProbe){call, first, c->type});
}

// Unused results say nothing about the caller.
static void add_results(Fn *f, const FlowNode *n, const CallSite *c,
                        LLVMValueRef call) {
  if (!LLVMGetFirstUse(call))
    return;
  int zero = c->type == RESULT_INT || c->type == RESULT_POINTER
                 ? outcome_for_zero(n, call)
                 : -1;
  if (zero >= 0)
    add_branched_result(f, n, c, zero); // costs nothing
  else if (f->returns)
    add_counted_result(f, c, call);
}

static void add_call(Fn *f, const FlowNode *n, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  Place place;
  if (LLVMIsAInlineAsm(callee) || !place_of(f->plan, call, &place) ||
      (LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee)))
    return;
  size_t len;
  const char *name =
      LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &len) : NULL;
  CallSite c = {.function = f->entity,
                .source = place.source,
                .line = place.line,
                .col = place.col_lo,
                .block = n->entity,
                .type = result_type(call),
                .callee = name ? arena_strdup(&f->plan->arena, name) : NULL};
  size_t first = f->plan->entities.len;
  array_push(&f->plan->calls, c);
  add_results(f, n, &c, call);
  mark(f, call, MARK_CALL, first, f->plan->calls.len - 1);
  f->ncalls++;
}

static void add_calls_and_values(Fn *f) {
  for (size_t b = 0; b < f->flow.blocks.len; b++) {
    uint32_t node = f->flow.node_of.items[b];
    if (node == NONE || f->flow.nodes.items[node].forwards)
      continue;
    LLVMBasicBlockRef block = f->flow.blocks.items[b];
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i))
      if (LLVMIsACallInst(i) && !is_debug_call(i))
        add_call(f, &f->flow.nodes.items[node], i);
      else if (LLVMIsASelectInst(i))
        add_select(f, &f->flow.nodes.items[node], i);
      else if (LLVMIsAPHINode(i))
        add_last_operands(f, &f->flow.nodes.items[node], i);
  }
}

// --- functions --------------------------------------------------------------

static void plan_function(Fn *f, LLVMMetadataRef subprogram) {
  flow_build(&f->flow);
  add_function(f, subprogram);
  add_blocks(f);
  mark_blocks(f);
  add_edges(f);
  conditions_list(f->plan, f->flow.function, &f->conditions);
  add_conditions(f);
  add_calls_and_values(f);
  add_statements(f); // last: it sorts the occurrences
  flow_release(&f->flow);
  array_release(&f->conditions);
}

bool plan_covers(LLVMValueRef function) {
  if (LLVMIsDeclaration(function) || !LLVMGetSubprogram(function) ||
      LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage)
    return false;
  static const char *const refuse[] = {"naked", "noprofile"};
  for (size_t i = 0; i < sizeof refuse / sizeof *refuse; i++) {
    unsigned kind =
        LLVMGetEnumAttributeKindForName(refuse[i], strlen(refuse[i]));
    if (LLVMGetEnumAttributeAtIndex(
            function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind))
      return false;
  }
  return true;
}

void plan_module(Plan *p, LLVMModuleRef module, bool returns) {
  size_t n;
  const char *name = LLVMGetSourceFileName(module, &n);
  p->name = arena_strndup(&p->arena, name, n);
  array_push(&p->first_ref, 0);
  Leavers *leavers = leavers_new(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    if (!plan_covers(f))
      continue;
    Fn fn = {.plan = p,
             .returns = returns,
             .flow = {.plan = p, .leavers = leavers, .function = f}};
    plan_function(&fn, LLVMGetSubprogram(f));
  }
  leavers_free(leavers);
}

void plan_release(Plan *p) {
  for (size_t i = 0; i < p->texts.len; i++)
    source_text_release(&p->texts.items[i]);
  array_release(&p->texts);
  array_release(&p->sources);
  array_release(&p->entities);
  array_release(&p->first_ref);
  array_release(&p->refs);
  array_release(&p->calls);
  array_release(&p->definers);
  array_release(&p->uses);
  array_release(&p->use_sites);
  array_release(&p->probes);
  array_release(&p->results);
  array_release(&p->values);
  array_release(&p->standings);
  array_release(&p->marks);
  hashmap_release(&p->files);
  hashmap_release(&p->paths);
  arena_release(&p->arena);
}
