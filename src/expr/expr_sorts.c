// Builders for FP, INT and STR. Their rules are few: the answers of floating
// point depend on every rounding, and strings come to Z3 as they are.
#include "expr/expr_make.h"

static Expr unary(ExprPool *p, ExprOp op, ExprKind kind, ExprSort to, Expr a,
                  uint32_t immediate) {
  assert(expr_sort(p, a).kind == kind);
  (void)kind;
  return expr_make(p, op, to, a, immediate, 0);
}

// --- FP ---------------------------------------------------------------------

static Expr fp_unary(ExprPool *p, ExprOp op, Expr a, uint32_t immediate) {
  return unary(p, op, SORT_FP, expr_sort(p, a), a, immediate);
}

static ExprSort check_fp(const ExprPool *p, Expr a, Expr b) {
  ExprSort s = expr_sort(p, a);
  assert(s.kind == SORT_FP && same_sort(s, expr_sort(p, b)));
  (void)b;
  return s;
}

static Expr fp_binary(ExprPool *p, ExprOp op, Expr a, Expr b) {
  return expr_make(p, op, check_fp(p, a, b), a, b, 0);
}

static Expr fp_compare(ExprPool *p, ExprOp op, Expr a, Expr b) {
  check_fp(p, a, b);
  return expr_make(p, op, expr_bv(1), a, b, 0);
}

Expr expr_fneg(ExprPool *p, Expr a) {
  if (simplifies(p) && is_op(p, a, EXPR_FNEG))
    return expr_arg(p, a, 0);
  return fp_unary(p, EXPR_FNEG, a, 0);
}

Expr expr_fabs(ExprPool *p, Expr a) {
  if (simplifies(p) && is_op(p, a, EXPR_FABS))
    return a;
  return fp_unary(p, EXPR_FABS, a, 0);
}

Expr expr_fsqrt(ExprPool *p, Expr a) { return fp_unary(p, EXPR_FSQRT, a, 0); }

Expr expr_fround(ExprPool *p, Expr a, ExprRounding how) {
  return fp_unary(p, EXPR_FROUND, a, how);
}

Expr expr_fadd(ExprPool *p, Expr a, Expr b) {
  order(p, &a, &b);
  return fp_binary(p, EXPR_FADD, a, b);
}

Expr expr_fsub(ExprPool *p, Expr a, Expr b) {
  return fp_binary(p, EXPR_FSUB, a, b);
}

Expr expr_fmul(ExprPool *p, Expr a, Expr b) {
  order(p, &a, &b);
  return fp_binary(p, EXPR_FMUL, a, b);
}

Expr expr_fdiv(ExprPool *p, Expr a, Expr b) {
  return fp_binary(p, EXPR_FDIV, a, b);
}

Expr expr_frem(ExprPool *p, Expr a, Expr b) {
  return fp_binary(p, EXPR_FREM, a, b);
}

Expr expr_feq(ExprPool *p, Expr a, Expr b) {
  order(p, &a, &b);
  return fp_compare(p, EXPR_FEQ, a, b);
}

Expr expr_flt(ExprPool *p, Expr a, Expr b) {
  if (simplifies(p) && a == b)
    return expr_bool(p, false);
  return fp_compare(p, EXPR_FLT, a, b);
}

static bool from_integer(const ExprPool *p, Expr a) {
  return is_op(p, a, EXPR_FP_OF_SINT) || is_op(p, a, EXPR_FP_OF_UINT);
}

Expr expr_fnan(ExprPool *p, Expr a) {
  if (simplifies(p) && from_integer(p, a))
    return expr_bool(p, false);
  return unary(p, EXPR_FNAN, SORT_FP, expr_bv(1), a, 0);
}

// --- conversions ------------------------------------------------------------

Expr expr_fp_of_fp(ExprPool *p, Expr a, unsigned width) {
  if (width == expr_width(p, a))
    return a;
  // float -> double -> float is nothing, except for the payload of a NaN
  if (simplifies(p) && width == 32 && is_op(p, a, EXPR_FP_OF_FP))
    return expr_arg(p, a, 0);
  return unary(p, EXPR_FP_OF_FP, SORT_FP, expr_fp(width), a, 0);
}

Expr expr_fp_of_sint(ExprPool *p, Expr a, unsigned width) {
  assert(is_bv(p, a) || is_int(p, a));
  return expr_make(p, EXPR_FP_OF_SINT, expr_fp(width), a, 0, 0);
}

Expr expr_fp_of_uint(ExprPool *p, Expr a, unsigned width) {
  return unary(p, EXPR_FP_OF_UINT, SORT_BV, expr_fp(width), a, 0);
}

// Every integer of this width is a number of that FP width.
static bool is_exact(unsigned integer, unsigned fp) {
  return integer <= (fp == 32 ? 24u : 53u);
}

Expr expr_sint_of_fp(ExprPool *p, Expr a, unsigned width) {
  if (simplifies(p) && is_op(p, a, EXPR_FP_OF_SINT)) {
    Expr x = expr_arg(p, a, 0);
    unsigned w = expr_width(p, x);
    if (is_bv(p, x) && w <= width && is_exact(w, expr_width(p, a)))
      return expr_sext(p, x, width);
  }
  return unary(p, EXPR_SINT_OF_FP, SORT_FP, expr_bv(width), a, 0);
}

Expr expr_uint_of_fp(ExprPool *p, Expr a, unsigned width) {
  if (simplifies(p) && is_op(p, a, EXPR_FP_OF_UINT)) {
    Expr x = expr_arg(p, a, 0);
    unsigned w = expr_width(p, x);
    if (w <= width && is_exact(w, expr_width(p, a)))
      return expr_zext(p, x, width);
  }
  return unary(p, EXPR_UINT_OF_FP, SORT_FP, expr_bv(width), a, 0);
}

Expr expr_fp_of_bits(ExprPool *p, Expr a) {
  assert(expr_width(p, a) == 32 || expr_width(p, a) == 64);
  if (simplifies(p) && is_op(p, a, EXPR_BITS_OF_FP))
    return expr_arg(p, a, 0);
  return unary(p, EXPR_FP_OF_BITS, SORT_BV, expr_fp(expr_width(p, a)), a, 0);
}

Expr expr_bits_of_fp(ExprPool *p, Expr a) {
  if (simplifies(p) && is_op(p, a, EXPR_FP_OF_BITS))
    return expr_arg(p, a, 0);
  return unary(p, EXPR_BITS_OF_FP, SORT_FP, expr_bv(expr_width(p, a)), a, 0);
}

// --- STR --------------------------------------------------------------------

static void check_sorts(const ExprPool *p, const char *kinds, const Expr *e) {
  for (size_t i = 0; kinds[i]; i++)
    assert(expr_sort(p, e[i]).kind == (kinds[i] == 's' ? SORT_STR : SORT_INT));
  (void)p, (void)kinds, (void)e;
}

// `kinds`: one letter per operand, s or i.
static Expr str_op(ExprPool *p, ExprOp op, ExprSort to, const char *kinds,
                   Expr a, Expr b, Expr c) {
  check_sorts(p, kinds, (Expr[]){a, b, c});
  return expr_make(p, op, to, a, b, c);
}

static bool is_empty(const ExprPool *p, Expr s) { return is_value(p, s, 0); }

Expr expr_str_len(ExprPool *p, Expr s) {
  return str_op(p, EXPR_STR_LEN, expr_int_sort(), "s", s, 0, 0);
}

Expr expr_str_concat(ExprPool *p, Expr a, Expr b) {
  if (simplifies(p) && is_empty(p, a))
    return b;
  if (simplifies(p) && is_empty(p, b))
    return a;
  return str_op(p, EXPR_STR_CONCAT, expr_str_sort(), "ss", a, b, 0);
}

Expr expr_str_sub(ExprPool *p, Expr s, Expr from, Expr len) {
  return str_op(p, EXPR_STR_SUB, expr_str_sort(), "sii", s, from, len);
}

Expr expr_str_index(ExprPool *p, Expr s, Expr t, Expr from) {
  return str_op(p, EXPR_STR_INDEX, expr_int_sort(), "ssi", s, t, from);
}

Expr expr_str_contains(ExprPool *p, Expr s, Expr t) {
  if (simplifies(p) && (s == t || is_empty(p, t)))
    return expr_bool(p, true);
  return str_op(p, EXPR_STR_CONTAINS, expr_bv(1), "ss", s, t, 0);
}

Expr expr_str_prefix(ExprPool *p, Expr prefix, Expr s) {
  if (simplifies(p) && (s == prefix || is_empty(p, prefix)))
    return expr_bool(p, true);
  return str_op(p, EXPR_STR_PREFIX, expr_bv(1), "ss", prefix, s, 0);
}

Expr expr_str_suffix(ExprPool *p, Expr suffix, Expr s) {
  if (simplifies(p) && (s == suffix || is_empty(p, suffix)))
    return expr_bool(p, true);
  return str_op(p, EXPR_STR_SUFFIX, expr_bv(1), "ss", suffix, s, 0);
}

Expr expr_str_lt(ExprPool *p, Expr a, Expr b) {
  if (simplifies(p) && a == b)
    return expr_bool(p, false);
  return str_op(p, EXPR_STR_LT, expr_bv(1), "ss", a, b, 0);
}

Expr expr_str_to_int(ExprPool *p, Expr s) {
  return str_op(p, EXPR_STR_TO_INT, expr_int_sort(), "s", s, 0, 0);
}

Expr expr_str_of_int(ExprPool *p, Expr n) {
  return str_op(p, EXPR_STR_OF_INT, expr_str_sort(), "i", n, 0, 0);
}
