// What an instruction computes, as an expression: see ir_expr.h. One function
// per family of opcodes.
#include "ir/ir_expr.h"

// --- operands ---------------------------------------------------------------

Expr ir_bits(ExprPool *p, IrValue v, unsigned width) {
  if (!v.expr)
    return expr_const(p, width, v.value);
  Expr e = v.expr;
  if (expr_sort(p, e).kind == SORT_FP)
    e = expr_bits_of_fp(p, e);
  unsigned have = expr_width(p, e);
  return have < width   ? expr_zext(p, e, width)
         : have > width ? expr_trunc(p, e, width)
                        : e;
}

static Expr as_float(ExprPool *p, IrValue v, unsigned width) {
  if (!v.expr)
    return expr_const_fp(p, width, v.value);
  if (expr_sort(p, v.expr).kind == SORT_FP)
    return v.expr;
  return expr_fp_of_bits(p, ir_bits(p, v, width));
}

// --- operations -------------------------------------------------------------

static Expr compute_integer(ExprPool *p, IrOp op, Expr a, Expr b) {
  switch (op) {
  case IR_ADD:
    return expr_add(p, a, b);
  case IR_SUB:
    return expr_sub(p, a, b);
  case IR_MUL:
    return expr_mul(p, a, b);
  case IR_UDIV:
    return expr_udiv(p, a, b);
  case IR_SDIV:
    return expr_sdiv(p, a, b);
  case IR_UREM:
    return expr_urem(p, a, b);
  case IR_SREM:
    return expr_srem(p, a, b);
  case IR_SHL:
    return expr_shl(p, a, b);
  case IR_LSHR:
    return expr_lshr(p, a, b);
  case IR_ASHR:
    return expr_ashr(p, a, b);
  case IR_AND:
    return expr_and(p, a, b);
  case IR_OR:
    return expr_or(p, a, b);
  case IR_XOR:
    return expr_xor(p, a, b);
  case IR_EQ:
    return expr_eq(p, a, b);
  case IR_NE:
    return expr_ne(p, a, b);
  case IR_ULT:
    return expr_ult(p, a, b);
  case IR_ULE:
    return expr_ule(p, a, b);
  case IR_SLT:
    return expr_slt(p, a, b);
  case IR_SLE:
    return expr_sle(p, a, b);
  case IR_UMIN:
    return expr_ite(p, expr_ult(p, a, b), a, b);
  case IR_UMAX:
    return expr_ite(p, expr_ult(p, a, b), b, a);
  case IR_SMIN:
    return expr_ite(p, expr_slt(p, a, b), a, b);
  case IR_SMAX:
    return expr_ite(p, expr_slt(p, a, b), b, a);
  default:
    return 0;
  }
}

// Twice as wide the result always fits; not for more than 32 bits.
static Expr compute_overflow(ExprPool *p, IrOp op, Expr a, Expr b) {
  unsigned w = expr_width(p, a);
  Expr zero = expr_const(p, w, 0), sum, diff;
  switch (op) {
  case IR_UADD_OVER:
    return expr_ult(p, expr_add(p, a, b), a);
  case IR_USUB_OVER:
    return expr_ult(p, a, b);
  case IR_SADD_OVER: // both signs differ from that of the sum
    sum = expr_add(p, a, b);
    return expr_slt(p, expr_and(p, expr_xor(p, a, sum), expr_xor(p, b, sum)),
                    zero);
  case IR_SSUB_OVER:
    diff = expr_sub(p, a, b);
    return expr_slt(p, expr_and(p, expr_xor(p, a, b), expr_xor(p, a, diff)),
                    zero);
  default:
    break;
  }
  if (w > 32)
    return 0;
  bool is_signed = op == IR_SMUL_OVER;
  Expr (*widen)(ExprPool *, Expr, unsigned) = is_signed ? expr_sext : expr_zext;
  Expr wide = expr_mul(p, widen(p, a, 2 * w), widen(p, b, 2 * w));
  return expr_ne(p, wide, widen(p, expr_trunc(p, wide, w), 2 * w));
}

static Expr swap_bytes(ExprPool *p, Expr a) {
  unsigned n = expr_width(p, a) / 8;
  Expr e = expr_byte(p, a, 0);
  for (unsigned i = 1; i < n; i++)
    e = expr_concat(p, e, expr_byte(p, a, i));
  return e;
}

static Expr compare_float(ExprPool *p, unsigned predicate, Expr a, Expr b) {
  Expr e = expr_bool(p, false);
  if (predicate & FCMP_EQ)
    e = expr_or(p, e, expr_feq(p, a, b));
  if (predicate & FCMP_LT)
    e = expr_or(p, e, expr_flt(p, a, b));
  if (predicate & FCMP_GT)
    e = expr_or(p, e, expr_flt(p, b, a));
  if (predicate & FCMP_UNORDERED)
    e = expr_or(p, e, expr_or(p, expr_fnan(p, a), expr_fnan(p, b)));
  return e;
}

static Expr compute_float(ExprPool *p, const IrInst *i, IrValue a, IrValue b,
                          IrValue c) {
  unsigned w = i->width;
  Expr x = as_float(p, a, w);
  switch (i->op) {
  case IR_FNEG:
    return expr_fneg(p, x);
  case IR_FABS:
    return expr_fabs(p, x);
  case IR_FSQRT:
    return expr_fsqrt(p, x);
  case IR_FROUND:
    return expr_fround(p, x, (ExprRounding)i->from);
  default:
    break;
  }
  Expr y = as_float(p, b, w);
  switch (i->op) {
  case IR_FADD:
    return expr_fadd(p, x, y);
  case IR_FSUB:
    return expr_fsub(p, x, y);
  case IR_FMUL:
    return expr_fmul(p, x, y);
  case IR_FDIV:
    return expr_fdiv(p, x, y);
  case IR_FREM:
    return expr_frem(p, x, y);
  case IR_FCMP:
    return compare_float(p, i->from, x, y);
  default:
    return expr_fadd(p, expr_fmul(p, x, y), as_float(p, c, w));
  }
}

static Expr convert(ExprPool *p, const IrInst *i, IrValue a) {
  switch (i->op) {
  case IR_TRUNC:
    return expr_trunc(p, ir_bits(p, a, i->from), i->width);
  case IR_ZEXT:
    return expr_zext(p, ir_bits(p, a, i->from), i->width);
  case IR_SEXT:
    return expr_sext(p, ir_bits(p, a, i->from), i->width);
  case IR_ABS: {
    Expr e = ir_bits(p, a, i->width);
    Expr zero = expr_const(p, i->width, 0);
    return expr_ite(p, expr_slt(p, e, zero), expr_neg(p, e), e);
  }
  case IR_BSWAP:
    return swap_bytes(p, ir_bits(p, a, i->width));
  case IR_FP_OF_FP:
    return expr_fp_of_fp(p, as_float(p, a, i->from), i->width);
  case IR_FP_OF_SINT:
    return expr_fp_of_sint(p, ir_bits(p, a, i->from), i->width);
  case IR_FP_OF_UINT:
    return expr_fp_of_uint(p, ir_bits(p, a, i->from), i->width);
  case IR_SINT_OF_FP:
    return expr_sint_of_fp(p, as_float(p, a, i->from), i->width);
  case IR_UINT_OF_FP:
    return expr_uint_of_fp(p, as_float(p, a, i->from), i->width);
  case IR_FP_OF_BITS:
    return as_float(p, a, i->width);
  default: // IR_BITS_OF_FP
    return ir_bits(p, a, i->width);
  }
}

static Expr choose(ExprPool *p, const IrInst *i, IrValue a, IrValue b,
                   IrValue c) {
  if (!a.expr)
    return a.value & 1 ? b.expr : c.expr;
  bool fp = i->flags & IR_FP;
  Expr x = fp ? as_float(p, b, i->width) : ir_bits(p, b, i->width);
  Expr y = fp ? as_float(p, c, i->width) : ir_bits(p, c, i->width);
  return expr_ite(p, ir_bits(p, a, 1), x, y);
}

Expr ir_expr(ExprPool *p, const IrInst *i, IrValue a, IrValue b, IrValue c) {
  if (i->op == IR_MOVE)
    return a.expr;
  if (i->op == IR_SELECT)
    return choose(p, i, a, b, c);
  if (i->op >= IR_FADD && i->op <= IR_FCMP)
    return compute_float(p, i, a, b, c);
  if ((i->op >= IR_FP_OF_FP && i->op <= IR_FP_OF_BITS) ||
      (i->op >= IR_TRUNC && i->op <= IR_ABS) || i->op == IR_BSWAP)
    return convert(p, i, a);
  Expr x = ir_bits(p, a, i->width), y = ir_bits(p, b, i->width);
  if (i->op >= IR_UADD_OVER && i->op <= IR_SMUL_OVER)
    return compute_overflow(p, i->op, x, y);
  return compute_integer(p, i->op, x, y);
}
