// Builders of comparisons and of if-then-else. Comparisons move towards the
// inputs: through extensions, sums with constants, concatenations, and into
// ITEs and tables of constants, until a branch of the program reads
// "in[2] == 'a'" again.
#include "expr/expr_make.h"

static void check_same(const ExprPool *p, Expr a, Expr b) {
  assert(same_sort(expr_sort(p, a), expr_sort(p, b)));
  (void)p, (void)a, (void)b;
}

typedef Expr Compare(ExprPool *p, Expr a, Expr b);

typedef struct {
  Compare *op;
  Expr other;
  bool other_first;
} Against;

static Expr compare_const(ExprPool *p, Expr k, const void *arg) {
  const Against *w = arg;
  return w->other_first ? w->op(p, w->other, k) : w->op(p, k, w->other);
}

// A comparison with a constant goes into ITEs and tables of constants.
static Expr lift(ExprPool *p, ExprOp op, Compare *f, Expr a, Expr k,
                 bool k_first) {
  Against w = {f, k, k_first};
  Expr r = expr_map_leaves(p, a, EXPR_MAX_LEAVES, compare_const, &w);
  if (r)
    return r;
  // For the table's memory the two sides are two operators.
  ExprOp name = (ExprOp)(op + k_first * EXPR_OP_COUNT);
  return expr_map_table(p, a, name, 1, expr_value(p, k), compare_const, &w);
}

// --- equality ---------------------------------------------------------------

static Expr const_like(ExprPool *p, Expr e, uint64_t v) {
  return expr_const_of(p, expr_sort(p, e), v);
}

// zext x == k, sext x == k
static Expr eq_extended(ExprPool *p, Expr a, uint64_t k) {
  Expr x = expr_arg(p, a, 0);
  Expr narrow = const_like(p, x, k);
  Expr wide = is_op(p, a, EXPR_ZEXT) ? expr_zext(p, narrow, expr_width(p, a))
                                     : expr_sext(p, narrow, expr_width(p, a));
  return expr_value(p, wide) == k ? expr_eq(p, x, narrow) : expr_bool(p, false);
}

static Expr eq_concat(ExprPool *p, Expr a, Expr b) {
  Expr h = expr_arg(p, a, 0), l = expr_arg(p, a, 1);
  unsigned w = expr_width(p, l);
  return expr_and(p, expr_eq(p, h, expr_extract(p, b, w, expr_width(p, h))),
                  expr_eq(p, l, expr_extract(p, b, 0, w)));
}

static uint64_t inverse_of_odd(uint64_t v) {
  uint64_t x = v; // right in the low three bits; each step doubles that
  for (int i = 0; i < 5; i++)
    x *= 2 - v * x;
  return x;
}

// op(x, j) == k or op(j, x) == k: solve for x.
static Expr eq_arithmetic(ExprPool *p, Expr a, uint64_t k) {
  Expr x = expr_arg(p, a, 0), y = expr_arg(p, a, 1);
  uint64_t j = expr_value(p, y);
  bool second = expr_is_const(p, y);
  switch (expr_op(p, a)) {
  case EXPR_ADD:
    return second ? expr_eq(p, x, const_like(p, x, k - j)) : 0;
  case EXPR_XOR:
    if (second)
      return expr_eq(p, x, const_like(p, x, k ^ j));
    return k == 0 ? expr_eq(p, x, y) : 0;
  case EXPR_MUL:
    return second && (j & 1)
               ? expr_eq(p, x, const_like(p, x, k * inverse_of_odd(j)))
               : 0;
  case EXPR_SUB:
    if (expr_is_const(p, x))
      return expr_eq(p, y, const_like(p, y, expr_value(p, x) - k));
    return k == 0 ? expr_eq(p, x, y) : 0;
  default:
    return 0;
  }
}

// (x & j) == k, (x | j) == k
static Expr eq_masked(ExprPool *p, Expr a, uint64_t k) {
  Expr x = expr_arg(p, a, 0), y = expr_arg(p, a, 1);
  if (!expr_is_const(p, y))
    return 0;
  uint64_t j = expr_value(p, y);
  bool is_and = is_op(p, a, EXPR_AND);
  if (is_and ? (k & ~j) != 0 : (j & ~k) != 0)
    return expr_bool(p, false);
  if (!is_and || (j & (j - 1)) != 0)
    return 0;
  Expr bit = expr_extract(p, x, (unsigned)__builtin_ctzll(j), 1);
  return k ? bit : expr_not(p, bit);
}

// ite(c, j, y) == k with constant j, or ite(c, x, j) == k
static Expr eq_ite(ExprPool *p, Expr a, Expr k) {
  Expr c = expr_arg(p, a, 0), x = expr_arg(p, a, 1), y = expr_arg(p, a, 2);
  if (!expr_is_const(p, x) && !expr_is_const(p, y))
    return 0;
  if (p->rest->depth >= EXPR_MAX_DEPTH)
    return 0;
  p->rest->depth++;
  Expr r = expr_ite(p, c, expr_eq(p, x, k), expr_eq(p, y, k));
  p->rest->depth--;
  return r;
}

// `b` is a BV constant.
static Expr eq_const(ExprPool *p, Expr a, Expr b) {
  uint64_t k = expr_value(p, b);
  if (expr_width(p, a) == 1)
    return k ? a : expr_not(p, a);
  Expr r = lift(p, EXPR_EQ, expr_eq, a, b, false);
  if (r)
    return r;
  switch (expr_op(p, a)) {
  case EXPR_ZEXT:
  case EXPR_SEXT:
    return eq_extended(p, a, k);
  case EXPR_CONCAT:
    return eq_concat(p, a, b);
  case EXPR_NOT:
    return expr_eq(p, expr_arg(p, a, 0), const_like(p, b, ~k));
  case EXPR_NEG:
    return expr_eq(p, expr_arg(p, a, 0), const_like(p, b, 0 - k));
  case EXPR_AND:
  case EXPR_OR:
    return eq_masked(p, a, k);
  case EXPR_ITE:
    return eq_ite(p, a, b);
  default:
    return expr_arity(expr_op(p, a)) == 2 ? eq_arithmetic(p, a, k) : 0;
  }
}

static bool both_are(const ExprPool *p, Expr a, Expr b, ExprOp op) {
  return is_op(p, a, op) && is_op(p, b, op);
}

// Two values extended the same way: compare before extension.
static bool same_extension(const ExprPool *p, Expr a, Expr b) {
  return (both_are(p, a, b, EXPR_ZEXT) || both_are(p, a, b, EXPR_SEXT)) &&
         expr_width(p, expr_arg(p, a, 0)) == expr_width(p, expr_arg(p, b, 0));
}

// (x + j) == (y + k) -> x == y + (k - j)
static Expr eq_sums(ExprPool *p, Expr a, Expr b) {
  if (!both_are(p, a, b, EXPR_ADD))
    return 0;
  if (expr_arg(p, a, 0) == expr_arg(p, b, 0))
    return expr_eq(p, expr_arg(p, a, 1), expr_arg(p, b, 1));
  Expr j = expr_arg(p, a, 1), k = expr_arg(p, b, 1);
  if (j == k)
    return expr_eq(p, expr_arg(p, a, 0), expr_arg(p, b, 0));
  if (!expr_is_const(p, j) || !expr_is_const(p, k))
    return 0;
  return expr_eq(p, expr_arg(p, a, 0),
                 expr_add(p, expr_arg(p, b, 0), expr_sub(p, k, j)));
}

static Expr eq_two(ExprPool *p, Expr a, Expr b) {
  if (expr_width(p, a) == 1)
    return expr_not(p, expr_xor(p, a, b));
  if (same_extension(p, a, b))
    return expr_eq(p, expr_arg(p, a, 0), expr_arg(p, b, 0));
  if (both_are(p, a, b, EXPR_ZEXT)) {
    Expr x = expr_arg(p, a, 0), y = expr_arg(p, b, 0);
    unsigned wx = expr_width(p, x), wy = expr_width(p, y);
    unsigned w = wx > wy ? wx : wy;
    return expr_eq(p, expr_zext(p, x, w), expr_zext(p, y, w));
  }
  if (both_are(p, a, b, EXPR_CONCAT) &&
      expr_width(p, expr_arg(p, a, 1)) == expr_width(p, expr_arg(p, b, 1)))
    return eq_concat(p, a, b);
  if (both_are(p, a, b, EXPR_NOT) || both_are(p, a, b, EXPR_NEG))
    return expr_eq(p, expr_arg(p, a, 0), expr_arg(p, b, 0));
  return eq_sums(p, a, b);
}

static Expr simplify_eq(ExprPool *p, Expr a, Expr b) {
  if (a == b)
    return expr_bool(p, true);
  if (is_bv(p, a))
    return expr_is_const(p, b) ? eq_const(p, a, b) : eq_two(p, a, b);
  // Other sorts: only where the condition decides.
  if (!expr_is_const(p, b))
    return 0;
  Against w = {expr_eq, b, false};
  return expr_map_leaves(p, a, EXPR_MAX_LEAVES, compare_const, &w);
}

Expr expr_eq(ExprPool *p, Expr a, Expr b) {
  check_same(p, a, b);
  order(p, &a, &b);
  Expr r = simplifies(p) && !expr_is_const(p, a) ? simplify_eq(p, a, b) : 0;
  return r ? r : expr_make(p, EXPR_EQ, expr_bv(1), a, b, 0);
}

Expr expr_ne(ExprPool *p, Expr a, Expr b) {
  return expr_not(p, expr_eq(p, a, b));
}

Expr expr_nonzero(ExprPool *p, Expr a) {
  return expr_ne(p, a, const_like(p, a, 0));
}

// --- unsigned order ---------------------------------------------------------

// x < k
static Expr ult_const(ExprPool *p, Expr a, Expr b) {
  uint64_t k = expr_value(p, b), max = expr_mask(expr_width(p, a));
  if (k == 0)
    return expr_bool(p, false);
  if (k == 1)
    return expr_eq(p, a, const_like(p, a, 0));
  if (k == max)
    return expr_ne(p, a, b);
  if (is_op(p, a, EXPR_ZEXT)) {
    Expr x = expr_arg(p, a, 0);
    return k > expr_mask(expr_width(p, x))
               ? expr_bool(p, true)
               : expr_ult(p, x, const_like(p, x, k));
  }
  return lift(p, EXPR_ULT, expr_ult, a, b, false);
}

// k < x
static Expr const_ult(ExprPool *p, Expr a, Expr b) {
  uint64_t k = expr_value(p, a), max = expr_mask(expr_width(p, a));
  if (k == max)
    return expr_bool(p, false);
  if (k == 0)
    return expr_nonzero(p, b);
  if (k == max - 1)
    return expr_eq(p, b, const_like(p, b, max));
  if (is_op(p, b, EXPR_ZEXT)) {
    Expr x = expr_arg(p, b, 0);
    return k >= expr_mask(expr_width(p, x))
               ? expr_bool(p, false)
               : expr_ult(p, const_like(p, x, k), x);
  }
  return lift(p, EXPR_ULT, expr_ult, b, a, true);
}

static Expr simplify_ult(ExprPool *p, Expr a, Expr b) {
  if (a == b)
    return expr_bool(p, false);
  if (expr_width(p, a) == 1)
    return expr_and(p, expr_not(p, a), b);
  if (expr_is_const(p, b))
    return ult_const(p, a, b);
  if (expr_is_const(p, a))
    return const_ult(p, a, b);
  if (same_extension(p, a, b)) // both extensions keep the unsigned order
    return expr_ult(p, expr_arg(p, a, 0), expr_arg(p, b, 0));
  return 0;
}

Expr expr_ult(ExprPool *p, Expr a, Expr b) {
  check_same(p, a, b);
  assert(is_bv(p, a));
  return make_by_rule(p, EXPR_ULT, expr_bv(1), simplify_ult, a, b);
}

Expr expr_ule(ExprPool *p, Expr a, Expr b) {
  return expr_not(p, expr_ult(p, b, a));
}

// --- signed order -----------------------------------------------------------

// sext x < k, or k < sext x: the constant may be out of x's range.
static Expr slt_sext(ExprPool *p, Expr x, int64_t k, bool k_first) {
  unsigned w = expr_width(p, x);
  int64_t max = (int64_t)(expr_mask(w) >> 1), min = -max - 1;
  if (k < min || k > max)
    return expr_bool(p, (k > max) != k_first);
  Expr c = const_like(p, x, (uint64_t)k);
  return k_first ? expr_slt(p, c, x) : expr_slt(p, x, c);
}

static Expr sign_bit(ExprPool *p, Expr a) {
  return expr_extract(p, a, expr_width(p, a) - 1, 1);
}

// x < k
static Expr slt_const(ExprPool *p, Expr a, Expr b) {
  unsigned w = expr_width(p, a);
  int64_t k = sign_extend(expr_value(p, b), w);
  int64_t max = (int64_t)(expr_mask(w) >> 1), min = -max - 1;
  if (k == min)
    return expr_bool(p, false);
  if (k == 0)
    return sign_bit(p, a);
  if (is_op(p, a, EXPR_ZEXT)) // not negative
    return k < 0 ? expr_bool(p, false) : expr_ult(p, a, b);
  if (is_op(p, a, EXPR_SEXT))
    return slt_sext(p, expr_arg(p, a, 0), k, false);
  if (k == min + 1)
    return expr_eq(p, a, const_like(p, a, (uint64_t)min));
  if (k == max)
    return expr_ne(p, a, b);
  return lift(p, EXPR_SLT, expr_slt, a, b, false);
}

// k < x
static Expr const_slt(ExprPool *p, Expr a, Expr b) {
  unsigned w = expr_width(p, a);
  int64_t k = sign_extend(expr_value(p, a), w);
  int64_t max = (int64_t)(expr_mask(w) >> 1), min = -max - 1;
  if (k == max)
    return expr_bool(p, false);
  if (k == -1)
    return expr_not(p, sign_bit(p, b));
  if (is_op(p, b, EXPR_ZEXT))
    return k < 0 ? expr_bool(p, true) : expr_ult(p, a, b);
  if (is_op(p, b, EXPR_SEXT))
    return slt_sext(p, expr_arg(p, b, 0), k, true);
  if (k == min)
    return expr_ne(p, b, a);
  if (k == max - 1)
    return expr_eq(p, b, const_like(p, b, (uint64_t)max));
  return lift(p, EXPR_SLT, expr_slt, b, a, true);
}

static Expr simplify_slt(ExprPool *p, Expr a, Expr b) {
  if (a == b)
    return expr_bool(p, false);
  if (is_int(p, a))
    return 0;
  if (expr_width(p, a) == 1) // -1 < 0
    return expr_and(p, a, expr_not(p, b));
  if (expr_is_const(p, b))
    return slt_const(p, a, b);
  if (expr_is_const(p, a))
    return const_slt(p, a, b);
  if (both_are(p, a, b, EXPR_ZEXT))
    return expr_ult(p, a, b);
  if (same_extension(p, a, b))
    return expr_slt(p, expr_arg(p, a, 0), expr_arg(p, b, 0));
  return 0;
}

Expr expr_slt(ExprPool *p, Expr a, Expr b) {
  check_same(p, a, b);
  assert(is_bv(p, a) || is_int(p, a));
  return make_by_rule(p, EXPR_SLT, expr_bv(1), simplify_slt, a, b);
}

Expr expr_sle(ExprPool *p, Expr a, Expr b) {
  return expr_not(p, expr_slt(p, b, a));
}

// --- if-then-else -----------------------------------------------------------

// One of the two is a constant condition.
static Expr ite_bool(ExprPool *p, Expr c, Expr a, Expr b) {
  if (a == c || is_value(p, a, 1))
    return expr_or(p, c, b);
  if (b == c || is_value(p, b, 0))
    return expr_and(p, c, a);
  if (is_value(p, a, 0))
    return expr_and(p, expr_not(p, c), b);
  if (is_value(p, b, 1))
    return expr_or(p, expr_not(p, c), a);
  return 0;
}

// What an ITE within an ITE gives where the outer one has decided or both
// share a branch.
static Expr ite_nested(ExprPool *p, Expr c, Expr a, Expr b) {
  if (is_op(p, a, EXPR_ITE)) {
    if (expr_arg(p, a, 0) == c)
      return expr_ite(p, c, expr_arg(p, a, 1), b);
    if (expr_arg(p, a, 2) == b)
      return expr_ite(p, expr_and(p, c, expr_arg(p, a, 0)), expr_arg(p, a, 1),
                      b);
  }
  if (is_op(p, b, EXPR_ITE)) {
    if (expr_arg(p, b, 0) == c)
      return expr_ite(p, c, a, expr_arg(p, b, 2));
    if (expr_arg(p, b, 1) == a)
      return expr_ite(p, expr_or(p, c, expr_arg(p, b, 0)), a,
                      expr_arg(p, b, 2));
  }
  return 0;
}

static Expr simplify_ite(ExprPool *p, Expr c, Expr a, Expr b) {
  if (expr_is_const(p, c))
    return expr_value(p, c) ? a : b;
  if (a == b)
    return a;
  if (is_op(p, c, EXPR_NOT))
    return expr_ite(p, expr_arg(p, c, 0), b, a);
  if (is_bv(p, a) && expr_width(p, a) == 1) {
    Expr r = ite_bool(p, c, a, b);
    if (r)
      return r;
  }
  if (is_bv(p, a) && same_extension(p, a, b)) {
    Expr x = expr_ite(p, c, expr_arg(p, a, 0), expr_arg(p, b, 0));
    return is_op(p, a, EXPR_ZEXT) ? expr_zext(p, x, expr_width(p, a))
                                  : expr_sext(p, x, expr_width(p, a));
  }
  return ite_nested(p, c, a, b);
}

Expr expr_ite(ExprPool *p, Expr cond, Expr a, Expr b) {
  check_same(p, a, b);
  assert(is_bv(p, cond) && expr_width(p, cond) == 1);
  Expr r = simplifies(p) ? simplify_ite(p, cond, a, b) : 0;
  if (!r && expr_is_const(p, cond)) // also without rules: operands may be any
    r = expr_value(p, cond) ? a : b;
  return r ? r : expr_make(p, EXPR_ITE, expr_sort(p, a), cond, a, b);
}
