// Plans the instrumentation of one translation unit: see plan.h. flow.c decides
// what is counted; here the entities are made from it.
#include "cfront/plan.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "cfront/flow.h"
#include "cfront/leave.h"
#include "cfront/place.h"

typedef struct {
  Plan *plan;
  bool returns;
  uint32_t entity; // of the function
  Flow flow;
  uint32_t nconditions, ncalls;
} Fn;

// --- entities ---------------------------------------------------------------

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint32_t add_entity(Plan *p, Entity e, Numbers *refs) {
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
  Numbers refs = {0};
  flow_entry_refs(&f->flow, &f->flow.nodes.items[0], &refs);
  f->entity = (uint32_t)f->plan->entities.len;
  add_entity(f->plan,
             (Entity){.kind = ENTITY_FUNCTION,
                      .source = place_source(
                          f->plan, LLVMDIScopeGetFile(subprogram)),
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
  Numbers refs = {0};
  uint32_t index = 0;
  const Occurrence *o = f->flow.occurrences.items;
  const Occurrence *end = o + f->flow.occurrences.len;
  for (uint32_t i = 0; i < f->flow.nodes.len; i++) {
    Node *n = &f->flow.nodes.items[i];
    while (o < end && o->node < i)
      o++;
    if (n->forwards)
      continue;
    Entity e = entity_at(f, ENTITY_BLOCK,
                         o < end && o->node == i ? &o->place : NULL);
    e.index = index++;
    flow_entry_refs(&f->flow, n, &refs);
    n->entity = add_entity(f->plan, e, &refs);
  }
  array_release(&refs);
}

static void add_edge(Fn *f, uint32_t from, uint32_t to, uint32_t index,
                     const Place *place, Numbers *refs) {
  Entity e = entity_at(f, ENTITY_EDGE, place);
  e.index = index;
  e.from = from;
  e.to = to;
  add_entity(f->plan, e, refs);
}

static void add_edges(Fn *f) {
  Numbers refs = {0};
  uint32_t index = 0;
  flow_entry_refs(&f->flow, &f->flow.nodes.items[0], &refs);
  add_edge(f, ENTITY_NONE, f->flow.nodes.items[0].entity, index++, NULL, &refs);
  for (uint32_t i = 0; i < f->flow.nodes.len; i++) {
    const Node *n = &f->flow.nodes.items[i];
    if (n->forwards)
      continue;
    Place place;
    bool known = place_of(f->plan, LLVMGetBasicBlockTerminator(n->tail),
                          &place);
    for (size_t k = 0; k < n->succs.len; k++) {
      uint32_t to = flow_landing(&f->flow, n->succs.items[k]);
      flow_edge_refs(&f->flow, n, &f->flow.nodes.items[n->succs.items[k]], &refs);
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
  uint32_t s = ((const Occurrence *)a)->segment;
  uint32_t t = ((const Occurrence *)b)->segment;
  return (s > t) - (s < t);
}

// One statement entity per line of the function, over all its segments.
static void add_statements(Fn *f) {
  Numbers refs = {0};
  qsort(f->flow.occurrences.items, f->flow.occurrences.len, sizeof(Occurrence), by_place);
  for (size_t i = 0; i < f->flow.occurrences.len;) {
    Place place = f->flow.occurrences.items[i].place;
    const Node *first = &f->flow.nodes.items[f->flow.occurrences.items[i].node];
    for (; i < f->flow.occurrences.len; i++) {
      const Occurrence *o = &f->flow.occurrences.items[i];
      if (o->place.source != place.source || o->place.line != place.line)
        break;
      if (o->place.col_lo && o->place.col_lo < place.col_lo)
        place.col_lo = o->place.col_lo;
      if (o->place.col_hi > place.col_hi)
        place.col_hi = o->place.col_hi;
      flow_segment_refs(&f->flow, &f->flow.nodes.items[o->node],
                   &f->flow.segments.items[o->segment], &refs);
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

static void add_outcome(Fn *f, const Node *n, Entity e, uint32_t outcome,
                        size_t succ, Numbers *refs) {
  flow_edge_refs(&f->flow, n, &f->flow.nodes.items[n->succs.items[succ]], refs);
  e.from = outcome;
  e.to = n->entity;
  add_entity(f->plan, e, refs);
}

// LLVM's successors: for a branch true, false; for a switch default, then the
// cases in the order of the source.
static void add_condition(Fn *f, const Node *n, LLVMValueRef end) {
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
  Numbers refs = {0};
  for (size_t i = 0; i < n->succs.len; i++)
    add_outcome(f, n, e, (uint32_t)(branch ? 1 - i : i), i, &refs);
  array_release(&refs);
}

static void add_conditions(Fn *f) {
  for (size_t i = 0; i < f->flow.nodes.len; i++) {
    const Node *n = &f->flow.nodes.items[i];
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

// The classes told apart per type, and the counters (relative to the first)
// that stand for each. The class numbers are those of Entity.from.
typedef struct {
  const char *name;
  ResultType type;
  unsigned char ncounters, counters[2];
} ResultClass;

static const ResultClass classes[] = {
    {"negative", RESULT_INT, 1, {0}},      {"zero", RESULT_INT, 1, {1}},
    {"non-zero", RESULT_INT, 2, {0, 2}},   {"false", RESULT_BOOL, 1, {1}},
    {"true", RESULT_BOOL, 1, {2}},         {"null", RESULT_POINTER, 1, {1}},
    {"non-null", RESULT_POINTER, 1, {2}},  {"negative", RESULT_FLOAT, 1, {0}},
    {"zero", RESULT_FLOAT, 1, {1}},        {"non-zero", RESULT_FLOAT, 2, {0, 2}},
};
enum { NCLASSES = sizeof classes / sizeof *classes, RESULT_COUNTERS = 3 };

static void add_results(Fn *f, const CallSite *c, LLVMValueRef call) {
  uint32_t first = f->plan->ncounters;
  Numbers refs = {0};
  bool any = false;
  for (uint32_t k = 0; k < NCLASSES; k++) {
    if (classes[k].type != c->type)
      continue;
    any = true;
    Place place = {c->source, c->line, c->col, c->col};
    Entity e = entity_at(f, ENTITY_RETURN, &place);
    e.index = f->ncalls;
    e.from = k;
    e.to = c->block;
    e.name = c->callee;
    for (int i = 0; i < classes[k].ncounters; i++)
      array_push(&refs, first + classes[k].counters[i]);
    add_entity(f->plan, e, &refs);
  }
  array_release(&refs);
  if (!any)
    return;
  f->plan->ncounters += RESULT_COUNTERS;
  array_push(&f->plan->results, (ResultProbe){call, first, c->type});
}

static void add_call(Fn *f, const Node *n, LLVMValueRef call) {
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
  array_push(&f->plan->calls, c);
  if (f->returns)
    add_results(f, &c, call);
  f->ncalls++;
}

static void add_calls(Fn *f) {
  for (size_t b = 0; b < f->flow.blocks.len; b++) {
    uint32_t node = f->flow.node_of.items[b];
    if (node == NONE || f->flow.nodes.items[node].forwards)
      continue;
    LLVMBasicBlockRef block = f->flow.blocks.items[b];
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i))
      if (LLVMIsACallInst(i) && !is_debug_call(i))
        add_call(f, &f->flow.nodes.items[node], i);
  }
}

// --- functions --------------------------------------------------------------

static void plan_function(Fn *f, LLVMMetadataRef subprogram) {
  flow_build(&f->flow);
  add_function(f, subprogram);
  add_blocks(f);
  add_edges(f);
  add_conditions(f);
  add_calls(f);
  add_statements(f); // last: it sorts the occurrences
  flow_release(&f->flow);
}

// Functions without debug information have no place in the source; naked ones
// take no code of ours; noprofile is the user's own wish.
static bool is_planned(LLVMValueRef function) {
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
    if (!is_planned(f))
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
  array_release(&p->probes);
  array_release(&p->results);
  hashmap_release(&p->files);
  hashmap_release(&p->paths);
  arena_release(&p->arena);
}
