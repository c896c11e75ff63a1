// Puts a plan into the module: see probe.h.
//
// Counters are stored by volatile stores, which compile to one plain store or
// increment. A weaker store may be kept in a register across a loop and is lost
// with a killed process. LLVM takes a volatile store for one that may not come
// back, so nothing that may trap or leave moves in front of it; yet it knows
// that the store changes nothing but the counter, so values stay in registers
// across it, which they do not across an atomic one. They carry !nosanitize, so
// that sanitizers leave them alone.
#include "plan/probe.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/format.h"
#include "util/array.h"
#include "util/graph.h"
#include "util/hashmap.h"

static const char counters_name[] = "__culprit_counters";

// --- globals ----------------------------------------------------------------

void probe_keep(LLVMModuleRef m, LLVMValueRef value) {
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
  LLVMValueRef list = LLVMConstArray2(pointer, items.items, items.len);
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
  // Private, so without a symbol: in a section that is not loaded its value is
  // no address, yet valgrind takes it for one and gives up.
  LLVMSetLinkage(g, LLVMPrivateLinkage);
  LLVMSetSection(g, section);
  LLVMSetAlignment(g, 8);
  probe_keep(m, g);
}

// Whole pages of their own: the runtime maps a file over them.
static LLVMValueRef add_counters(LLVMModuleRef m, size_t bytes) {
  bytes = (bytes + RUNFILE_PAGE - 1) / RUNFILE_PAGE * RUNFILE_PAGE;
  LLVMTypeRef type =
      LLVMArrayType2(LLVMInt8TypeInContext(LLVMGetModuleContext(m)), bytes);
  LLVMValueRef g = LLVMAddGlobal(m, type, counters_name);
  LLVMSetInitializer(g, LLVMConstNull(type));
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetSection(g, "culprit_cnt");
  LLVMSetAlignment(g, RUNFILE_PAGE);
  probe_keep(m, g);
  return g;
}

// The CulpritUnit of runtime/format.h.
static void add_descriptor(LLVMModuleRef m, LLVMValueRef counters,
                           const Plan *p, CounterSize size) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(c), i32 = LLVMInt32TypeInContext(c);
  LLVMValueRef id = LLVMConstStringInContext2(c, (const char *)p->id.bytes,
                                              sizeof p->id.bytes, true);
  LLVMTypeRef fields[] = {LLVMTypeOf(id), i64, i32, i32};
  LLVMTypeRef type = LLVMStructTypeInContext(c, fields, 4, false);
  LLVMValueRef g = LLVMAddGlobal(m, type, "__culprit_unit");
  LLVMValueRef at[] = {LLVMConstInt(i32, 0, false),
                       LLVMConstInt(i32, 1, false)};
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
  probe_keep(m, g);
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
  LLVMSetVolatile(access, true);
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
  LLVMValueRef one = LLVMConstInt(LLVMInt64TypeInContext(p->context), 1, false);
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
  LLVMValueRef mixed =
      LLVMBuildXor(b, v, LLVMConstInt(i64, 0x9e3779b97f4a7c15ull, false), "");
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

static void insert_value(const Prober *p, const ValueProbe *v) {
  LLVMPositionBuilderBefore(p->builder, v->before);
  count_class(p, v->first, flag(p, v->condition));
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
  for (size_t i = 0; i < plan->values.len; i++)
    insert_value(&p, &plan->values.items[i]);
  LLVMDisposeBuilder(p.builder);
  add_descriptor(m, p.counters, plan, size);
}

// --- moving probes out of loops ---------------------------------------------

static bool is_hit_probe(LLVMValueRef inst, LLVMValueRef counters) {
  if (!LLVMIsAStoreInst(inst) || !LLVMIsAConstantInt(LLVMGetOperand(inst, 0)) ||
      !LLVMGetVolatile(inst))
    return false;
  LLVMValueRef to = LLVMGetOperand(inst, 1);
  return to == counters ||
         (LLVMIsAConstantExpr(to) && LLVMGetOperand(to, 0) == counters);
}

typedef struct {
  Hashmap numbers;
  ARRAY(LLVMBasicBlockRef) blocks;
  Graph graph;
  Dominators dominators;
} Loops;

static uint32_t number_of(const Loops *l, LLVMBasicBlockRef b) {
  uint64_t n = GRAPH_NONE;
  hashmap_get(&l->numbers, &b, sizeof b, &n);
  return (uint32_t)n;
}

static void find_loops(Loops *l, LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    hashmap_put(&l->numbers, &b, sizeof b, l->blocks.len);
    array_push(&l->blocks, b);
  }
  graph_init(&l->graph, l->blocks.len);
  for (uint32_t i = 0; i < l->blocks.len; i++) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(l->blocks.items[i]);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
      graph_add(&l->graph, i, number_of(l, LLVMGetSuccessor(end, k)));
  }
  dominators_find(&l->dominators, &l->graph, 0);
}

static void loops_release(Loops *l) {
  graph_release(&l->graph);
  dominators_release(&l->dominators);
  array_release(&l->blocks);
  hashmap_release(&l->numbers);
}

typedef struct {
  LLVMBasicBlockRef outside; // the only block that enters the loop
  bool loop, unique;
} LoopHeader;

// Who enters each block: for a loop header, from inside and from outside.
static LoopHeader *find_headers(const Loops *l) {
  const NumberList *reached = &l->dominators.by_order;
  LoopHeader *headers = mem_array(LoopHeader, l->blocks.len);
  for (size_t i = 0; i < l->blocks.len; i++)
    headers[i].unique = true;
  for (size_t i = 0; i < reached->len; i++) {
    uint32_t b = reached->items[i];
    const NumberList *succs = &l->graph.succs[b];
    for (size_t k = 0; k < succs->len; k++) {
      LoopHeader *h = &headers[succs->items[k]];
      if (dominates(&l->dominators, succs->items[k], b)) {
        h->loop = true;
      } else {
        h->unique = h->unique && !h->outside && succs->len == 1;
        h->outside = l->blocks.items[b];
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
  Loops l = {0};
  find_loops(&l, function);
  LoopHeader *headers = find_headers(&l);
  const NumberList *reached = &l.dominators.by_order;
  // Inner loops first: a probe can move out of several.
  for (size_t i = reached->len; i-- > 0;) {
    const LoopHeader *h = &headers[reached->items[i]];
    if (h->loop && h->unique && h->outside)
      hoist_block(l.blocks.items[reached->items[i]], h->outside, counters,
                  builder);
  }
  free(headers);
  loops_release(&l);
}

void probe_hoist(LLVMModuleRef m) {
  LLVMValueRef counters = LLVMGetNamedGlobal(m, counters_name);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      hoist_function(f, counters, builder);
  LLVMDisposeBuilder(builder);
}
