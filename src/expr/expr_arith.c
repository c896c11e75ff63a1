// Builders of sums, products and quotients, with their rules. A function
// named simplify_* answers 0 where no rule applies. Sums and products of INT
// use the few rules that cannot leave its range.
#include "expr/expr_make.h"

static ExprSort both(const ExprPool *p, Expr a, Expr b) {
  ExprSort s = expr_sort(p, a);
  assert(same_sort(s, expr_sort(p, b)));
  assert(s.kind == SORT_BV || s.kind == SORT_INT);
  (void)b;
  return s;
}

// The same operator on the two constants `a` and `b` is a constant.
static Expr fold2(ExprPool *p, ExprOp op, Expr a, Expr b) {
  return expr_make(p, op, expr_sort(p, a), a, b, 0);
}

typedef struct {
  ExprOp op;
  Expr other;
} WithConst;

static Expr apply_other(ExprPool *p, Expr k, const void *arg) {
  const WithConst *w = arg;
  return fold2(p, w->op, k, w->other);
}

// op(ite(c, k1, k2), k) -> ite(c, op(k1, k), op(k2, k))
static Expr lift_const(ExprPool *p, ExprOp op, Expr a, Expr k) {
  if (!expr_is_const(p, k))
    return 0;
  WithConst w = {op, k};
  return expr_map_leaves(p, a, 2, apply_other, &w);
}

// --- sums -------------------------------------------------------------------

// Bits of `e` that can be 1, as far as extensions and shifts tell.
static uint64_t possible_ones(const ExprPool *p, Expr e, int depth) {
  const ExprNode *n = expr_node(p, e);
  if (n->op == EXPR_CONST)
    return n->value;
  if (n->op == EXPR_ZEXT && depth)
    return possible_ones(p, n->arg[0], depth - 1);
  if (n->op == EXPR_CONCAT && depth)
    return possible_ones(p, n->arg[0], depth - 1) << expr_width(p, n->arg[1]) |
           possible_ones(p, n->arg[1], depth - 1);
  return expr_mask(n->sort.width);
}

// Are their ones apart, so that + is |?
static bool apart(const ExprPool *p, Expr a, Expr b) {
  return !(possible_ones(p, a, 8) & possible_ones(p, b, 8));
}

// `b` is a constant.
static Expr simplify_add_const(ExprPool *p, Expr a, Expr b) {
  if (is_value(p, b, 0))
    return a;
  if (is_int(p, a))
    return 0;
  if (is_op(p, a, EXPR_ADD) && expr_is_const(p, expr_arg(p, a, 1)))
    return expr_add(p, expr_arg(p, a, 0),
                    fold2(p, EXPR_ADD, expr_arg(p, a, 1), b));
  if (is_op(p, a, EXPR_SUB) && expr_is_const(p, expr_arg(p, a, 0)))
    return expr_sub(p, fold2(p, EXPR_ADD, expr_arg(p, a, 0), b),
                    expr_arg(p, a, 1));
  return lift_const(p, EXPR_ADD, a, b);
}

static Expr simplify_add(ExprPool *p, Expr a, Expr b) {
  if (expr_is_const(p, b))
    return simplify_add_const(p, a, b);
  if (is_int(p, a))
    return 0;
  if (expr_width(p, a) == 1)
    return expr_xor(p, a, b);
  if (is_op(p, b, EXPR_NEG))
    return expr_sub(p, a, expr_arg(p, b, 0));
  if (is_op(p, a, EXPR_NEG))
    return expr_sub(p, b, expr_arg(p, a, 0));
  if (apart(p, a, b))
    return expr_or(p, a, b);
  // (x + k) + y -> (x + y) + k: constants gather outside
  if (is_op(p, a, EXPR_ADD) && expr_is_const(p, expr_arg(p, a, 1)))
    return expr_add(p, expr_add(p, expr_arg(p, a, 0), b), expr_arg(p, a, 1));
  if (is_op(p, b, EXPR_ADD) && expr_is_const(p, expr_arg(p, b, 1)))
    return expr_add(p, expr_add(p, a, expr_arg(p, b, 0)), expr_arg(p, b, 1));
  return 0;
}

Expr expr_add(ExprPool *p, Expr a, Expr b) {
  ExprSort s = both(p, a, b);
  order(p, &a, &b);
  return make_by_rule(p, EXPR_ADD, s, simplify_add, a, b);
}

// x where `e` is x + k, with the constant in *k; else `e` itself and 0.
static Expr split_sum(ExprPool *p, Expr e, Expr *k) {
  if (is_op(p, e, EXPR_ADD) && expr_is_const(p, expr_arg(p, e, 1))) {
    *k = expr_arg(p, e, 1);
    return expr_arg(p, e, 0);
  }
  *k = expr_const(p, expr_width(p, e), 0);
  return e;
}

// (x + j) - (y + k) -> (x - y) + (j - k)
static Expr subtract_sums(ExprPool *p, Expr a, Expr b) {
  Expr j, k, x = split_sum(p, a, &j), y = split_sum(p, b, &k);
  if (x == a && y == b)
    return 0;
  return expr_add(p, expr_sub(p, x, y), fold2(p, EXPR_SUB, j, k));
}

static Expr simplify_sub(ExprPool *p, Expr a, Expr b) {
  if (a == b)
    return expr_const_of(p, expr_sort(p, a), 0);
  if (is_value(p, a, 0))
    return expr_neg(p, b);
  if (is_int(p, a))
    return is_value(p, b, 0) ? a : 0;
  if (expr_width(p, a) == 1)
    return expr_xor(p, a, b);
  if (expr_is_const(p, b))
    return expr_add(p, a, expr_neg(p, b));
  if (is_op(p, b, EXPR_NEG))
    return expr_add(p, a, expr_arg(p, b, 0));
  if (is_op(p, a, EXPR_ADD) && expr_arg(p, a, 0) == b)
    return expr_arg(p, a, 1);
  if (is_op(p, a, EXPR_ADD) && expr_arg(p, a, 1) == b)
    return expr_arg(p, a, 0);
  return expr_is_const(p, a) && !is_op(p, b, EXPR_ADD) ? 0
                                                       : subtract_sums(p, a, b);
}

Expr expr_sub(ExprPool *p, Expr a, Expr b) {
  return make_by_rule(p, EXPR_SUB, both(p, a, b), simplify_sub, a, b);
}

static Expr simplify_neg(ExprPool *p, Expr a) {
  if (is_op(p, a, EXPR_NEG))
    return expr_arg(p, a, 0);
  if (is_int(p, a))
    return 0;
  if (expr_width(p, a) == 1)
    return a;
  if (is_op(p, a, EXPR_SUB))
    return expr_sub(p, expr_arg(p, a, 1), expr_arg(p, a, 0));
  if (is_op(p, a, EXPR_ADD) && expr_is_const(p, expr_arg(p, a, 1)))
    return expr_sub(p, expr_neg(p, expr_arg(p, a, 1)), expr_arg(p, a, 0));
  return 0;
}

Expr expr_neg(ExprPool *p, Expr a) {
  ExprSort s = both(p, a, a);
  Expr r = simplifies(p) && !expr_is_const(p, a) ? simplify_neg(p, a) : 0;
  return r ? r : expr_make(p, EXPR_NEG, s, a, 0, 0);
}

// --- products ---------------------------------------------------------------

static bool is_power(uint64_t v) { return v && (v & (v - 1)) == 0; }

static Expr bv_of(ExprPool *p, Expr like, uint64_t v) {
  return expr_const(p, expr_width(p, like), v);
}

static Expr simplify_mul_const(ExprPool *p, Expr a, Expr b) {
  uint64_t k = expr_value(p, b);
  if (k == 0)
    return b;
  if (k == 1)
    return a;
  if (is_int(p, a))
    return 0;
  if (k == expr_mask(expr_width(p, a)))
    return expr_neg(p, a);
  if (is_power(k))
    return expr_shl(p, a, bv_of(p, a, (uint64_t)__builtin_ctzll(k)));
  if (is_op(p, a, EXPR_MUL) && expr_is_const(p, expr_arg(p, a, 1)))
    return expr_mul(p, expr_arg(p, a, 0),
                    fold2(p, EXPR_MUL, expr_arg(p, a, 1), b));
  return lift_const(p, EXPR_MUL, a, b);
}

Expr expr_mul(ExprPool *p, Expr a, Expr b) {
  ExprSort s = both(p, a, b);
  order(p, &a, &b);
  Expr r = 0;
  if (simplifies(p) && expr_is_const(p, b) && !expr_is_const(p, a))
    r = simplify_mul_const(p, a, b);
  else if (simplifies(p) && s.kind == SORT_BV && s.width == 1)
    r = expr_and(p, a, b);
  return r ? r : expr_make(p, EXPR_MUL, s, a, b, 0);
}

// --- quotients --------------------------------------------------------------

// At least 1.
static unsigned bits_of(uint64_t v) {
  return v ? 64 - (unsigned)__builtin_clzll(v) : 1;
}

static unsigned max_of(unsigned a, unsigned b) { return a > b ? a : b; }

// Bits from 0 that are enough for the value of `e`, as far as extensions, sums
// and products tell.
static unsigned bits_needed(const ExprPool *p, Expr e, int depth) {
  const ExprNode *n = expr_node(p, e);
  unsigned need = n->sort.width;
  if (n->op == EXPR_ZEXT)
    need = expr_width(p, n->arg[0]);
  else if (n->op == EXPR_CONST)
    need = bits_of(n->value);
  else if ((n->op == EXPR_ADD || n->op == EXPR_MUL) && depth) {
    unsigned a = bits_needed(p, n->arg[0], depth - 1);
    unsigned b = bits_needed(p, n->arg[1], depth - 1);
    need = n->op == EXPR_MUL ? a + b : max_of(a, b) + 1;
  }
  return need < n->sort.width ? need : n->sort.width;
}

static unsigned unsigned_width(const ExprPool *p, Expr e) {
  return bits_needed(p, e, 4);
}

// Both are zero-extended: divide the narrow values.
static Expr narrow_unsigned(ExprPool *p, ExprOp op, Expr a, Expr b) {
  unsigned w = max_of(unsigned_width(p, a), unsigned_width(p, b));
  if (w >= expr_width(p, a) || is_value(p, b, 0))
    return 0;
  // A quotient by a narrow zero would have fewer ones.
  if (op == EXPR_UDIV && !expr_is_const(p, b))
    return 0;
  Expr r =
      expr_make(p, op, expr_bv(w), expr_trunc(p, a, w), expr_trunc(p, b, w), 0);
  return expr_zext(p, r, expr_width(p, a));
}

// `b` is a constant.
static Expr simplify_udiv_const(ExprPool *p, Expr a, Expr b) {
  uint64_t k = expr_value(p, b);
  if (k == 0)
    return bv_of(p, a, ~0ull);
  if (k == 1)
    return a;
  if (is_power(k))
    return expr_lshr(p, a, bv_of(p, a, (uint64_t)__builtin_ctzll(k)));
  unsigned w = unsigned_width(p, a);
  if (w < 64 && k >> w) // larger than the dividend can be
    return bv_of(p, a, 0);
  return lift_const(p, EXPR_UDIV, a, b);
}

Expr expr_udiv(ExprPool *p, Expr a, Expr b) {
  ExprSort s = both(p, a, b);
  Expr r = 0;
  if (simplifies(p) && !expr_is_const(p, a)) {
    r = expr_is_const(p, b) ? simplify_udiv_const(p, a, b) : 0;
    r = r ? r : narrow_unsigned(p, EXPR_UDIV, a, b);
  }
  return r ? r : expr_make(p, EXPR_UDIV, s, a, b, 0);
}

static Expr simplify_urem_const(ExprPool *p, Expr a, Expr b) {
  uint64_t k = expr_value(p, b);
  unsigned w = expr_width(p, a), wa = unsigned_width(p, a);
  if (k == 0 || (wa < 64 && k >> wa))
    return a;
  if (k == 1)
    return bv_of(p, a, 0);
  if (is_power(k))
    return expr_zext(p, expr_trunc(p, a, (unsigned)__builtin_ctzll(k)), w);
  return lift_const(p, EXPR_UREM, a, b);
}

// A remainder is less than the constant `b`: as the extension of what it needs
// it can be cut into bytes that are put together again (a checksum of sums).
static Expr narrow_remainder(ExprPool *p, Expr r, Expr b) {
  unsigned need = bits_of(expr_value(p, b) - 1);
  return need < expr_width(p, r)
             ? expr_zext(p, expr_trunc(p, r, need), expr_width(p, r))
             : r;
}

Expr expr_urem(ExprPool *p, Expr a, Expr b) {
  ExprSort s = both(p, a, b);
  bool rules = simplifies(p) && !expr_is_const(p, a),
       fixed = expr_is_const(p, b);
  Expr r = rules && fixed ? simplify_urem_const(p, a, b) : 0;
  if (r)
    return r;
  r = rules ? narrow_unsigned(p, EXPR_UREM, a, b) : 0;
  r = r ? r : expr_make(p, EXPR_UREM, s, a, b, 0);
  return rules && fixed ? narrow_remainder(p, r, b) : r;
}

static bool never_negative(const ExprPool *p, Expr e) {
  return unsigned_width(p, e) < expr_width(p, e);
}

// Signed division by a constant that fits in the width before extension.
static Expr narrow_signed(ExprPool *p, ExprOp op, Expr a, Expr b) {
  if (!is_op(p, a, EXPR_SEXT) || !expr_is_const(p, b))
    return 0;
  Expr x = expr_arg(p, a, 0);
  unsigned w = expr_width(p, x);
  int64_t k = sign_extend(expr_value(p, b), expr_width(p, b));
  if (k != sign_extend((uint64_t)k, w) || k == 0 || k == -1)
    return 0;
  Expr r = op == EXPR_SDIV ? expr_sdiv(p, x, expr_const(p, w, (uint64_t)k))
                           : expr_srem(p, x, expr_const(p, w, (uint64_t)k));
  return expr_sext(p, r, expr_width(p, a));
}

static Expr simplify_sdiv(ExprPool *p, Expr a, Expr b) {
  if (is_value(p, b, 1) && expr_width(p, b) > 1)
    return a;
  if (is_int(p, a))
    return 0;
  if (never_negative(p, a) && never_negative(p, b) &&
      (expr_is_const(p, b) && !is_value(p, b, 0)))
    return expr_udiv(p, a, b);
  Expr r = narrow_signed(p, EXPR_SDIV, a, b);
  return r ? r : lift_const(p, EXPR_SDIV, a, b);
}

Expr expr_sdiv(ExprPool *p, Expr a, Expr b) {
  ExprSort s = both(p, a, b);
  Expr r = simplifies(p) && !expr_is_const(p, a) ? simplify_sdiv(p, a, b) : 0;
  return r ? r : expr_make(p, EXPR_SDIV, s, a, b, 0);
}

static Expr simplify_srem(ExprPool *p, Expr a, Expr b) {
  if (is_int(p, a))
    return 0;
  if (never_negative(p, a) && never_negative(p, b))
    return expr_urem(p, a, b);
  Expr r = narrow_signed(p, EXPR_SREM, a, b);
  return r ? r : lift_const(p, EXPR_SREM, a, b);
}

Expr expr_srem(ExprPool *p, Expr a, Expr b) {
  ExprSort s = both(p, a, b);
  Expr r = simplifies(p) && !expr_is_const(p, a) ? simplify_srem(p, a, b) : 0;
  return r ? r : expr_make(p, EXPR_SREM, s, a, b, 0);
}
