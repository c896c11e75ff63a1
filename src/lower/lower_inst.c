// Lowers the instructions of a block: see lower.h.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "expr/expr.h" // ExprRounding
#include "lower/lower_internal.h"
#include "plan/place.h"

typedef struct {
  LLVMOpcode from;
  IrOp op;
} Same;

// Operations that have an opcode of their own.
static const Same same[] = {
    {LLVMAdd, IR_ADD},   {LLVMSub, IR_SUB},   {LLVMMul, IR_MUL},
    {LLVMUDiv, IR_UDIV}, {LLVMSDiv, IR_SDIV}, {LLVMURem, IR_UREM},
    {LLVMSRem, IR_SREM}, {LLVMShl, IR_SHL},   {LLVMLShr, IR_LSHR},
    {LLVMAShr, IR_ASHR}, {LLVMAnd, IR_AND},   {LLVMOr, IR_OR},
    {LLVMXor, IR_XOR},   {LLVMFAdd, IR_FADD}, {LLVMFSub, IR_FSUB},
    {LLVMFMul, IR_FMUL}, {LLVMFDiv, IR_FDIV}, {LLVMFRem, IR_FREM},
};

static const Same casts[] = {
    {LLVMTrunc, IR_TRUNC},       {LLVMZExt, IR_ZEXT},
    {LLVMSExt, IR_SEXT},         {LLVMFPExt, IR_FP_OF_FP},
    {LLVMFPTrunc, IR_FP_OF_FP},  {LLVMSIToFP, IR_FP_OF_SINT},
    {LLVMUIToFP, IR_FP_OF_UINT}, {LLVMFPToSI, IR_SINT_OF_FP},
    {LLVMFPToUI, IR_UINT_OF_FP},
};

// Intrinsics with an opcode of their own; `first` and `second` result.
static const struct {
  const char *name;
  IrOp first, second;
} intrinsics[] = {
    {"llvm.expect.", IR_MOVE, 0},
    {"llvm.abs.", IR_ABS, 0},
    {"llvm.umin.", IR_UMIN, 0},
    {"llvm.umax.", IR_UMAX, 0},
    {"llvm.smin.", IR_SMIN, 0},
    {"llvm.smax.", IR_SMAX, 0},
    {"llvm.bswap.", IR_BSWAP, 0},
    {"llvm.fabs.", IR_FABS, 0},
    {"llvm.sqrt.", IR_FSQRT, 0},
    {"llvm.fmuladd.", IR_FMULADD, 0},
    {"llvm.uadd.with.overflow.", IR_ADD, IR_UADD_OVER},
    {"llvm.sadd.with.overflow.", IR_ADD, IR_SADD_OVER},
    {"llvm.usub.with.overflow.", IR_SUB, IR_USUB_OVER},
    {"llvm.ssub.with.overflow.", IR_SUB, IR_SSUB_OVER},
    {"llvm.umul.with.overflow.", IR_MUL, IR_UMUL_OVER},
    {"llvm.smul.with.overflow.", IR_MUL, IR_SMUL_OVER},
};

static const struct {
  const char *name;
  ExprRounding how;
} roundings[] = {
    {"llvm.floor.", ROUND_DOWN},
    {"llvm.ceil.", ROUND_UP},
    {"llvm.trunc.", ROUND_ZERO},
    {"llvm.round.", ROUND_NEAREST_AWAY},
    {"llvm.rint.", ROUND_NEAREST_EVEN},
    {"llvm.nearbyint.", ROUND_NEAREST_EVEN},
    {"llvm.roundeven.", ROUND_NEAREST_EVEN},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

// --- small things -----------------------------------------------------------

static IrInst *emit(Lowerer *l, IrOp op, uint32_t width, uint32_t dst,
                    uint32_t a, uint32_t b) {
  array_push(&l->out.insts, (IrInst){.op = (uint8_t)op,
                                     .width = (uint8_t)width,
                                     .dst = dst,
                                     .a = a,
                                     .b = b,
                                     .place = l->place});
  return &array_last(&l->out.insts);
}

// The only scalar of a value, or the first.
static Scalar scalar_of(const Lowerer *l, LLVMValueRef v) {
  Scalars s = {0};
  trace_code_scalars(l->code, LLVMTypeOf(v), &s);
  Scalar first = s.len ? s.items[0] : (Scalar){0};
  array_release(&s);
  return first;
}

static uint8_t flags_of(const Lowerer *l, LLVMValueRef inst) {
  uint8_t flags = scalar_of(l, inst).fp ? IR_FP : 0;
  if (trace_code_site(l->code, inst) == SITE_VALUE)
    flags |= IR_FROM_TRACE;
  return flags;
}

static uint32_t add(Lowerer *l, uint32_t a, uint64_t n) {
  if (!n)
    return a;
  uint32_t sum = lower_new_reg(l);
  emit(l, IR_ADD, 64, sum, a, lower_number(l, n));
  return sum;
}

static uint32_t edge_to(Lowerer *l, LLVMBasicBlockRef from,
                        LLVMBasicBlockRef to, uint32_t entity) {
  uint64_t target = 0;
  hashmap_get(&l->blocks, &to, sizeof to, &target);
  IrEdge e = {.target = (uint32_t)target,
              .first = (uint32_t)l->out.moves.len,
              .entity = entity};
  Scalars s = {0};
  for (LLVMValueRef i = LLVMGetFirstInstruction(to); i && LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    trace_code_scalars(l->code, LLVMTypeOf(i), &s);
    for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
      if (LLVMGetIncomingBlock(i, k) != from)
        continue;
      LLVMValueRef v = LLVMGetIncomingValue(i, k);
      for (uint32_t j = 0; j < s.len; j++)
        array_push(&l->out.moves,
                   (IrMove){lower_first_reg(l, i) + j, lower_operand(l, v, j)});
      break;
    }
  }
  array_release(&s);
  e.n = (uint32_t)l->out.moves.len - e.first;
  array_push(&l->out.edges, e);
  return (uint32_t)l->out.edges.len - 1;
}

// --- calls ------------------------------------------------------------------

static uint32_t by_value_size(const Lowerer *l, LLVMValueRef call,
                              unsigned arg) {
  unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
  LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, arg + 1, kind);
  return a ? (uint32_t)LLVMABISizeOfType(l->code->layout,
                                         LLVMGetTypeAttributeValue(a))
           : 0;
}

static void add_args(Lowerer *l, LLVMValueRef v, uint32_t by_value) {
  Scalars s = {0};
  trace_code_scalars(l->code, LLVMTypeOf(v), &s);
  for (uint32_t k = 0; k < s.len; k++)
    array_push(&l->out.args, (IrArg){.operand = lower_operand(l, v, k),
                                     .width = (uint8_t)s.items[k].width,
                                     .flags = lower_kind(&s.items[k]),
                                     .by_value = by_value});
  array_release(&s);
}

static IrCall begin_call(Lowerer *l, LLVMValueRef inst) {
  IrCall c = {.symbol = IR_NONE,
              .pointer = IR_NONE,
              .first_arg = (uint32_t)l->out.args.len,
              .first_scalar = (uint32_t)l->out.scalars.len,
              .site = IR_NONE,
              .first_return = ENTITY_NONE,
              .dst = lower_first_reg(l, inst)};
  Scalars s = {0};
  trace_code_scalars(l->code, LLVMTypeOf(inst), &s);
  for (size_t k = 0; k < s.len; k++)
    array_push(&l->out.scalars,
               (IrScalar){(uint8_t)s.items[k].width, lower_kind(&s.items[k])});
  c.nscalars = (uint32_t)s.len;
  array_release(&s);
  return c;
}

static void end_call(Lowerer *l, IrOp op, IrCall c) {
  c.nargs = (uint32_t)l->out.args.len - c.first_arg;
  array_push(&l->out.calls, c);
  emit(l, op, 0, 0, (uint32_t)l->out.calls.len - 1, 0);
}

static void lower_call(Lowerer *l, LLVMValueRef inst) {
  LLVMValueRef callee = LLVMGetCalledValue(inst);
  IrCall c = begin_call(l, inst);
  size_t n;
  if (LLVMIsAFunction(callee) || LLVMIsAGlobalAlias(callee)) {
    const char *name = LLVMGetValueName2(callee, &n);
    c.symbol = lower_symbol(l, name, n);
  } else {
    c.pointer = lower_operand(l, callee, 0);
  }
  for (unsigned i = 0; i < LLVMGetNumArgOperands(inst); i++)
    add_args(l, LLVMGetOperand(inst, i), by_value_size(l, inst, i));
  Mark mark;
  if (lower_get_mark(inst, MARK_CALL, &mark)) {
    c.site = mark.site;
    c.first_return = mark.n ? mark.first : ENTITY_NONE;
    c.nreturns = mark.n;
  }
  end_call(l, IR_CALL, c);
}

// An operation without opcode: its result comes from the trace.
static void lower_recorded(Lowerer *l, LLVMValueRef inst) {
  IrCall c = begin_call(l, inst);
  const char *name = trace_code_intrinsic(inst);
  if (!*name)
    name = LLVMIsACallInst(inst) ? "inline assembly" : "an operation";
  c.symbol = lower_symbol(l, name, strlen(name));
  int n = LLVMGetNumOperands(inst) - (LLVMIsACallInst(inst) ? 1 : 0);
  for (int i = 0; i < n; i++)
    add_args(l, LLVMGetOperand(inst, (unsigned)i), 0);
  end_call(l, IR_RECORDED, c);
}

// --- intrinsics -------------------------------------------------------------

static bool lower_known_intrinsic(Lowerer *l, LLVMValueRef inst,
                                  const char *name) {
  uint32_t width = scalar_of(l, inst).width;
  uint32_t dst = lower_first_reg(l, inst);
  uint32_t a = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  if (!width || !scalar_of(l, LLVMGetOperand(inst, 0)).width)
    return false;
  for (size_t i = 0; i < COUNT(roundings); i++)
    if (text_starts(name, roundings[i].name)) {
      IrInst *out = emit(l, IR_FROUND, width, dst, a, 0);
      out->from = (uint8_t)roundings[i].how;
      out->flags = flags_of(l, inst);
      return true;
    }
  for (size_t i = 0; i < COUNT(intrinsics); i++) {
    if (!text_starts(name, intrinsics[i].name))
      continue;
    unsigned n = LLVMGetNumArgOperands(inst);
    uint32_t b = n > 1 ? lower_operand(l, LLVMGetOperand(inst, 1), 0) : 0;
    IrInst *out = emit(l, intrinsics[i].first, width, dst, a, b);
    out->flags = flags_of(l, inst);
    if (intrinsics[i].first == IR_FMULADD)
      array_last(&l->out.insts).c =
          lower_operand(l, LLVMGetOperand(inst, 2), 0);
    if (intrinsics[i].second)
      emit(l, intrinsics[i].second, width, dst + 1, a, b);
    return true;
  }
  return false;
}

static void lower_memory_intrinsic(Lowerer *l, LLVMValueRef inst, IrOp op) {
  uint32_t to = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  uint32_t from = lower_operand(l, LLVMGetOperand(inst, 1), 0);
  bool va = text_starts(trace_code_intrinsic(inst), "llvm.va_copy");
  uint32_t n =
      va ? lower_number(l, 24) : lower_operand(l, LLVMGetOperand(inst, 2), 0);
  emit(l, op, 8, 0, to, from);
  array_last(&l->out.insts).c = n;
}

static void lower_intrinsic(Lowerer *l, LLVMValueRef inst, const char *name) {
  if (text_starts(name, "llvm.memset"))
    lower_memory_intrinsic(l, inst, IR_MEMSET);
  else if (text_starts(name, "llvm.memcpy") ||
           text_starts(name, "llvm.memmove") ||
           text_starts(name, "llvm.va_copy"))
    lower_memory_intrinsic(l, inst, IR_MEMCPY);
  else if (text_starts(name, "llvm.va_start"))
    emit(l, IR_VA_START, 0, 0, lower_operand(l, LLVMGetOperand(inst, 0), 0), 0);
  else if (!LLVMGetNumArgOperands(inst) ||
           !lower_known_intrinsic(l, inst, name))
    lower_recorded(l, inst);
}

// --- memory -----------------------------------------------------------------

// A load of a loop that may be unrecorded (trace_loops.h).
static bool lower_seen_load(Lowerer *l, LLVMValueRef inst) {
  const TraceLoop *loop = trace_loops_of_load(&l->code->loops, inst);
  if (!loop)
    return false;
  Scalar s = scalar_of(l, inst);
  uint64_t seen = 0;
  hashmap_get(&l->ranges, &loop->before, sizeof loop->before, &seen);
  emit(l, IR_LOAD_SEEN, s.width, lower_first_reg(l, inst),
       lower_operand(l, LLVMGetOperand(inst, 0), 0), (uint32_t)seen)
      ->flags = IR_FROM_TRACE | lower_kind(&s);
  return true;
}

static void lower_range(Lowerer *l, LLVMBasicBlockRef b) {
  uint64_t seen;
  if (hashmap_get(&l->ranges, &b, sizeof b, &seen))
    emit(l, IR_RANGE, 1, (uint32_t)seen, 0, 0)->flags = IR_FROM_TRACE;
}

static void lower_load(Lowerer *l, LLVMValueRef inst) {
  if (lower_seen_load(l, inst))
    return;
  Scalars s = {0};
  trace_code_scalars(l->code, LLVMTypeOf(inst), &s);
  uint32_t base = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  uint32_t dst = lower_first_reg(l, inst);
  for (uint32_t k = 0; k < s.len; k++) {
    if (!s.items[k].width)
      continue;
    uint32_t at = add(l, base, s.items[k].offset);
    IrInst *out = emit(l, IR_LOAD, s.items[k].width, dst + k, at, 0);
    out->flags = IR_FROM_TRACE | lower_kind(&s.items[k]);
  }
  array_release(&s);
}

static void store_at(Lowerer *l, uint32_t at, uint32_t operand,
                     const Scalar *s) {
  if (s->width) {
    emit(l, IR_STORE, s->width, 0, at, operand)->flags = lower_kind(s);
  } else {
    emit(l, IR_FORGET, 0, 0, at, 0);
    array_last(&l->out.insts).c = s->size;
  }
}

static void lower_store(Lowerer *l, LLVMValueRef inst) {
  LLVMValueRef v = LLVMGetOperand(inst, 0);
  Scalars s = {0};
  trace_code_scalars(l->code, LLVMTypeOf(v), &s);
  uint32_t base = lower_operand(l, LLVMGetOperand(inst, 1), 0);
  for (uint32_t k = 0; k < s.len; k++)
    store_at(l, add(l, base, s.items[k].offset), lower_operand(l, v, k),
             &s.items[k]);
  array_release(&s);
}

static void lower_gep(Lowerer *l, LLVMValueRef inst) {
  LLVMTargetDataRef layout = l->code->layout;
  LLVMTypeRef type = LLVMGetGEPSourceElementType(inst);
  uint32_t at = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  uint64_t offset = 0;
  for (int i = 1; i < LLVMGetNumOperands(inst); i++) {
    LLVMValueRef index = LLVMGetOperand(inst, (unsigned)i);
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      unsigned k = (unsigned)LLVMConstIntGetZExtValue(index);
      offset += LLVMOffsetOfElement(layout, type, k);
      type = LLVMStructGetTypeAtIndex(type, k);
      continue;
    }
    if (i > 1)
      type = LLVMGetElementType(type);
    uint64_t size = LLVMABISizeOfType(layout, type);
    if (LLVMIsAConstantInt(index)) {
      offset += (uint64_t)LLVMConstIntGetSExtValue(index) * size;
      continue;
    }
    uint32_t n = lower_operand(l, index, 0);
    uint32_t width = scalar_of(l, index).width;
    if (width < 64) {
      uint32_t wide = lower_new_reg(l);
      emit(l, IR_SEXT, 64, wide, n, 0)->from = (uint8_t)width;
      n = wide;
    }
    if (size != 1) {
      uint32_t scaled = lower_new_reg(l);
      emit(l, IR_MUL, 64, scaled, n, lower_number(l, size));
      n = scaled;
    }
    uint32_t sum = lower_new_reg(l);
    emit(l, IR_ADD, 64, sum, at, n);
    at = sum;
  }
  uint32_t dst = lower_first_reg(l, inst);
  if (offset)
    emit(l, IR_ADD, 64, dst, at, lower_number(l, offset));
  else
    emit(l, IR_MOVE, 64, dst, at, 0);
}

static void lower_alloca(Lowerer *l, LLVMValueRef inst) {
  LLVMTypeRef type = LLVMGetAllocatedType(inst);
  emit(l, IR_ALLOCA, 64, lower_first_reg(l, inst),
       lower_operand(l, LLVMGetOperand(inst, 0), 0), 0)
      ->flags = IR_FROM_TRACE;
  array_last(&l->out.insts).c =
      (uint32_t)LLVMABISizeOfType(l->code->layout, type);
}

static int rmw_op(LLVMAtomicRMWBinOp op) {
  switch (op) {
  case LLVMAtomicRMWBinOpXchg:
    return IR_MOVE;
  case LLVMAtomicRMWBinOpAdd:
    return IR_ADD;
  case LLVMAtomicRMWBinOpSub:
    return IR_SUB;
  case LLVMAtomicRMWBinOpAnd:
    return IR_AND;
  case LLVMAtomicRMWBinOpOr:
    return IR_OR;
  case LLVMAtomicRMWBinOpXor:
    return IR_XOR;
  default:
    return -1;
  }
}

static void lower_atomic_update(Lowerer *l, LLVMValueRef inst) {
  uint32_t at = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  uint32_t v = lower_operand(l, LLVMGetOperand(inst, 1), 0);
  uint32_t old = lower_first_reg(l, inst);
  Scalar s = scalar_of(l, inst);
  int op = rmw_op(LLVMGetAtomicRMWBinOp(inst));
  if (s.width)
    emit(l, IR_LOAD, s.width, old, at, 0)->flags =
        IR_FROM_TRACE | (s.fp ? IR_FP : 0);
  if (op < 0 || !s.width || s.fp) {
    s.width = 0;
    store_at(l, at, 0, &s);
    return;
  }
  uint32_t new = lower_new_reg(l);
  emit(l, (IrOp)op, s.width, new, op == IR_MOVE ? v : old, v);
  store_at(l, at, new, &s);
}

static void lower_compare_exchange(Lowerer *l, LLVMValueRef inst) {
  uint32_t at = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  uint32_t expected = lower_operand(l, LLVMGetOperand(inst, 1), 0);
  uint32_t new = lower_operand(l, LLVMGetOperand(inst, 2), 0);
  uint32_t old = lower_first_reg(l, inst);
  Scalar s = scalar_of(l, LLVMGetOperand(inst, 1));
  if (!s.width) {
    store_at(l, at, 0, &s);
    return;
  }
  emit(l, IR_LOAD, s.width, old, at, 0)->flags = IR_FROM_TRACE;
  emit(l, IR_EQ, s.width, old + 1, old, expected)->flags = IR_FROM_TRACE;
  uint32_t chosen = lower_new_reg(l);
  emit(l, IR_SELECT, s.width, chosen, old + 1, new);
  array_last(&l->out.insts).c = old;
  store_at(l, at, chosen, &s);
}

// --- aggregates and choices -------------------------------------------------

// How many scalars stand before the element that `indices` name.
static uint32_t scalars_before(const Lowerer *l, LLVMTypeRef type,
                               const unsigned *indices, unsigned n) {
  Scalars s = {0};
  uint32_t before = 0;
  for (unsigned i = 0; i < n; i++) {
    bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
    for (unsigned k = 0; k < indices[i]; k++) {
      trace_code_scalars(l->code,
                         is_struct ? LLVMStructGetTypeAtIndex(type, k)
                                   : LLVMGetElementType(type),
                         &s);
      before += (uint32_t)s.len;
    }
    type = is_struct ? LLVMStructGetTypeAtIndex(type, indices[i])
                     : LLVMGetElementType(type);
  }
  array_release(&s);
  return before;
}

static void lower_moves(Lowerer *l, LLVMValueRef inst, LLVMValueRef from,
                        uint32_t first) {
  Scalars s = {0};
  trace_code_scalars(l->code, LLVMTypeOf(inst), &s);
  for (uint32_t k = 0; k < s.len; k++)
    if (s.items[k].width)
      emit(l, IR_MOVE, s.items[k].width, lower_first_reg(l, inst) + k,
           lower_operand(l, from, first + k), 0);
  array_release(&s);
}

static void lower_insert(Lowerer *l, LLVMValueRef inst) {
  LLVMValueRef part = LLVMGetOperand(inst, 1);
  lower_moves(l, inst, LLVMGetOperand(inst, 0), 0);
  uint32_t before = scalars_before(l, LLVMTypeOf(inst), LLVMGetIndices(inst),
                                   LLVMGetNumIndices(inst));
  Scalars s = {0};
  trace_code_scalars(l->code, LLVMTypeOf(part), &s);
  for (uint32_t k = 0; k < s.len; k++)
    if (s.items[k].width)
      emit(l, IR_MOVE, s.items[k].width, lower_first_reg(l, inst) + before + k,
           lower_operand(l, part, k), 0);
  array_release(&s);
}

static void lower_select(Lowerer *l, LLVMValueRef inst) {
  Scalars s = {0};
  trace_code_scalars(l->code, LLVMTypeOf(inst), &s);
  uint32_t cond = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  for (uint32_t k = 0; k < s.len; k++) {
    if (!s.items[k].width)
      continue;
    uint32_t a = lower_operand(l, LLVMGetOperand(inst, 1), k);
    uint32_t b = lower_operand(l, LLVMGetOperand(inst, 2), k);
    emit(l, IR_SELECT, s.items[k].width, lower_first_reg(l, inst) + k, cond, a)
        ->flags = s.items[k].fp ? IR_FP : 0;
    array_last(&l->out.insts).c = b;
  }
  array_release(&s);
}

static void lower_compare(Lowerer *l, LLVMValueRef inst) {
  static const struct {
    LLVMIntPredicate from;
    IrOp op;
    bool turned;
  } table[] = {
      {LLVMIntEQ, IR_EQ, false},   {LLVMIntNE, IR_NE, false},
      {LLVMIntULT, IR_ULT, false}, {LLVMIntULE, IR_ULE, false},
      {LLVMIntUGT, IR_ULT, true},  {LLVMIntUGE, IR_ULE, true},
      {LLVMIntSLT, IR_SLT, false}, {LLVMIntSLE, IR_SLE, false},
      {LLVMIntSGT, IR_SLT, true},  {LLVMIntSGE, IR_SLE, true},
  };
  uint32_t a = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  uint32_t b = lower_operand(l, LLVMGetOperand(inst, 1), 0);
  uint32_t width = scalar_of(l, LLVMGetOperand(inst, 0)).width;
  for (size_t i = 0; i < COUNT(table); i++)
    if (table[i].from == LLVMGetICmpPredicate(inst))
      emit(l, table[i].op, width, lower_first_reg(l, inst),
           table[i].turned ? b : a, table[i].turned ? a : b);
}

static void lower_float_compare(Lowerer *l, LLVMValueRef inst) {
  emit(l, IR_FCMP, scalar_of(l, LLVMGetOperand(inst, 0)).width,
       lower_first_reg(l, inst), lower_operand(l, LLVMGetOperand(inst, 0), 0),
       lower_operand(l, LLVMGetOperand(inst, 1), 0))
      ->from = (uint8_t)LLVMGetFCmpPredicate(inst);
}

// --- terminators ------------------------------------------------------------

// As the plan has it: the entities of a condition come as its successors do.
static void tell_condition(Lowerer *l, const Mark *mark, IrBranch *out) {
  const Entity *e = mark ? &l->plan->entities.items[mark->first] : NULL;
  if (!e || text_starts(e->name, "branch")) {
    out->flags = IR_UNTOLD;
    return;
  }
  if (!e->from)
    out->flags = IR_INVERTED;
  if (e->text)
    out->text = lower_name(l, e->text, strlen(e->text));
}

static void lower_branch(Lowerer *l, LLVMValueRef inst, LLVMBasicBlockRef b) {
  unsigned n = LLVMGetNumSuccessors(inst);
  LLVMOpcode op = LLVMGetInstructionOpcode(inst);
  Mark mark = {.first = ENTITY_NONE};
  bool marked = lower_get_mark(inst, MARK_CONDITION, &mark) && mark.n == n;
  IrBranch out = {.first_edge = (uint32_t)l->out.edges.len,
                  .nedges = n,
                  .first_case = (uint32_t)l->out.cases.len,
                  .text = IR_NONE};
  for (unsigned i = 0; i < n; i++)
    edge_to(l, b, LLVMGetSuccessor(inst, i),
            marked ? mark.first + i : ENTITY_NONE);
  if (op == LLVMSwitch) // operands: value, default, then case, target
    for (unsigned i = 1; i < n; i++)
      array_push(&l->out.cases,
                 lower_operand(l, LLVMGetOperand(inst, 2 * i), 0));
  if (op == LLVMIndirectBr)
    for (unsigned i = 0; i < n; i++)
      array_push(
          &l->out.cases,
          lower_operand(
              l, LLVMBlockAddress(l->function, LLVMGetSuccessor(inst, i)), 0));
  out.ncases = (uint32_t)l->out.cases.len - out.first_case;
  if (op == LLVMBr && n == 2)
    tell_condition(l, marked ? &mark : NULL, &out);
  array_push(&l->out.branches, out);
  bool plain = op == LLVMBr && n == 1;
  IrOp ir = plain                  ? IR_BR
            : op == LLVMSwitch     ? IR_SWITCH
            : op == LLVMIndirectBr ? IR_JUMP
                                   : IR_CONDBR;
  LLVMValueRef value = plain          ? NULL
                       : op == LLVMBr ? LLVMGetCondition(inst)
                                      : LLVMGetOperand(inst, 0);
  emit(l, ir, value ? scalar_of(l, value).width : 0, 0,
       value ? lower_operand(l, value, 0) : 0,
       (uint32_t)l->out.branches.len - 1);
}

static void lower_return(Lowerer *l, LLVMValueRef inst) {
  uint32_t first = (uint32_t)l->out.args.len;
  if (LLVMGetNumOperands(inst))
    add_args(l, LLVMGetOperand(inst, 0), 0);
  emit(l, IR_RET, 0, 0, first, (uint32_t)l->out.args.len - first);
}

// --- instructions -----------------------------------------------------------

static bool lower_simple(Lowerer *l, LLVMValueRef inst, LLVMOpcode op) {
  uint32_t dst = lower_first_reg(l, inst);
  uint32_t width = scalar_of(l, inst).width;
  if (!width || LLVMGetNumOperands(inst) < 1 ||
      !scalar_of(l, LLVMGetOperand(inst, 0)).width)
    return false;
  uint32_t a = lower_operand(l, LLVMGetOperand(inst, 0), 0);
  for (size_t i = 0; i < COUNT(same); i++)
    if (same[i].from == op) {
      uint32_t b = lower_operand(l, LLVMGetOperand(inst, 1), 0);
      emit(l, same[i].op, width, dst, a, b)->flags = flags_of(l, inst);
      return true;
    }
  for (size_t i = 0; i < COUNT(casts); i++)
    if (casts[i].from == op) {
      IrInst *out = emit(l, casts[i].op, width, dst, a, 0);
      out->from = (uint8_t)scalar_of(l, LLVMGetOperand(inst, 0)).width;
      out->flags = flags_of(l, inst);
      return true;
    }
  if (op == LLVMFNeg) {
    emit(l, IR_FNEG, width, dst, a, 0)->flags = flags_of(l, inst);
    return true;
  }
  return false;
}

// Between integers, pointers and floats of the same size, or not.
static void lower_reinterpret(Lowerer *l, LLVMValueRef inst) {
  Scalar to = scalar_of(l, inst), from = scalar_of(l, LLVMGetOperand(inst, 0));
  IrOp op = to.width < from.width   ? IR_TRUNC
            : to.width > from.width ? IR_ZEXT
            : to.fp && !from.fp     ? IR_FP_OF_BITS
            : from.fp && !to.fp     ? IR_BITS_OF_FP
                                    : IR_MOVE;
  IrInst *out = emit(l, op, to.width, lower_first_reg(l, inst),
                     lower_operand(l, LLVMGetOperand(inst, 0), 0), 0);
  out->from = (uint8_t)from.width;
  out->flags = to.fp ? IR_FP : 0;
}

static void lower_inst(Lowerer *l, LLVMValueRef inst, LLVMBasicBlockRef b) {
  LLVMOpcode op = LLVMGetInstructionOpcode(inst);
  const char *intrinsic = trace_code_intrinsic(inst);
  if (trace_code_is_nothing(inst)) {
    lower_variable(l, inst);
    return;
  }
  switch (op) {
  case LLVMPHI:
    return; // moves on edges
  case LLVMAlloca:
    lower_alloca(l, inst);
    return;
  case LLVMLoad:
    lower_load(l, inst);
    return;
  case LLVMStore:
    lower_store(l, inst);
    return;
  case LLVMAtomicRMW:
    lower_atomic_update(l, inst);
    return;
  case LLVMAtomicCmpXchg:
    lower_compare_exchange(l, inst);
    return;
  case LLVMExtractValue:
    lower_moves(l, inst, LLVMGetOperand(inst, 0),
                scalars_before(l, LLVMTypeOf(LLVMGetOperand(inst, 0)),
                               LLVMGetIndices(inst), LLVMGetNumIndices(inst)));
    return;
  case LLVMInsertValue:
    lower_insert(l, inst);
    return;
  case LLVMFreeze:
    lower_moves(l, inst, LLVMGetOperand(inst, 0), 0);
    return;
  case LLVMCall:
    if (*intrinsic)
      lower_intrinsic(l, inst, intrinsic);
    else if (LLVMIsAInlineAsm(LLVMGetCalledValue(inst)))
      lower_recorded(l, inst);
    else
      lower_call(l, inst);
    return;
  case LLVMRet:
    lower_return(l, inst);
    return;
  case LLVMBr:
  case LLVMSwitch:
  case LLVMIndirectBr:
    lower_range(l, b);
    lower_branch(l, inst, b);
    return;
  default:
    break;
  }
  if (LLVMIsATerminatorInst(inst)) {
    emit(l, IR_STOP, 0, 0, 0, 0);
    return;
  }
  TraceSite site = trace_code_site(l->code, inst);
  if (site == SITE_NONE && op == LLVMSelect)
    lower_select(l, inst);
  else if (site == SITE_NONE && op == LLVMICmp)
    lower_compare(l, inst);
  else if (site == SITE_NONE && op == LLVMFCmp)
    lower_float_compare(l, inst);
  else if (site == SITE_NONE && op == LLVMGetElementPtr)
    lower_gep(l, inst);
  else if (site == SITE_NONE &&
           (op == LLVMBitCast || op == LLVMPtrToInt || op == LLVMIntToPtr))
    lower_reinterpret(l, inst);
  else if (!lower_simple(l, inst, op))
    lower_recorded(l, inst);
}

static uint32_t place_number(Lowerer *l, LLVMValueRef inst) {
  Place p;
  if (!place_of(l->plan, inst, &p))
    return l->place;
  IrPlace place = {p.source, p.line};
  uint64_t fresh = l->out.places.len;
  uint64_t at = hashmap_intern(&l->places, &place, sizeof place, fresh);
  if (at == fresh)
    array_push(&l->out.places, place);
  return (uint32_t)at;
}

static void mark_statement(Lowerer *l, LLVMValueRef inst, size_t first) {
  Place ignored;
  if (!place_of_statement(l->plan, inst, &ignored))
    return;
  for (size_t i = first; i < l->out.insts.len; i++)
    l->out.insts.items[i].flags |= IR_STATEMENT;
}

void lower_block(Lowerer *l, LLVMBasicBlockRef b) {
  Mark mark = {.first = ENTITY_NONE};
  lower_get_mark(LLVMGetBasicBlockTerminator(b), MARK_BLOCK, &mark);
  IrBlock out = {.first = (uint32_t)l->out.insts.len, .entity = mark.first};
  l->place = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
       i = LLVMGetNextInstruction(i)) {
    l->place = place_number(l, i);
    size_t first = l->out.insts.len;
    lower_inst(l, i, b);
    mark_statement(l, i, first);
  }
  out.n = (uint32_t)l->out.insts.len - out.first;
  array_push(&l->out.blocks, out);
}
