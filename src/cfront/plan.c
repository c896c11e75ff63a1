// Plans the instrumentation of one translation unit: see plan.h.
//
// A function's LLVM blocks are first joined into nodes: a node is a chain of
// blocks each of which is the only successor of the one before and has no other
// predecessor. A node is cut into segments: a new one starts at the first
// statement behind a call that might not return. Segments carry counters.
//
// Nodes that hold no statement and only jump on are contracted: they are no
// block entities, and an edge through them is one edge. Their counters, if any,
// count that edge.
#include "cfront/plan.h"

#include <assert.h>
#include <ctype.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "cfront/leave.h"
#include "util/fs.h"

#define NONE UINT32_MAX

typedef struct {
  uint32_t source, line;
  uint32_t col_lo, col_hi;
} Place;

// A statement standing in a segment.
typedef struct {
  Place place;
  uint32_t segment, node;
} Occurrence;

typedef struct {
  LLVMValueRef start;  // counted in front of this instruction
  uint32_t counter;    // NONE: derived
  bool from_succs, from_preds;
  bool can_end;        // something in it may trap or not come back
} Segment;

typedef ARRAY(uint32_t) Numbers;

typedef struct {
  LLVMBasicBlockRef head, tail;
  uint32_t first_segment, nsegments;
  Numbers succs, preds; // nodes; one entry per edge
  bool reached, header, on_path;
  bool statements;
  bool forwards; // contracted
  uint32_t entity;
} Node;

typedef struct {
  Plan *plan;
  const Leavers *leavers;
  bool returns;
  LLVMValueRef function;
  uint32_t entity; // of the function
  ARRAY(LLVMBasicBlockRef) blocks;
  Hashmap block_numbers;
  Numbers *succs, *preds; // of blocks
  Numbers node_of;        // block -> node
  ARRAY(Node) nodes;
  ARRAY(Segment) segments;
  ARRAY(Occurrence) occurrences;
  uint32_t nconditions, ncalls;
} Fn;

// --- places in the source ---------------------------------------------------

static uint32_t add_source(Plan *p, const char *path) {
  uint64_t id = hashmap_intern(&p->paths, path, strlen(path), p->sources.len);
  if (id == p->sources.len) {
    SourceText text;
    source_text_load(&text, path);
    array_push(&p->texts, text);
    array_push(&p->sources,
               (Source){arena_strdup(&p->arena, path), text.hash});
  }
  return (uint32_t)id;
}

// Where the file really lies, if -ffile-prefix-map has renamed it. Takes path.
static char *unmap(const Plan *p, char *path) {
  for (size_t i = p->maps ? p->maps->len : 0; i-- > 0 && !fs_exists(path);) {
    const char *old = p->maps->items[i], *eq = strchr(old, '=');
    if (!eq || !text_starts(path, eq + 1))
      continue;
    char *real = mem_printf("%.*s%s", (int)(eq - old), old,
                            path + strlen(eq + 1));
    if (fs_exists(real)) {
      free(path);
      path = path_absolute(real, NULL);
    }
    free(real);
  }
  return path;
}

static uint32_t source_of_file(Plan *p, LLVMMetadataRef file) {
  uint64_t id;
  if (hashmap_get(&p->files, &file, sizeof file, &id))
    return (uint32_t)id;
  unsigned dir_len = 0, name_len = 0;
  const char *dir = LLVMDIFileGetDirectory(file, &dir_len);
  const char *name = LLVMDIFileGetFilename(file, &name_len);
  char *dir_text = arena_strndup(&p->arena, dir, dir_len);
  char *name_text = arena_strndup(&p->arena, name, name_len);
  char *path = path_absolute(name_text, *dir_text ? dir_text : NULL);
  path = unmap(p, path);
  id = add_source(p, path);
  free(path);
  hashmap_put(&p->files, &file, sizeof file, id);
  return (uint32_t)id;
}

static bool place_of(Plan *p, LLVMValueRef inst, Place *out) {
  LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(inst);
  if (!loc || !LLVMDILocationGetLine(loc))
    return false;
  LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(loc));
  if (!file)
    return false;
  out->source = source_of_file(p, file);
  out->line = LLVMDILocationGetLine(loc);
  out->col_lo = out->col_hi = LLVMDILocationGetColumn(loc);
  return true;
}

static const char *text_at(const Plan *p, const Place *place) {
  return source_text_at(&p->texts.items[place->source], place->line,
                        place->col_lo);
}

// A jump is a statement of its own where the source says so: break, continue,
// goto, return, or a macro that stands for one ("NEXT;"). Other jumps belong to
// the head of a loop, an if, or an operator.
static bool jump_is_statement(const char *text) {
  static const char *const jumps[] = {"break", "continue", "goto", "return"};
  for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
    if (source_word_is(text, jumps[i]))
      return true;
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '_')
    n++;
  return n && text[n + strspn(text + n, " \t")] == ';';
}

static bool is_debug_call(LLVMValueRef inst) {
  return LLVMIsADbgInfoIntrinsic(inst) != NULL;
}

// The place of the statement this instruction belongs to, if it is one.
static bool statement_of(Plan *p, LLVMValueRef inst, Place *out) {
  LLVMOpcode op = LLVMGetInstructionOpcode(inst);
  if (op == LLVMAlloca || op == LLVMPHI || op == LLVMUnreachable ||
      is_debug_call(inst) || !place_of(p, inst, out))
    return false;
  const char *text = text_at(p, out);
  if (*text == '}')
    return false; // implicit return, end of a loop body
  if (op == LLVMBr && !LLVMIsConditional(inst))
    return jump_is_statement(text);
  return true;
}

// --- what can end a run in the middle of a block ----------------------------

// The object that a pointer with constant offset points into.
static LLVMValueRef base_of(LLVMValueRef pointer) {
  while (LLVMIsAGetElementPtrInst(pointer) ||
         (LLVMIsAConstantExpr(pointer) &&
          LLVMGetConstOpcode(pointer) == LLVMGetElementPtr)) {
    for (int i = 1; i < LLVMGetNumOperands(pointer); i++)
      if (!LLVMIsAConstantInt(LLVMGetOperand(pointer, (unsigned)i)))
        return pointer;
    pointer = LLVMGetOperand(pointer, 0);
  }
  return pointer;
}

static bool is_plain_address(LLVMValueRef pointer) {
  pointer = base_of(pointer);
  if (LLVMIsAAllocaInst(pointer))
    return true;
  return LLVMIsAGlobalVariable(pointer) && !LLVMIsThreadLocal(pointer) &&
         LLVMGetLinkage(pointer) != LLVMExternalWeakLinkage;
}

static bool divides_by_unknown(LLVMValueRef inst) {
  LLVMValueRef divisor = LLVMGetOperand(inst, 1);
  return !LLVMIsAConstantInt(divisor) ||
         LLVMConstIntGetZExtValue(divisor) == 0;
}

static bool can_end_run(LLVMValueRef inst) {
  switch (LLVMGetInstructionOpcode(inst)) {
  case LLVMLoad:
    return !is_plain_address(LLVMGetOperand(inst, 0));
  case LLVMStore:
    return !is_plain_address(LLVMGetOperand(inst, 1));
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMURem:
  case LLVMSRem:
    return divides_by_unknown(inst);
  case LLVMCall:
  case LLVMInvoke:
  case LLVMCallBr:
    return !is_debug_call(inst);
  case LLVMVAArg:
  case LLVMFence:
  case LLVMAtomicCmpXchg:
  case LLVMAtomicRMW:
  case LLVMUnreachable:
    return true;
  default:
    return false;
  }
}

// --- blocks and nodes -------------------------------------------------------

static uint32_t block_number(const Fn *f, LLVMBasicBlockRef b) {
  uint64_t n = 0;
  bool known = hashmap_get(&f->block_numbers, &b, sizeof b, &n);
  assert(known);
  (void)known;
  return (uint32_t)n;
}

static void list_blocks(Fn *f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->function); b;
       b = LLVMGetNextBasicBlock(b)) {
    hashmap_put(&f->block_numbers, &b, sizeof b, f->blocks.len);
    array_push(&f->blocks, b);
  }
  f->succs = mem_array(Numbers, f->blocks.len);
  f->preds = mem_array(Numbers, f->blocks.len);
}

// Edges between the blocks that can be reached from the entry.
static void link_blocks(Fn *f) {
  Numbers todo = {0};
  bool *seen = mem_array(bool, f->blocks.len);
  array_push(&todo, 0);
  seen[0] = true;
  while (todo.len) {
    uint32_t b = todo.items[--todo.len];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->blocks.items[b]);
    unsigned n = LLVMGetNumSuccessors(end);
    for (unsigned i = 0; i < n; i++) {
      uint32_t s = block_number(f, LLVMGetSuccessor(end, i));
      array_push(&f->succs[b], s);
      array_push(&f->preds[s], b);
      if (!seen[s]) {
        seen[s] = true;
        array_push(&todo, s);
      }
    }
  }
  array_release(&todo);
  free(seen);
}

// Does block b go on from its only predecessor, without a branch?
static bool continues(const Fn *f, uint32_t b) {
  return b != 0 && f->preds[b].len == 1 &&
         f->succs[f->preds[b].items[0]].len == 1 &&
         f->preds[b].items[0] != b;
}

static void make_nodes(Fn *f) {
  for (size_t b = 0; b < f->blocks.len; b++)
    array_push(&f->node_of, NONE);
  for (uint32_t b = 0; b < f->blocks.len; b++) {
    bool reachable = b == 0 || f->preds[b].len;
    if (!reachable || continues(f, b))
      continue;
    Node n = {.head = f->blocks.items[b], .entity = ENTITY_NONE};
    uint32_t last = b;
    f->node_of.items[b] = (uint32_t)f->nodes.len;
    while (f->succs[last].len == 1 && continues(f, f->succs[last].items[0])) {
      last = f->succs[last].items[0];
      f->node_of.items[last] = (uint32_t)f->nodes.len;
    }
    n.tail = f->blocks.items[last];
    array_push(&f->nodes, n);
  }
}

static void link_nodes(Fn *f) {
  for (uint32_t i = 0; i < f->nodes.len; i++) {
    uint32_t tail = block_number(f, f->nodes.items[i].tail);
    for (size_t k = 0; k < f->succs[tail].len; k++) {
      uint32_t s = f->node_of.items[f->succs[tail].items[k]];
      array_push(&f->nodes.items[i].succs, s);
      array_push(&f->nodes.items[s].preds, i);
    }
  }
}

// Marks nodes that an edge goes back to while walking depth first: every cycle
// has at least one.
static void find_headers(Fn *f) {
  struct Frame {
    uint32_t node;
    size_t next;
  };
  ARRAY(struct Frame) path = {0};
  array_push(&path, (struct Frame){0, 0});
  f->nodes.items[0].reached = f->nodes.items[0].on_path = true;
  while (path.len) {
    struct Frame *top = &array_last(&path);
    Node *n = &f->nodes.items[top->node];
    if (top->next == n->succs.len) {
      n->on_path = false;
      path.len--;
      continue;
    }
    uint32_t to = n->succs.items[top->next++];
    Node *s = &f->nodes.items[to];
    if (s->on_path)
      s->header = true;
    if (!s->reached) {
      s->reached = s->on_path = true;
      array_push(&path, (struct Frame){to, 0});
    }
  }
  array_release(&path);
}

// --- segments ---------------------------------------------------------------

static LLVMValueRef first_after_phis(LLVMBasicBlockRef b) {
  LLVMValueRef i = LLVMGetFirstInstruction(b);
  while (LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i) || LLVMIsALandingPadInst(i))
    i = LLVMGetNextInstruction(i);
  return i;
}

static Segment *open_segment(Fn *f, Node *n, LLVMValueRef start) {
  array_push(&f->segments, (Segment){.start = start, .counter = NONE});
  n->nsegments++;
  return &array_last(&f->segments);
}

static void add_occurrence(Fn *f, uint32_t node, const Place *place) {
  uint32_t segment = (uint32_t)f->segments.len - 1;
  for (size_t i = f->occurrences.len; i-- > 0;) {
    Occurrence *o = &f->occurrences.items[i];
    if (o->segment != segment)
      break;
    if (o->place.source == place->source && o->place.line == place->line) {
      if (place->col_lo && place->col_lo < o->place.col_lo)
        o->place.col_lo = place->col_lo;
      if (place->col_hi > o->place.col_hi)
        o->place.col_hi = place->col_hi;
      return;
    }
  }
  array_push(&f->occurrences, (Occurrence){*place, segment, node});
}

// Cuts one node into segments and notes its statements.
static void scan_node(Fn *f, uint32_t number) {
  Node *n = &f->nodes.items[number];
  n->first_segment = (uint32_t)f->segments.len;
  Segment *open = open_segment(f, n, first_after_phis(n->head));
  bool left = false; // a call that might not return lies behind us,
  Place left_at = {0}; // on this line
  LLVMBasicBlockRef b = n->head;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;) {
    Place place;
    if (statement_of(f->plan, i, &place)) {
      n->statements = true;
      if (left && (place.line != left_at.line ||
                   place.source != left_at.source)) {
        open = open_segment(f, n, i);
        left = false;
      }
      add_occurrence(f, number, &place);
    }
    if (can_end_run(i)) {
      open->can_end = true;
      bool call = LLVMIsACallInst(i) != NULL;
      if (call && call_may_leave(f->leavers, i)) {
        left = true;
        left_at = (Place){0};
        place_of(f->plan, i, &left_at);
      }
    }
    LLVMValueRef next = LLVMGetNextInstruction(i);
    if (!next && b != n->tail) {
      b = LLVMGetSuccessor(i, 0);
      next = LLVMGetFirstInstruction(b);
    }
    i = next;
  }
  // The edge to a join is taken only if the call came back.
  if (left && n->succs.len == 1 &&
      f->nodes.items[n->succs.items[0]].preds.len > 1)
    open_segment(f, n, LLVMGetBasicBlockTerminator(n->tail));
}

// --- which segments need a counter ------------------------------------------

static Segment *first_segment(const Fn *f, const Node *n) {
  return &f->segments.items[n->first_segment];
}

static Segment *last_segment(const Fn *f, const Node *n) {
  return &f->segments.items[n->first_segment + n->nsegments - 1];
}

static bool follows_from_succs(const Fn *f, const Node *n) {
  if (n->succs.len < 2 || last_segment(f, n)->can_end)
    return false;
  for (size_t i = 0; i < n->succs.len; i++)
    if (f->nodes.items[n->succs.items[i]].preds.len != 1)
      return false; // an edge that could not be split (computed goto)
  return true;
}

static bool follows_from_preds(const Fn *f, const Node *n) {
  if (n->preds.len < 2 || n->header)
    return false;
  for (size_t i = 0; i < n->preds.len; i++) {
    const Node *p = &f->nodes.items[n->preds.items[i]];
    if (p->succs.len != 1 || last_segment(f, p)->can_end)
      return false;
  }
  return true;
}

static void place_counters(Fn *f) {
  for (size_t i = 0; i < f->nodes.len; i++) {
    Node *n = &f->nodes.items[i];
    last_segment(f, n)->from_succs = follows_from_succs(f, n);
    if (!first_segment(f, n)->from_succs)
      first_segment(f, n)->from_preds = follows_from_preds(f, n);
  }
  for (size_t i = 0; i < f->segments.len; i++) {
    Segment *s = &f->segments.items[i];
    if (s->from_succs || s->from_preds)
      continue;
    s->counter = f->plan->ncounters++;
    array_push(&f->plan->probes, (Probe){s->start, s->counter});
  }
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void segment_refs(const Fn *f, const Node *n, const Segment *s,
                         Numbers *out) {
  if (s->from_succs) {
    for (size_t i = 0; i < n->succs.len; i++) {
      const Node *t = &f->nodes.items[n->succs.items[i]];
      segment_refs(f, t, first_segment(f, t), out);
    }
  } else if (s->from_preds) {
    for (size_t i = 0; i < n->preds.len; i++) {
      const Node *t = &f->nodes.items[n->preds.items[i]];
      segment_refs(f, t, last_segment(f, t), out);
    }
  } else {
    array_push(out, s->counter);
  }
}

static void entry_refs(const Fn *f, const Node *n, Numbers *out) {
  segment_refs(f, n, first_segment(f, n), out);
}

static void edge_refs(const Fn *f, const Node *from, const Node *to,
                      Numbers *out) {
  if (to->preds.len == 1 || from->succs.len != 1)
    entry_refs(f, to, out); // exact unless the edge could not be split
  else
    segment_refs(f, from, last_segment(f, from), out);
}

// --- entities ---------------------------------------------------------------

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
  const char *name = LLVMGetValueName2(f->function, &n);
  if (*name == '\1')
    name++, n--;
  Numbers refs = {0};
  entry_refs(f, &f->nodes.items[0], &refs);
  f->entity = (uint32_t)f->plan->entities.len;
  add_entity(f->plan,
             (Entity){.kind = ENTITY_FUNCTION,
                      .source = source_of_file(
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

// Where an edge into node `n` really leads: past contracted nodes.
static uint32_t landing(const Fn *f, uint32_t n) {
  while (f->nodes.items[n].forwards)
    n = f->nodes.items[n].succs.items[0];
  return n;
}

static void contract(Fn *f) {
  for (uint32_t i = 1; i < f->nodes.len; i++) {
    Node *n = &f->nodes.items[i];
    n->forwards = !n->statements && n->succs.len == 1 && !n->header &&
                  !last_segment(f, n)->can_end && n->nsegments == 1;
  }
}

static void add_blocks(Fn *f) {
  Numbers refs = {0};
  uint32_t index = 0;
  const Occurrence *o = f->occurrences.items;
  const Occurrence *end = o + f->occurrences.len;
  for (uint32_t i = 0; i < f->nodes.len; i++) {
    Node *n = &f->nodes.items[i];
    while (o < end && o->node < i)
      o++;
    if (n->forwards)
      continue;
    Entity e = entity_at(f, ENTITY_BLOCK,
                         o < end && o->node == i ? &o->place : NULL);
    e.index = index++;
    entry_refs(f, n, &refs);
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
  entry_refs(f, &f->nodes.items[0], &refs);
  add_edge(f, ENTITY_NONE, f->nodes.items[0].entity, index++, NULL, &refs);
  for (uint32_t i = 0; i < f->nodes.len; i++) {
    const Node *n = &f->nodes.items[i];
    if (n->forwards)
      continue;
    Place place;
    bool known = place_of(f->plan, LLVMGetBasicBlockTerminator(n->tail),
                          &place);
    for (size_t k = 0; k < n->succs.len; k++) {
      uint32_t to = landing(f, n->succs.items[k]);
      edge_refs(f, n, &f->nodes.items[n->succs.items[k]], &refs);
      add_edge(f, n->entity, f->nodes.items[to].entity, index++,
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
  qsort(f->occurrences.items, f->occurrences.len, sizeof(Occurrence), by_place);
  for (size_t i = 0; i < f->occurrences.len;) {
    Place place = f->occurrences.items[i].place;
    const Node *first = &f->nodes.items[f->occurrences.items[i].node];
    for (; i < f->occurrences.len; i++) {
      const Occurrence *o = &f->occurrences.items[i];
      if (o->place.source != place.source || o->place.line != place.line)
        break;
      if (o->place.col_lo && o->place.col_lo < place.col_lo)
        place.col_lo = o->place.col_lo;
      if (o->place.col_hi > place.col_hi)
        place.col_hi = o->place.col_hi;
      segment_refs(f, &f->nodes.items[o->node],
                   &f->segments.items[o->segment], &refs);
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
  edge_refs(f, n, &f->nodes.items[n->succs.items[succ]], refs);
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
  const char *kind = condition_kind(text_at(f->plan, &place));
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
  for (size_t i = 0; i < f->nodes.len; i++) {
    const Node *n = &f->nodes.items[i];
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
  for (size_t b = 0; b < f->blocks.len; b++) {
    uint32_t node = f->node_of.items[b];
    if (node == NONE || f->nodes.items[node].forwards)
      continue;
    LLVMBasicBlockRef block = f->blocks.items[b];
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i))
      if (LLVMIsACallInst(i) && !is_debug_call(i))
        add_call(f, &f->nodes.items[node], i);
  }
}

// --- functions --------------------------------------------------------------

static void fn_release(Fn *f) {
  for (size_t i = 0; i < f->blocks.len; i++) {
    array_release(&f->succs[i]);
    array_release(&f->preds[i]);
  }
  free(f->succs);
  free(f->preds);
  for (size_t i = 0; i < f->nodes.len; i++) {
    array_release(&f->nodes.items[i].succs);
    array_release(&f->nodes.items[i].preds);
  }
  array_release(&f->blocks);
  array_release(&f->node_of);
  array_release(&f->nodes);
  array_release(&f->segments);
  array_release(&f->occurrences);
  hashmap_release(&f->block_numbers);
}

static void plan_function(Fn *f, LLVMMetadataRef subprogram) {
  list_blocks(f);
  link_blocks(f);
  make_nodes(f);
  link_nodes(f);
  find_headers(f);
  for (uint32_t i = 0; i < f->nodes.len; i++)
    scan_node(f, i);
  place_counters(f);
  contract(f);
  add_function(f, subprogram);
  add_blocks(f);
  add_edges(f);
  add_conditions(f);
  add_calls(f);
  add_statements(f); // last: it sorts the occurrences
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
    Fn fn = {.plan = p, .leavers = leavers, .returns = returns, .function = f};
    plan_function(&fn, LLVMGetSubprogram(f));
    fn_release(&fn);
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
