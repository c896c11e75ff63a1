// Puts a plan into the module: see probe.h.
//
// Counters are stored with monotonic ordering: anything weaker may be kept in a
// register across a loop and is lost with a killed process; this compiles to a
// plain store or increment all the same. They carry !nosanitize, so that
// sanitizers leave them alone.
#include "cfront/probe.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/format.h"
#include "util/array.h"
#include "util/hashmap.h"

static const char counters_name[] = "__culprit_counters";

// --- globals ----------------------------------------------------------------

// Adds `value` to llvm.used: kept by the compiler and the linker.
static void keep(LLVMModuleRef m, LLVMValueRef value) {
  ARRAY(LLVMValueRef) items = {0};
  LLVMValueRef old = LLVMGetNamedGlobal(m, "llvm.used");
  if (old) {
    LLVMValueRef list = LLVMGetInitializer(old);
    for (int i = 0; i < LLVMGetNumOperands(list); i++)
      array_push(&items, LLVMGetOperand(list, (unsigned)i));
    LLVMDeleteGlobal(old);
  }
  array_push(&items, value);
  LLVMTypeRef pointer = LLVMPointerTypeInContext(LLVMGetModuleContext(m), 0);
  LLVMValueRef list =
      LLVMConstArray2(pointer, items.items, items.len);
  LLVMValueRef used = LLVMAddGlobal(m, LLVMTypeOf(list), "llvm.used");
  LLVMSetInitializer(used, list);
  LLVMSetLinkage(used, LLVMAppendingLinkage);
  LLVMSetSection(used, "llvm.metadata");
  array_release(&items);
}

void probe_add_section(LLVMModuleRef m, const char *name, const char *section,
                       const void *data, size_t size) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMValueRef text = LLVMConstStringInContext2(c, data, size, true);
  LLVMValueRef g = LLVMAddGlobal(m, LLVMTypeOf(text), name);
  LLVMSetInitializer(g, text);
  LLVMSetGlobalConstant(g, true);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetSection(g, section);
  LLVMSetAlignment(g, 8);
  keep(m, g);
}

// Whole pages of their own: the runtime maps a file over them.
static LLVMValueRef add_counters(LLVMModuleRef m, size_t bytes) {
  bytes = (bytes + RUNFILE_PAGE - 1) / RUNFILE_PAGE * RUNFILE_PAGE;
  LLVMTypeRef type = LLVMArrayType2(
      LLVMInt8TypeInContext(LLVMGetModuleContext(m)), bytes);
  LLVMValueRef g = LLVMAddGlobal(m, type, counters_name);
  LLVMSetInitializer(g, LLVMConstNull(type));
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetSection(g, "culprit_cnt");
  LLVMSetAlignment(g, RUNFILE_PAGE);
  keep(m, g);
  return g;
}

// The CulpritUnit of runtime/format.h.
static void add_descriptor(LLVMModuleRef m, LLVMValueRef counters,
                           const Plan *p, CounterSize size) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(c), i32 = LLVMInt32TypeInContext(c);
  LLVMValueRef id = LLVMConstStringInContext2(
      c, (const char *)p->id.bytes, sizeof p->id.bytes, true);
  LLVMTypeRef fields[] = {LLVMTypeOf(id), i64, i32, i32};
  LLVMTypeRef type = LLVMStructTypeInContext(c, fields, 4, false);
  LLVMValueRef g = LLVMAddGlobal(m, type, "__culprit_unit");
  LLVMValueRef at[] = {LLVMConstInt(i32, 0, false), LLVMConstInt(i32, 1, false)};
  LLVMValueRef here = LLVMConstInBoundsGEP2(type, g, at, 2);
  LLVMValueRef values[] = {id,
                           LLVMConstSub(LLVMConstPtrToInt(counters, i64),
                                        LLVMConstPtrToInt(here, i64)),
                           LLVMConstInt(i32, p->ncounters, false),
                           LLVMConstInt(i32, size, false)};
  LLVMSetInitializer(g, LLVMConstStructInContext(c, values, 4, false));
  LLVMSetGlobalConstant(g, true);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetSection(g, "culprit_units");
  LLVMSetAlignment(g, 8);
  keep(m, g);
}

// --- probes -----------------------------------------------------------------

typedef struct {
  LLVMBuilderRef builder;
  LLVMContextRef context;
  LLVMValueRef counters;
  CounterSize size;
  unsigned nosanitize;
  LLVMValueRef empty;
} Prober;

static LLVMTypeRef counter_type(const Prober *p) {
  return LLVMIntTypeInContext(p->context, p->size * 8);
}

static void mark(const Prober *p, LLVMValueRef access) {
  LLVMSetOrdering(access, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(access, p->size);
  LLVMSetMetadata(access, p->nosanitize, p->empty);
}

static void count_at(const Prober *p, LLVMValueRef address) {
  LLVMTypeRef type = counter_type(p);
  LLVMValueRef one = LLVMConstInt(type, 1, false), value = one;
  if (p->size == COUNTERS_COUNTS) {
    LLVMValueRef old = LLVMBuildLoad2(p->builder, type, address, "");
    mark(p, old);
    value = LLVMBuildAdd(p->builder, old, one, "");
  }
  mark(p, LLVMBuildStore(p->builder, value, address));
}

static LLVMValueRef counter_address(const Prober *p, uint32_t counter) {
  LLVMValueRef at =
      LLVMConstInt(LLVMInt64TypeInContext(p->context), counter, false);
  return LLVMConstInBoundsGEP2(counter_type(p), p->counters, &at, 1);
}

static LLVMValueRef flag(const Prober *p, LLVMValueRef bit) {
  return LLVMBuildZExt(p->builder, bit, LLVMInt64TypeInContext(p->context), "");
}

// 0 for a negative result, 1 for zero, null or false, 2 for any other, 3 for
// a NaN: all branchless.
static LLVMValueRef class_of(const Prober *p, LLVMValueRef v, ResultType t) {
  LLVMBuilderRef b = p->builder;
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(v));
  LLVMValueRef one =
      LLVMConstInt(LLVMInt64TypeInContext(p->context), 1, false);
  if (t == RESULT_POINTER || t == RESULT_BOOL) {
    LLVMValueRef other = LLVMBuildICmp(b, LLVMIntNE, v, zero, "");
    return LLVMBuildAdd(b, one, flag(p, other), "");
  }
  LLVMValueRef above, below, nan = NULL;
  if (t == RESULT_FLOAT) {
    above = LLVMBuildFCmp(b, LLVMRealUGT, v, zero, ""); // NaN too
    below = LLVMBuildFCmp(b, LLVMRealOLT, v, zero, "");
    nan = LLVMBuildFCmp(b, LLVMRealUNO, v, v, "");
  } else {
    above = LLVMBuildICmp(b, LLVMIntSGT, v, zero, "");
    below = LLVMBuildICmp(b, LLVMIntSLT, v, zero, "");
  }
  LLVMValueRef sum = LLVMBuildAdd(b, one, flag(p, above), "");
  sum = LLVMBuildSub(b, sum, flag(p, below), "");
  return nan ? LLVMBuildAdd(b, sum, flag(p, nan), "") : sum;
}

static void count_class(const Prober *p, uint32_t first, LLVMValueRef class) {
  count_at(p, LLVMBuildInBoundsGEP2(p->builder, counter_type(p),
                                    counter_address(p, first), &class, 1, ""));
}

// Remembers the value and notes that it is not the one of the call before.
// A slot holds the value mixed with a constant that no program returns, so that
// 0 means: not called yet.
static void count_change(const Prober *p, const ResultProbe *r,
                         LLVMValueRef slot) {
  LLVMBuilderRef b = p->builder;
  LLVMTypeRef i64 = LLVMInt64TypeInContext(p->context);
  LLVMValueRef v = r->type == RESULT_POINTER
                       ? LLVMBuildPtrToInt(b, r->call, i64, "")
                       : LLVMBuildIntCast2(b, r->call, i64, true, "");
  LLVMValueRef mixed = LLVMBuildXor(
      b, v, LLVMConstInt(i64, 0x9e3779b97f4a7c15ull, false), "");
  LLVMValueRef old = LLVMBuildLoad2(b, i64, slot, "");
  LLVMSetMetadata(old, p->nosanitize, p->empty);
  LLVMSetMetadata(LLVMBuildStore(b, mixed, slot), p->nosanitize, p->empty);
  LLVMValueRef called =
      LLVMBuildICmp(b, LLVMIntNE, old, LLVMConstNull(i64), "");
  LLVMValueRef differs = LLVMBuildICmp(b, LLVMIntNE, old, mixed, "");
  LLVMValueRef changed = LLVMBuildAnd(b, called, differs, "");
  LLVMTypeRef type = counter_type(p);
  LLVMValueRef address = counter_address(p, r->first + RESULT_CHANGED);
  LLVMValueRef was = LLVMBuildLoad2(b, type, address, "");
  mark(p, was);
  LLVMValueRef is =
      LLVMBuildOr(b, was, LLVMBuildZExt(b, changed, type, ""), "");
  mark(p, LLVMBuildStore(b, is, address));
}

static bool keeps_value(ResultType t) {
  return t == RESULT_INT || t == RESULT_POINTER;
}

static void insert_result(const Prober *p, const ResultProbe *r,
                          LLVMValueRef slot) {
  if (LLVMGetTailCallKind(r->call) == LLVMTailCallKindMustTail)
    return;
  LLVMPositionBuilderBefore(p->builder, LLVMGetNextInstruction(r->call));
  count_class(p, r->first, class_of(p, r->call, r->type));
  if (keeps_value(r->type))
    count_change(p, r, slot);
}

// The values the call sites returned last, one slot each.
static void insert_results(LLVMModuleRef m, const Prober *p, const Plan *plan) {
  if (!plan->results.len)
    return;
  LLVMTypeRef i64 = LLVMInt64TypeInContext(p->context);
  LLVMTypeRef type = LLVMArrayType2(i64, plan->results.len);
  LLVMValueRef slots = LLVMAddGlobal(m, type, "__culprit_values");
  LLVMSetInitializer(slots, LLVMConstNull(type));
  LLVMSetLinkage(slots, LLVMInternalLinkage);
  for (size_t i = 0; i < plan->results.len; i++) {
    LLVMValueRef at = LLVMConstInt(i64, i, false);
    insert_result(p, &plan->results.items[i],
                  LLVMConstInBoundsGEP2(i64, slots, &at, 1));
  }
}

static void insert_select(const Prober *p, const SelectProbe *s) {
  LLVMPositionBuilderBefore(p->builder, s->select);
  count_class(p, s->first, flag(p, LLVMGetOperand(s->select, 0)));
}

void probe_insert(LLVMModuleRef m, const Plan *plan, CounterSize size) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  Prober p = {.builder = LLVMCreateBuilderInContext(c),
              .context = c,
              .counters = add_counters(m, (size_t)plan->ncounters * size),
              .size = size,
              .nosanitize = LLVMGetMDKindIDInContext(c, "nosanitize", 10)};
  p.empty = LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0));
  for (size_t i = 0; i < plan->probes.len; i++) {
    LLVMPositionBuilderBefore(p.builder, plan->probes.items[i].before);
    count_at(&p, counter_address(&p, plan->probes.items[i].counter));
  }
  insert_results(m, &p, plan);
  for (size_t i = 0; i < plan->selects.len; i++)
    insert_select(&p, &plan->selects.items[i]);
  LLVMDisposeBuilder(p.builder);
  add_descriptor(m, p.counters, plan, size);
}

// --- moving probes out of loops ---------------------------------------------

static bool is_hit_probe(LLVMValueRef inst, LLVMValueRef counters) {
  if (!LLVMIsAStoreInst(inst) || !LLVMIsAConstantInt(LLVMGetOperand(inst, 0)) ||
      LLVMGetOrdering(inst) != LLVMAtomicOrderingMonotonic)
    return false;
  LLVMValueRef to = LLVMGetOperand(inst, 1);
  return to == counters ||
         (LLVMIsAConstantExpr(to) && LLVMGetOperand(to, 0) == counters);
}

typedef struct {
  LLVMValueRef function;
  Hashmap numbers;
  ARRAY(LLVMBasicBlockRef) blocks; // in reverse postorder after sorting
  uint32_t *order;                 // block -> position in reverse postorder
  uint32_t *dominator;             // position -> position
  ARRAY(uint32_t) by_order;
} Loops;

static uint32_t number_of(const Loops *l, LLVMBasicBlockRef b) {
  uint64_t n = UINT32_MAX;
  hashmap_get(&l->numbers, &b, sizeof b, &n);
  return (uint32_t)n;
}

static void postorder(Loops *l) {
  struct Frame {
    uint32_t block;
    unsigned next;
  };
  ARRAY(struct Frame) path = {0};
  bool *seen = mem_array(bool, l->blocks.len);
  array_push(&path, (struct Frame){0, 0});
  seen[0] = true;
  while (path.len) {
    struct Frame *top = &array_last(&path);
    LLVMValueRef end =
        LLVMGetBasicBlockTerminator(l->blocks.items[top->block]);
    if (top->next == LLVMGetNumSuccessors(end)) {
      array_push(&l->by_order, top->block);
      path.len--;
      continue;
    }
    uint32_t s = number_of(l, LLVMGetSuccessor(end, top->next++));
    if (!seen[s]) {
      seen[s] = true;
      array_push(&path, (struct Frame){s, 0});
    }
  }
  for (size_t i = 0, j = l->by_order.len; i + 1 < j; i++) {
    uint32_t t = l->by_order.items[i];
    l->by_order.items[i] = l->by_order.items[--j];
    l->by_order.items[j] = t;
  }
  array_release(&path);
  free(seen);
}

static uint32_t meet(const uint32_t *dominator, uint32_t a, uint32_t b) {
  while (a != b) {
    while (a > b)
      a = dominator[a];
    while (b > a)
      b = dominator[b];
  }
  return a;
}

// Immediate dominators over reverse postorder positions (Cooper, Harvey,
// Kennedy: iterate to a fixpoint).
static void find_dominators(Loops *l) {
  size_t n = l->by_order.len;
  for (uint32_t i = 0; i < n; i++)
    l->order[l->by_order.items[i]] = i;
  for (size_t i = 0; i < n; i++)
    l->dominator[i] = UINT32_MAX;
  l->dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < n; i++) {
      LLVMBasicBlockRef b = l->blocks.items[l->by_order.items[i]];
      LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
      for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
        uint32_t s = l->order[number_of(l, LLVMGetSuccessor(end, k))];
        if (l->dominator[i] == UINT32_MAX || s == 0)
          continue;
        uint32_t d = l->dominator[s] == UINT32_MAX
                         ? i
                         : meet(l->dominator, l->dominator[s], i);
        changed |= d != l->dominator[s];
        l->dominator[s] = d;
      }
    }
  }
}

static bool dominates(const Loops *l, uint32_t a, uint32_t b) {
  while (b > a)
    b = l->dominator[b];
  return a == b;
}

typedef struct {
  LLVMBasicBlockRef outside; // the only block that enters the loop
  bool loop, unique;
} Header;

// Who enters each block: for a loop header, from inside and from outside.
static Header *find_headers(const Loops *l) {
  Header *headers = mem_array(Header, l->blocks.len);
  for (size_t i = 0; i < l->blocks.len; i++)
    headers[i].unique = true;
  for (uint32_t i = 0; i < l->by_order.len; i++) {
    LLVMBasicBlockRef b = l->blocks.items[l->by_order.items[i]];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    unsigned n = LLVMGetNumSuccessors(end);
    for (unsigned k = 0; k < n; k++) {
      uint32_t s = number_of(l, LLVMGetSuccessor(end, k));
      Header *h = &headers[s];
      if (dominates(l, l->order[s], i)) {
        h->loop = true;
      } else {
        h->unique = h->unique && !h->outside && n == 1;
        h->outside = b;
      }
    }
  }
  return headers;
}

static void hoist_block(LLVMBasicBlockRef block, LLVMBasicBlockRef to,
                        LLVMValueRef counters, LLVMBuilderRef builder) {
  LLVMValueRef next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (LLVMIsAPHINode(i) || LLVMIsADbgInfoIntrinsic(i))
      continue;
    if (!is_hit_probe(i, counters))
      return; // what follows may depend on this instruction coming to its end
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(to));
    LLVMInsertIntoBuilder(builder, i);
  }
}

static void hoist_function(LLVMValueRef function, LLVMValueRef counters,
                           LLVMBuilderRef builder) {
  Loops l = {.function = function};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    hashmap_put(&l.numbers, &b, sizeof b, l.blocks.len);
    array_push(&l.blocks, b);
  }
  l.order = mem_array(uint32_t, l.blocks.len);
  l.dominator = mem_array(uint32_t, l.blocks.len);
  postorder(&l);
  find_dominators(&l);
  Header *headers = find_headers(&l);
  // Innermost last in reverse postorder: a probe can move out of several loops.
  for (size_t i = l.by_order.len; i-- > 0;) {
    uint32_t b = l.by_order.items[i];
    if (headers[b].loop && headers[b].unique && headers[b].outside)
      hoist_block(l.blocks.items[b], headers[b].outside, counters, builder);
  }
  free(headers);
  free(l.order);
  free(l.dominator);
  array_release(&l.blocks);
  array_release(&l.by_order);
  hashmap_release(&l.numbers);
}

void probe_hoist(LLVMModuleRef m) {
  LLVMValueRef counters = LLVMGetNamedGlobal(m, counters_name);
  LLVMBuilderRef builder =
      LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      hoist_function(f, counters, builder);
  LLVMDisposeBuilder(builder);
}
