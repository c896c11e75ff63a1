// Finds counted loops and computes ahead what they will do: see trace_loops.h.
#include "trace/trace_loops.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace_code.h"
#include "util/graph.h"
#include "util/mem.h"

enum { DEEPEST = 16, MOST_LOADS = 16 };

// One function while its loops are looked for.
typedef struct {
  const TraceCode *code;
  size_t n;
  LLVMBasicBlockRef *blocks;
  Hashmap numbers;
  Graph graph, reverse;
  Dominators dominators;
} Finder;

// --- the graph --------------------------------------------------------------

static uint32_t number_of(const Finder *f, LLVMBasicBlockRef b) {
  uint64_t n = GRAPH_NONE;
  hashmap_get(&f->numbers, &b, sizeof b, &n);
  return (uint32_t)n;
}

static void finder_init(Finder *f, const TraceCode *c, LLVMValueRef function) {
  *f = (Finder){.code = c, .n = LLVMCountBasicBlocks(function)};
  f->blocks = mem_array(LLVMBasicBlockRef, f->n);
  LLVMGetBasicBlocks(function, f->blocks);
  for (size_t i = 0; i < f->n; i++)
    hashmap_put(&f->numbers, &f->blocks[i], sizeof f->blocks[i], i);
  graph_init(&f->graph, f->n);
  for (size_t i = 0; i < f->n; i++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->blocks[i]);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
      graph_add(&f->graph, (uint32_t)i, number_of(f, LLVMGetSuccessor(end, k)));
  }
  graph_reverse(&f->graph, &f->reverse);
  dominators_find(&f->dominators, &f->graph, 0);
}

static void finder_release(Finder *f) {
  dominators_release(&f->dominators);
  graph_release(&f->graph);
  graph_release(&f->reverse);
  hashmap_release(&f->numbers);
  free(f->blocks);
}

static bool is_back_edge(const Finder *f, uint32_t from, uint32_t to) {
  return f->dominators.order[from] != GRAPH_NONE &&
         dominates(&f->dominators, to, from);
}

// The block that leads back to `head`; GRAPH_NONE: none, or several do.
static uint32_t find_latch(const Finder *f, uint32_t head) {
  uint32_t latch = GRAPH_NONE;
  const NumberList *preds = &f->reverse.succs[head];
  for (size_t i = 0; i < preds->len; i++) {
    if (!is_back_edge(f, preds->items[i], head))
      continue;
    if (latch != GRAPH_NONE)
      return GRAPH_NONE;
    latch = preds->items[i];
  }
  return latch;
}

static bool in_loop(const TraceLoop *l, LLVMBasicBlockRef b) {
  uint64_t ignored;
  return hashmap_get(&l->blocks, &b, sizeof b, &ignored);
}

static bool is_inside(const TraceLoop *l, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && in_loop(l, LLVMGetInstructionParent(v));
}

static bool add_block(const Finder *f, TraceLoop *l, uint32_t b) {
  LLVMBasicBlockRef block = f->blocks[b];
  if (in_loop(l, block))
    return false;
  hashmap_put(&l->blocks, &block, sizeof block, b);
  return true;
}

// Everything that leads to the latch without passing the head.
static void collect_blocks(const Finder *f, TraceLoop *l, uint32_t head,
                           uint32_t latch) {
  NumberList todo = {0};
  add_block(f, l, head);
  if (add_block(f, l, latch))
    array_push(&todo, latch);
  while (todo.len) {
    uint32_t b = todo.items[--todo.len];
    const NumberList *preds = &f->reverse.succs[b];
    for (size_t i = 0; i < preds->len; i++)
      if (f->dominators.order[preds->items[i]] != GRAPH_NONE &&
          add_block(f, l, preds->items[i]))
        array_push(&todo, preds->items[i]);
  }
  array_release(&todo);
}

// Ways out but the head's, loops within, other ways in.
static bool has_simple_shape(const Finder *f, TraceLoop *l, uint32_t head) {
  for (uint32_t b = 0; b < f->n; b++) {
    if (!in_loop(l, f->blocks[b]))
      continue;
    for (size_t i = 0; i < f->graph.succs[b].len; i++) {
      uint32_t to = f->graph.succs[b].items[i];
      if (b != head && !in_loop(l, f->blocks[to]))
        return false;
      if (to != head && is_back_edge(f, b, to))
        return false;
    }
  }
  const NumberList *preds = &f->reverse.succs[head];
  for (size_t i = 0; i < preds->len; i++) {
    LLVMBasicBlockRef b = f->blocks[preds->items[i]];
    if (in_loop(l, b))
      continue;
    if (l->before || f->graph.succs[preds->items[i]].len != 1)
      return false;
    l->before = b;
  }
  return l->before != NULL;
}

// --- what it does -----------------------------------------------------------

static bool is_float(LLVMTypeRef t) {
  LLVMTypeKind k = LLVMGetTypeKind(t);
  return k == LLVMFloatTypeKind || k == LLVMDoubleTypeKind;
}

static bool is_word(LLVMTypeRef t) {
  LLVMTypeKind k = LLVMGetTypeKind(t);
  if (k == LLVMIntegerTypeKind) {
    unsigned w = LLVMGetIntTypeWidth(t);
    return w == 8 || w == 16 || w == 32 || w == 64;
  }
  return k == LLVMPointerTypeKind;
}

static bool is_ordinary(LLVMValueRef access) {
  return !LLVMGetVolatile(access) &&
         LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic;
}

// May the instruction stand in such a loop?
static bool is_harmless(const Finder *f, TraceLoop *l, LLVMValueRef inst) {
  LLVMOpcode op = LLVMGetInstructionOpcode(inst);
  LLVMTypeRef stored =
      op == LLVMStore ? LLVMTypeOf(LLVMGetOperand(inst, 0)) : NULL;
  if (stored && is_word(stored))
    l->stores_words = true;
  if (stored)
    return (is_word(stored) || is_float(stored)) && is_ordinary(inst);
  if (op == LLVMAlloca || op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg)
    return false;
  return op != LLVMCall || trace_code_is_nothing(inst) ||
         (trace_code_site(f->code, inst) == SITE_NONE &&
          strncmp(trace_code_intrinsic(inst), "llvm.mem", 8) &&
          strncmp(trace_code_intrinsic(inst), "llvm.va", 7));
}

static bool are_harmless(const Finder *f, TraceLoop *l) {
  for (size_t b = 0; b < f->n; b++) {
    if (!in_loop(l, f->blocks[b]))
      continue;
    for (LLVMValueRef i = LLVMGetFirstInstruction(f->blocks[b]); i;
         i = LLVMGetNextInstruction(i))
      if (!is_harmless(f, l, i))
        return false;
  }
  return true;
}

// --- what moves -------------------------------------------------------------

static LLVMValueRef incoming(const TraceLoop *l, LLVMValueRef phi, bool back) {
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
    if (in_loop(l, LLVMGetIncomingBlock(phi, i)) == back)
      return LLVMGetIncomingValue(phi, i);
  return NULL;
}

// *step: what the phi grows by in each round, in bytes if it is a pointer.
static bool is_counter(const TraceLoop *l, LLVMValueRef phi, int64_t *step) {
  if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != l->head ||
      (!is_word(LLVMTypeOf(phi))))
    return false;
  LLVMValueRef next = incoming(l, phi, true);
  if (!next || !LLVMIsAInstruction(next) || LLVMGetNumOperands(next) != 2)
    return false;
  LLVMOpcode op = LLVMGetInstructionOpcode(next);
  LLVMValueRef a = LLVMGetOperand(next, 0), b = LLVMGetOperand(next, 1);
  if (op == LLVMAdd && b == phi)
    b = a, a = phi;
  if (a != phi || !LLVMIsAConstantInt(b) ||
      (op != LLVMAdd && op != LLVMSub && op != LLVMGetElementPtr))
    return false;
  *step = LLVMConstIntGetSExtValue(b);
  if (op == LLVMSub)
    *step = -*step;
  if (op == LLVMGetElementPtr) {
    LLVMTypeRef t = LLVMGetGEPSourceElementType(next);
    LLVMModuleRef m = LLVMGetGlobalParent(
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(next)));
    *step *= (int64_t)LLVMABISizeOfType(LLVMGetModuleDataLayout(m), t);
  }
  return *step && *step > INT32_MIN && *step < INT32_MAX;
}

// Is it executed in every round, before anything is stored?
static bool is_early(const TraceLoop *l, LLVMValueRef inst) {
  LLVMBasicBlockRef b = LLVMGetInstructionParent(inst);
  if (b == l->head)
    return true;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(l->head);
  for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
    if (LLVMGetSuccessor(end, i) == b)
      return true;
  return false;
}

typedef enum { STAYS, MOVES, UNCLEAR } Motion;

static Motion motion(const TraceLoop *l, LLVMValueRef v, unsigned depth);

// Of all operands.
static Motion motion_of_operands(const TraceLoop *l, LLVMValueRef v,
                                 unsigned depth) {
  Motion all = STAYS;
  if (LLVMGetNumOperands(v) > DEEPEST)
    return UNCLEAR;
  for (int i = 0; i < LLVMGetNumOperands(v); i++) {
    Motion one = motion(l, LLVMGetOperand(v, (unsigned)i), depth + 1);
    if (one > all)
      all = one;
  }
  return all;
}

static Motion motion(const TraceLoop *l, LLVMValueRef v, unsigned depth) {
  int64_t step;
  if (!is_inside(l, v))
    return LLVMIsConstant(v) || LLVMIsAInstruction(v) || LLVMIsAArgument(v)
               ? STAYS
               : UNCLEAR;
  if (depth > DEEPEST)
    return UNCLEAR;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMPHI:
    return is_counter(l, v, &step) ? MOVES : UNCLEAR;
  case LLVMAdd:
  case LLVMSub:
  case LLVMSExt:
  case LLVMZExt:
  case LLVMTrunc:
  case LLVMGetElementPtr:
    return motion_of_operands(l, v, depth);
  case LLVMMul:
    if (motion(l, LLVMGetOperand(v, 0), depth + 1) == MOVES &&
        motion(l, LLVMGetOperand(v, 1), depth + 1) == MOVES)
      return UNCLEAR;
    return motion_of_operands(l, v, depth);
  case LLVMShl:
    return motion(l, LLVMGetOperand(v, 1), depth + 1) == STAYS
               ? motion(l, LLVMGetOperand(v, 0), depth + 1)
               : UNCLEAR;
  case LLVMLoad:
    return !l->stores_words && is_ordinary(v) && is_early(l, v) &&
                   motion(l, LLVMGetOperand(v, 0), depth + 1) == STAYS
               ? STAYS
               : UNCLEAR;
  default:
    return UNCLEAR;
  }
}

// --- the comparison ---------------------------------------------------------

// By how much it grows in each round: a counter, to which something is added.
static bool grows(const TraceLoop *l, LLVMValueRef v, unsigned depth,
                  int64_t *step) {
  if (!is_inside(l, v) || depth > DEEPEST)
    return false;
  if (is_counter(l, v, step))
    return true;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMSExt:
  case LLVMZExt:
    return grows(l, LLVMGetOperand(v, 0), depth + 1, step);
  case LLVMAdd:
    if (motion(l, LLVMGetOperand(v, 0), 0) == STAYS)
      return grows(l, LLVMGetOperand(v, 1), depth + 1, step);
    // fallthrough
  case LLVMSub:
    return motion(l, LLVMGetOperand(v, 1), 0) == STAYS &&
           grows(l, LLVMGetOperand(v, 0), depth + 1, step);
  default:
    return false;
  }
}

// Of each predicate, in LLVM's order from LLVMIntEQ on: with the operands
// swapped, and its negation.
static const LLVMIntPredicate swapped[] = {
    LLVMIntEQ,  LLVMIntNE,  LLVMIntULT, LLVMIntULE, LLVMIntUGT,
    LLVMIntUGE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
static const LLVMIntPredicate negated[] = {
    LLVMIntNE,  LLVMIntEQ,  LLVMIntULE, LLVMIntULT, LLVMIntUGE,
    LLVMIntUGT, LLVMIntSLE, LLVMIntSLT, LLVMIntSGE, LLVMIntSGT};

// "what moves PREDICATE what stays": it goes on.
static LLVMIntPredicate predicate(const TraceLoop *l) {
  LLVMIntPredicate p = LLVMGetICmpPredicate(l->compare);
  if (l->turned)
    p = swapped[p - LLVMIntEQ];
  return l->stays_if ? p : negated[p - LLVMIntEQ];
}

static bool is_counted(TraceLoop *l) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(l->head);
  if (LLVMGetInstructionOpcode(end) != LLVMBr || !LLVMIsConditional(end))
    return false;
  l->compare = LLVMGetCondition(end);
  if (!is_inside(l, l->compare) || !LLVMIsAICmpInst(l->compare) ||
      !is_word(LLVMTypeOf(LLVMGetOperand(l->compare, 0))))
    return false;
  bool on[2] = {in_loop(l, LLVMGetSuccessor(end, 0)),
                in_loop(l, LLVMGetSuccessor(end, 1))};
  if (on[0] == on[1])
    return false;
  l->stays_if = on[0];
  LLVMValueRef a = LLVMGetOperand(l->compare, 0),
               b = LLVMGetOperand(l->compare, 1);
  l->turned = motion(l, a, 0) == STAYS;
  if (!grows(l, l->turned ? b : a, 0, &l->step) ||
      motion(l, l->turned ? a : b, 0) != STAYS)
    return false;
  switch (predicate(l)) {
  case LLVMIntULT:
  case LLVMIntULE:
  case LLVMIntSLT:
  case LLVMIntSLE:
    return l->step > 0;
  case LLVMIntUGT:
  case LLVMIntUGE:
  case LLVMIntSGT:
  case LLVMIntSGE:
    return l->step < 0;
  case LLVMIntNE: // must be met exactly
    return l->step == 1 || l->step == -1 ||
           LLVMGetTypeKind(LLVMTypeOf(a)) == LLVMPointerTypeKind;
  default:
    return false;
  }
}

// --- finding ----------------------------------------------------------------

static bool is_of_loop(const TraceLoop *l, LLVMValueRef i) {
  return LLVMGetInstructionOpcode(i) == LLVMLoad && is_ordinary(i) &&
         (is_word(LLVMTypeOf(i)) || is_float(LLVMTypeOf(i))) &&
         motion(l, LLVMGetOperand(i, 0), 0) != UNCLEAR;
}

static bool collect_loads(const Finder *f, TraceLoop *l) {
  for (size_t b = 0; b < f->n; b++) {
    if (!in_loop(l, f->blocks[b]))
      continue;
    for (LLVMValueRef i = LLVMGetFirstInstruction(f->blocks[b]); i;
         i = LLVMGetNextInstruction(i))
      if (is_of_loop(l, i))
        array_push(&l->loads, i);
      else if (trace_code_site(f->code, i) != SITE_NONE)
        l->mixed = true;
  }
  return l->loads.len && l->loads.len <= MOST_LOADS;
}

static void loop_release(TraceLoop *l) {
  hashmap_release(&l->blocks);
  array_release(&l->loads);
}

static bool look_at(const Finder *f, uint32_t head, TraceLoop *l) {
  uint32_t latch = find_latch(f, head);
  *l = (TraceLoop){.head = f->blocks[head]};
  if (latch == GRAPH_NONE)
    return false;
  collect_blocks(f, l, head, latch);
  return has_simple_shape(f, l, head) && are_harmless(f, l) && is_counted(l) &&
         collect_loads(f, l);
}

void trace_loops_find(TraceLoops *all, const TraceCode *c,
                      LLVMValueRef function) {
  Finder f;
  finder_init(&f, c, function);
  for (uint32_t head = 0; head < f.n; head++) {
    TraceLoop l;
    if (!look_at(&f, head, &l)) {
      loop_release(&l);
      continue;
    }
    size_t n = all->items.len;
    array_push(&all->items, l);
    hashmap_put(&all->by_before, &l.before, sizeof l.before, n);
    hashmap_put(&all->by_head, &l.head, sizeof l.head, n);
    for (size_t i = 0; i < l.loads.len; i++)
      hashmap_put(&all->by_load, &l.loads.items[i], sizeof(LLVMValueRef), n);
  }
  finder_release(&f);
}

void trace_loops_release(TraceLoops *l) {
  for (size_t i = 0; i < l->items.len; i++)
    loop_release(&l->items.items[i]);
  array_release(&l->items);
  hashmap_release(&l->by_load);
  hashmap_release(&l->by_before);
  hashmap_release(&l->by_head);
}

static const TraceLoop *find(const TraceLoops *l, const Hashmap *by,
                             const void *key) {
  uint64_t n;
  return hashmap_get(by, &key, sizeof key, &n) ? &l->items.items[n] : NULL;
}

const TraceLoop *trace_loops_of_load(const TraceLoops *l, LLVMValueRef load) {
  return find(l, &l->by_load, load);
}

const TraceLoop *trace_loops_behind(const TraceLoops *l, LLVMBasicBlockRef b) {
  return find(l, &l->by_before, b);
}

const TraceLoop *trace_loops_at(const TraceLoops *l, LLVMBasicBlockRef head) {
  return find(l, &l->by_head, head);
}

// --- code -------------------------------------------------------------------

typedef struct {
  const TraceLoop *loop;
  LLVMBuilderRef builder;
  LLVMValueRef round; // NULL: the first
  Hashmap done;
} Ahead;

static LLVMValueRef number(LLVMValueRef like, int64_t v) {
  LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(like));
  return LLVMConstInt(LLVMInt64TypeInContext(c), (uint64_t)v, true);
}

static LLVMValueRef counter_ahead(const Ahead *a, LLVMValueRef phi,
                                  int64_t step) {
  LLVMValueRef start = incoming(a->loop, phi, false);
  LLVMTypeRef t = LLVMTypeOf(phi);
  if (!a->round)
    return start;
  LLVMValueRef by = LLVMBuildMul(a->builder, a->round, number(phi, step), "");
  if (LLVMGetTypeKind(t) == LLVMPointerTypeKind) {
    LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetTypeContext(t));
    return LLVMBuildGEP2(a->builder, byte, start, &by, 1, "");
  }
  by = LLVMBuildIntCast2(a->builder, by, t, true, "");
  return LLVMBuildAdd(a->builder, start, by, "");
}

static LLVMValueRef ahead(Ahead *a, LLVMValueRef v) {
  int64_t step;
  uint64_t known;
  if (!is_inside(a->loop, v))
    return v;
  if (hashmap_get(&a->done, &v, sizeof v, &known))
    return (LLVMValueRef)(uintptr_t)known;
  LLVMValueRef out;
  if (is_counter(a->loop, v, &step)) {
    out = counter_ahead(a, v, step);
  } else {
    LLVMValueRef operands[DEEPEST];
    int n = LLVMGetNumOperands(v);
    for (int i = 0; i < n && i < DEEPEST; i++)
      operands[i] = ahead(a, LLVMGetOperand(v, (unsigned)i));
    out = LLVMInstructionClone(v);
    for (int i = 0; i < n && i < DEEPEST; i++)
      LLVMSetOperand(out, (unsigned)i, operands[i]);
    LLVMInsertIntoBuilder(a->builder, out);
  }
  hashmap_put(&a->done, &v, sizeof v, (uint64_t)(uintptr_t)out);
  return out;
}

static LLVMValueRef evaluate(const TraceLoop *l, LLVMBuilderRef b,
                             LLVMValueRef v, LLVMValueRef round) {
  Ahead a = {.loop = l, .builder = b, .round = round};
  LLVMValueRef out = ahead(&a, v);
  hashmap_release(&a.done);
  return out;
}

static LLVMValueRef as_number(LLVMBuilderRef b, LLVMValueRef v, bool sign) {
  LLVMTypeRef i64 = LLVMTypeOf(number(v, 0));
  if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
    return LLVMBuildPtrToInt(b, v, i64, "");
  return LLVMBuildIntCast2(b, v, i64, sign, "");
}

LLVMValueRef trace_loop_value(const TraceLoop *l, LLVMBuilderRef b,
                              LLVMValueRef v, LLVMValueRef round) {
  return as_number(b, evaluate(l, b, v, round), false);
}

// How far it is to what stays, divided by the step. A counter that would go
// beyond its type's end on the way counts wrong; then replay finds a load that
// the stream has not had, and says so.
LLVMValueRef trace_loop_count(const TraceLoop *l, LLVMBuilderRef b) {
  LLVMIntPredicate p = predicate(l);
  bool sign = p == LLVMIntSLT || p == LLVMIntSLE || p == LLVMIntSGT ||
              p == LLVMIntSGE || p == LLVMIntNE;
  bool equal =
      p == LLVMIntSLE || p == LLVMIntSGE || p == LLVMIntULE || p == LLVMIntUGE;
  LLVMValueRef from = LLVMGetOperand(l->compare, l->turned ? 1 : 0);
  LLVMValueRef to = LLVMGetOperand(l->compare, l->turned ? 0 : 1);
  from = as_number(b, evaluate(l, b, from, NULL), sign);
  to = as_number(b, evaluate(l, b, to, NULL), sign);
  LLVMValueRef way = l->step > 0 ? LLVMBuildSub(b, to, from, "")
                                 : LLVMBuildSub(b, from, to, "");
  int64_t step = l->step > 0 ? l->step : -l->step;
  int64_t more = step - 1 + equal;
  if (p == LLVMIntNE)
    more = 0;
  if (more)
    way = LLVMBuildAdd(b, way, number(way, more), "");
  return step == 1 ? way : LLVMBuildSDiv(b, way, number(way, step), "");
}
