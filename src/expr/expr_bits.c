// Builders of bitwise operators, shifts, and of cutting and joining words. All
// constant shifts and low masks become EXTRACT, CONCAT, ZEXT and SEXT, so that
// bytes that were put together and taken apart again meet their own nodes.
#include "expr/expr_make.h"

static unsigned check_bv(const ExprPool *p, Expr a, Expr b) {
  assert(is_bv(p, a) && same_sort(expr_sort(p, a), expr_sort(p, b)));
  (void)b;
  return expr_width(p, a);
}

static uint64_t ones_of(const ExprPool *p, Expr e) {
  return expr_mask(expr_width(p, e));
}

static bool are_opposite(const ExprPool *p, Expr a, Expr b) {
  return (is_op(p, a, EXPR_NOT) && expr_arg(p, a, 0) == b) ||
         (is_op(p, b, EXPR_NOT) && expr_arg(p, b, 0) == a);
}

// --- not --------------------------------------------------------------------

static Expr not_const(ExprPool *p, Expr k, const void *arg) {
  (void)arg;
  return expr_not(p, k);
}

static Expr simplify_not(ExprPool *p, Expr a) {
  if (is_op(p, a, EXPR_NOT))
    return expr_arg(p, a, 0);
  if (expr_width(p, a) == 1)
    return expr_map_table(p, a, EXPR_NOT, 1, 0, not_const, NULL);
  return expr_map_leaves(p, a, 2, not_const, NULL);
}

Expr expr_not(ExprPool *p, Expr a) {
  ExprSort s = expr_bv(check_bv(p, a, a));
  Expr r = simplifies(p) && !expr_is_const(p, a) ? simplify_not(p, a) : 0;
  return r ? r : expr_make(p, EXPR_NOT, s, a, 0, 0);
}

// --- and, or, xor -----------------------------------------------------------

static Expr bitwise(ExprPool *p, ExprOp op, ExprRule *simplify, Expr a,
                    Expr b) {
  ExprSort s = expr_bv(check_bv(p, a, b));
  order(p, &a, &b);
  return make_by_rule(p, op, s, simplify, a, b);
}

typedef struct {
  ExprRule *op;
  Expr other;
} Pending;

static Expr apply_pending(ExprPool *p, Expr k, const void *arg) {
  const Pending *w = arg;
  return w->op(p, k, w->other);
}

// A constant operand reaches into ITEs of two constants and tables.
static Expr lift_bitwise(ExprPool *p, ExprOp op, ExprRule *f, Expr a, Expr k) {
  Pending w = {f, k};
  Expr r = expr_map_leaves(p, a, 2, apply_pending, &w);
  return r ? r
           : expr_map_table(p, a, op, expr_width(p, a), expr_value(p, k),
                            apply_pending, &w);
}

// Can `b` be cut at bit `lo` for free?
static bool cuts_at(const ExprPool *p, Expr b, unsigned lo) {
  const ExprNode *n = expr_node(p, b);
  if (n->op == EXPR_CONST)
    return true;
  if (n->op == EXPR_ZEXT)
    return expr_width(p, n->arg[0]) <= lo;
  return n->op == EXPR_CONCAT && expr_width(p, n->arg[1]) == lo;
}

// Is one of the two halves settled by 0 or all ones?
static bool half_is_plain(const ExprPool *p, Expr e) {
  return is_value(p, e, 0) || is_value(p, e, ones_of(p, e));
}

// op(concat(h, l), b) -> concat(op(h, bh), op(l, bl)), where that gains.
static Expr split_concat(ExprPool *p, ExprRule *op, Expr a, Expr b) {
  if (!is_op(p, a, EXPR_CONCAT))
    return 0;
  Expr h = expr_arg(p, a, 0), l = expr_arg(p, a, 1);
  unsigned lo = expr_width(p, l), hi = expr_width(p, h);
  if (!cuts_at(p, b, lo))
    return 0;
  Expr bh = expr_extract(p, b, lo, hi), bl = expr_extract(p, b, 0, lo);
  bool gains = half_is_plain(p, bh) || half_is_plain(p, bl) ||
               half_is_plain(p, h) || half_is_plain(p, l);
  return gains ? expr_concat(p, op(p, h, bh), op(p, l, bl)) : 0;
}

static Expr split_either(ExprPool *p, ExprRule *op, Expr a, Expr b) {
  Expr r = split_concat(p, op, a, b);
  return r ? r : split_concat(p, op, b, a);
}

// x == j and x == k, or x == j and x != k, with constants.
static Expr simplify_two_equalities(ExprPool *p, Expr a, Expr b) {
  bool negated = is_op(p, b, EXPR_NOT);
  Expr c = negated ? expr_arg(p, b, 0) : b;
  if (!is_op(p, a, EXPR_EQ) || !is_op(p, c, EXPR_EQ) ||
      expr_arg(p, a, 0) != expr_arg(p, c, 0) ||
      !expr_is_const(p, expr_arg(p, a, 1)) ||
      !expr_is_const(p, expr_arg(p, c, 1)))
    return 0;
  return negated ? a : expr_bool(p, false); // a != c: the constants differ
}

// a and (a or b) -> a, and the dual.
static bool absorbs(const ExprPool *p, Expr a, Expr b, ExprOp dual) {
  return is_op(p, b, dual) &&
         (expr_arg(p, b, 0) == a || expr_arg(p, b, 1) == a);
}

// (a op j) op k -> a op (j op k), with constants. 0: `a` has another operator.
static Expr gather_consts(ExprPool *p, ExprOp op, ExprRule *f, Expr a, Expr k) {
  if (!is_op(p, a, op) || !expr_is_const(p, expr_arg(p, a, 1)))
    return 0;
  return f(p, expr_arg(p, a, 0), f(p, expr_arg(p, a, 1), k));
}

static Expr simplify_and_const(ExprPool *p, Expr a, Expr k) {
  uint64_t v = expr_value(p, k);
  unsigned w = expr_width(p, a);
  if (v == 0)
    return k;
  if (v == expr_mask(w))
    return a;
  if ((v & (v + 1)) == 0) // low mask
    return expr_zext(p, expr_trunc(p, a, (unsigned)__builtin_ctzll(~v)), w);
  Expr r = gather_consts(p, EXPR_AND, expr_and, a, k);
  if (r)
    return r;
  if (is_op(p, a, EXPR_ZEXT)) {
    Expr x = expr_arg(p, a, 0);
    return expr_zext(p, expr_and(p, x, expr_const(p, expr_width(p, x), v)), w);
  }
  return lift_bitwise(p, EXPR_AND, expr_and, a, k);
}

static Expr simplify_or_const(ExprPool *p, Expr a, Expr k) {
  uint64_t v = expr_value(p, k);
  if (v == 0)
    return a;
  if (v == ones_of(p, a))
    return k;
  Expr r = gather_consts(p, EXPR_OR, expr_or, a, k);
  return r ? r : lift_bitwise(p, EXPR_OR, expr_or, a, k);
}

// AND and OR follow the same rules, each with the other as its dual.
typedef struct {
  ExprOp op, dual;
  ExprRule *f_dual, *with_const;
  uint64_t opposite; // of x and not x
} Connective;

static Expr simplify_connective(ExprPool *p, const Connective *c, Expr a,
                                Expr b) {
  if (a == b || absorbs(p, a, b, c->dual) || absorbs(p, b, a, c->op))
    return a;
  if (absorbs(p, b, a, c->dual) || absorbs(p, a, b, c->op))
    return b;
  if (are_opposite(p, a, b))
    return expr_const_of(p, expr_sort(p, a), c->opposite);
  Expr r = expr_is_const(p, b) ? c->with_const(p, a, b) : 0;
  if (!r && expr_width(p, a) == 1 && is_op(p, a, EXPR_NOT) &&
      is_op(p, b, EXPR_NOT))
    r = expr_not(p, c->f_dual(p, expr_arg(p, a, 0), expr_arg(p, b, 0)));
  return r;
}

static Expr simplify_and(ExprPool *p, Expr a, Expr b) {
  static const Connective and = {EXPR_AND, EXPR_OR, expr_or, simplify_and_const,
                                 0};
  Expr r = simplify_connective(p, &and, a, b);
  if (!r && expr_width(p, a) == 1) {
    r = simplify_two_equalities(p, a, b);
    r = r ? r : simplify_two_equalities(p, b, a);
  }
  return r ? r : split_either(p, expr_and, a, b);
}

Expr expr_and(ExprPool *p, Expr a, Expr b) {
  return bitwise(p, EXPR_AND, simplify_and, a, b);
}

// Two zero-extended values: the narrower word is enough.
static Expr narrow_zexts(ExprPool *p, ExprRule *op, Expr a, Expr b) {
  if (!is_op(p, a, EXPR_ZEXT) || !is_op(p, b, EXPR_ZEXT))
    return 0;
  Expr x = expr_arg(p, a, 0), y = expr_arg(p, b, 0);
  unsigned w = expr_width(p, x), wy = expr_width(p, y);
  w = wy > w ? wy : w;
  return expr_zext(p, op(p, expr_zext(p, x, w), expr_zext(p, y, w)),
                   expr_width(p, a));
}

static Expr simplify_or(ExprPool *p, Expr a, Expr b) {
  static const Connective or = {EXPR_OR, EXPR_AND, expr_and, simplify_or_const,
                                ~0ull};
  Expr r = simplify_connective(p, &or, a, b);
  r = r ? r : split_either(p, expr_or, a, b);
  return r ? r : narrow_zexts(p, expr_or, a, b);
}

Expr expr_or(ExprPool *p, Expr a, Expr b) {
  return bitwise(p, EXPR_OR, simplify_or, a, b);
}

static Expr simplify_xor_const(ExprPool *p, Expr a, Expr k) {
  uint64_t v = expr_value(p, k);
  unsigned w = expr_width(p, a);
  if (v == 0)
    return a;
  if (v == expr_mask(w))
    return expr_not(p, a);
  Expr r = gather_consts(p, EXPR_XOR, expr_xor, a, k);
  if (r)
    return r;
  if (is_op(p, a, EXPR_NOT))
    return expr_xor(p, expr_arg(p, a, 0), expr_const(p, w, ~v));
  return lift_bitwise(p, EXPR_XOR, expr_xor, a, k);
}

static Expr simplify_xor(ExprPool *p, Expr a, Expr b) {
  if (a == b)
    return expr_const_of(p, expr_sort(p, a), 0);
  if (are_opposite(p, a, b))
    return expr_const_of(p, expr_sort(p, a), ~0ull);
  if (expr_is_const(p, b)) {
    Expr r = simplify_xor_const(p, a, b);
    return r ? r : split_concat(p, expr_xor, a, b);
  }
  if (is_op(p, a, EXPR_NOT))
    return expr_not(p, expr_xor(p, expr_arg(p, a, 0), b));
  if (is_op(p, b, EXPR_NOT))
    return expr_not(p, expr_xor(p, a, expr_arg(p, b, 0)));
  Expr r = split_either(p, expr_xor, a, b);
  return r ? r : narrow_zexts(p, expr_xor, a, b);
}

Expr expr_xor(ExprPool *p, Expr a, Expr b) {
  return bitwise(p, EXPR_XOR, simplify_xor, a, b);
}

// --- shifts -----------------------------------------------------------------

Expr expr_shl(ExprPool *p, Expr a, Expr by) {
  unsigned w = check_bv(p, a, by);
  if (simplifies(p) && expr_is_const(p, by)) {
    uint64_t k = expr_value(p, by);
    if (k >= w)
      return expr_const(p, w, 0);
    unsigned s = (unsigned)k;
    return s ? expr_concat(p, expr_trunc(p, a, w - s), expr_const(p, s, 0)) : a;
  }
  if (simplifies(p) && is_value(p, a, 0))
    return a;
  return expr_make(p, EXPR_SHL, expr_bv(w), a, by, 0);
}

Expr expr_lshr(ExprPool *p, Expr a, Expr by) {
  unsigned w = check_bv(p, a, by);
  if (simplifies(p) && expr_is_const(p, by)) {
    uint64_t k = expr_value(p, by);
    if (k >= w)
      return expr_const(p, w, 0);
    unsigned s = (unsigned)k;
    return expr_zext(p, expr_extract(p, a, s, w - s), w);
  }
  if (simplifies(p) && is_value(p, a, 0))
    return a;
  return expr_make(p, EXPR_LSHR, expr_bv(w), a, by, 0);
}

Expr expr_ashr(ExprPool *p, Expr a, Expr by) {
  unsigned w = check_bv(p, a, by);
  if (simplifies(p) && expr_is_const(p, by)) {
    uint64_t k = expr_value(p, by);
    unsigned s = k < w ? (unsigned)k : w - 1;
    return expr_sext(p, expr_extract(p, a, s, w - s), w);
  }
  if (simplifies(p) && half_is_plain(p, a))
    return a;
  return expr_make(p, EXPR_ASHR, expr_bv(w), a, by, 0);
}

// --- extract ----------------------------------------------------------------

typedef struct {
  unsigned lo, width;
} Range;

static Expr extract_const(ExprPool *p, Expr k, const void *arg) {
  const Range *r = arg;
  return expr_extract(p, k, r->lo, r->width);
}

static Expr extract_zext(ExprPool *p, Expr x, unsigned lo, unsigned width) {
  unsigned w = expr_width(p, x);
  if (lo >= w)
    return expr_const(p, width, 0);
  if (lo + width <= w)
    return expr_extract(p, x, lo, width);
  return expr_zext(p, expr_extract(p, x, lo, w - lo), width);
}

static Expr extract_sext(ExprPool *p, Expr x, unsigned lo, unsigned width) {
  unsigned w = expr_width(p, x);
  if (lo + width <= w)
    return expr_extract(p, x, lo, width);
  if (lo >= w)
    lo = w - 1;
  return expr_sext(p, expr_extract(p, x, lo, w - lo), width);
}

static Expr extract_concat(ExprPool *p, Expr e, unsigned lo, unsigned width) {
  Expr h = expr_arg(p, e, 0), l = expr_arg(p, e, 1);
  unsigned w = expr_width(p, l);
  if (lo >= w)
    return expr_extract(p, h, lo - w, width);
  if (lo + width <= w)
    return expr_extract(p, l, lo, width);
  return expr_concat(p, expr_extract(p, h, 0, lo + width - w),
                     expr_extract(p, l, lo, w - lo));
}

// Does cutting this operand make it smaller?
static bool shrinks(const ExprPool *p, Expr e) {
  ExprOp op = expr_op(p, e);
  return op == EXPR_CONST || op == EXPR_ZEXT || op == EXPR_SEXT ||
         op == EXPR_CONCAT;
}

// Low bits of a sum or product depend on low bits only; bitwise operators
// work on any range.
static Expr narrow_operator(ExprPool *p, Expr e, unsigned lo, unsigned width) {
  static const struct {
    ExprOp op;
    bool anywhere;
    ExprRule *build;
  } rows[] = {
      {EXPR_ADD, false, expr_add}, {EXPR_SUB, false, expr_sub},
      {EXPR_MUL, false, expr_mul}, {EXPR_AND, true, expr_and},
      {EXPR_OR, true, expr_or},    {EXPR_XOR, true, expr_xor},
  };
  Expr a = expr_arg(p, e, 0), b = expr_arg(p, e, 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_op(p, e, rows[i].op) && (lo == 0 || rows[i].anywhere) &&
        (shrinks(p, a) || shrinks(p, b)))
      return rows[i].build(p, expr_extract(p, a, lo, width),
                           expr_extract(p, b, lo, width));
  return 0;
}

// Rules that rebuild operands go only so deep: a checksum of a thousand steps
// is not built a second time for its low byte.
static Expr narrow_guarded(ExprPool *p, Expr e, unsigned lo, unsigned width) {
  if (p->rest->depth >= 8)
    return 0;
  p->rest->depth++;
  Expr r = is_op(p, e, EXPR_NOT)
               ? expr_not(p, expr_extract(p, expr_arg(p, e, 0), lo, width))
               : narrow_operator(p, e, lo, width);
  p->rest->depth--;
  return r;
}

static Expr extract_ite(ExprPool *p, Expr e, unsigned lo, unsigned width) {
  Range range = {lo, width};
  Expr r = expr_map_leaves(p, e, width == 1 ? EXPR_MAX_LEAVES : 4,
                           extract_const, &range);
  if (r)
    return r;
  Expr a = expr_arg(p, e, 1), b = expr_arg(p, e, 2);
  if (!shrinks(p, a) || !shrinks(p, b))
    return 0;
  return expr_ite(p, expr_arg(p, e, 0), expr_extract(p, a, lo, width),
                  expr_extract(p, b, lo, width));
}

static Expr simplify_extract(ExprPool *p, Expr a, unsigned lo, unsigned width) {
  Range range = {lo, width};
  switch (expr_op(p, a)) {
  case EXPR_EXTRACT:
    return expr_extract(p, expr_arg(p, a, 0), expr_arg(p, a, 1) + lo, width);
  case EXPR_ZEXT:
    return extract_zext(p, expr_arg(p, a, 0), lo, width);
  case EXPR_SEXT:
    return extract_sext(p, expr_arg(p, a, 0), lo, width);
  case EXPR_CONCAT:
    return extract_concat(p, a, lo, width);
  case EXPR_ITE:
    return extract_ite(p, a, lo, width);
  case EXPR_TABLE:
    return expr_map_table(p, a, EXPR_EXTRACT, width, lo, extract_const, &range);
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR:
  case EXPR_NOT:
    return narrow_guarded(p, a, lo, width);
  default:
    return 0;
  }
}

Expr expr_extract(ExprPool *p, Expr a, unsigned lo, unsigned width) {
  assert(is_bv(p, a) && width >= 1 && lo + width <= expr_width(p, a));
  if (width == expr_width(p, a))
    return a;
  Expr r = simplifies(p) && !expr_is_const(p, a)
               ? simplify_extract(p, a, lo, width)
               : 0;
  return r ? r : expr_make(p, EXPR_EXTRACT, expr_bv(width), a, lo, 0);
}

Expr expr_byte(ExprPool *p, Expr a, unsigned i) {
  return expr_extract(p, a, 8 * i, 8);
}

Expr expr_trunc(ExprPool *p, Expr a, unsigned width) {
  return expr_extract(p, a, 0, width);
}

// --- concat -----------------------------------------------------------------

// x[hi..k], x[k-1..lo] -> x[hi..lo]; 0 if they are not neighbours.
static Expr join_extracts(ExprPool *p, Expr h, Expr l) {
  if (!is_op(p, h, EXPR_EXTRACT))
    return 0;
  Expr x = expr_arg(p, h, 0);
  unsigned lo = expr_arg(p, h, 1), w = expr_width(p, h), wl = expr_width(p, l);
  if (!is_op(p, l, EXPR_EXTRACT) || expr_arg(p, l, 0) != x ||
      expr_arg(p, l, 1) + wl != lo)
    return 0;
  return expr_extract(p, x, expr_arg(p, l, 1), w + wl);
}

// Is every bit of `h` the sign of `l`?
static bool repeats_sign(const ExprPool *p, Expr h, Expr l) {
  if (is_op(p, h, EXPR_SEXT))
    h = expr_arg(p, h, 0);
  if (is_op(p, l, EXPR_SEXT))
    l = expr_arg(p, l, 0);
  if (expr_width(p, h) != 1)
    return false;
  unsigned top = expr_width(p, l) - 1;
  if (is_op(p, h, EXPR_EXTRACT) && expr_arg(p, h, 0) == l)
    return expr_arg(p, h, 1) == top;
  // l = x[k..0]: its sign is bit k of x
  return is_op(p, h, EXPR_EXTRACT) && is_op(p, l, EXPR_EXTRACT) &&
         expr_arg(p, h, 0) == expr_arg(p, l, 0) &&
         expr_arg(p, h, 1) == expr_arg(p, l, 1) + top;
}

static Expr simplify_concat(ExprPool *p, Expr h, Expr l) {
  unsigned w = expr_width(p, h) + expr_width(p, l);
  if (is_value(p, h, 0))
    return expr_zext(p, l, w);
  if (is_op(p, h, EXPR_CONCAT))
    return expr_concat(p, expr_arg(p, h, 0),
                       expr_concat(p, expr_arg(p, h, 1), l));
  if (is_op(p, h, EXPR_ZEXT))
    return expr_zext(p, expr_concat(p, expr_arg(p, h, 0), l), w);
  if (repeats_sign(p, h, l))
    return expr_sext(p, l, w);
  Expr r = join_extracts(p, h, l);
  if (r || !is_op(p, l, EXPR_CONCAT))
    return r;
  Expr first = expr_arg(p, l, 0), rest = expr_arg(p, l, 1);
  if (expr_is_const(p, h) && expr_is_const(p, first))
    r = expr_make(p, EXPR_CONCAT,
                  expr_bv(expr_width(p, h) + expr_width(p, first)), h, first,
                  0);
  else
    r = join_extracts(p, h, first);
  return r ? expr_concat(p, r, rest) : 0;
}

Expr expr_concat(ExprPool *p, Expr high, Expr low) {
  assert(is_bv(p, high) && is_bv(p, low));
  unsigned w = expr_width(p, high) + expr_width(p, low);
  assert(w <= 64);
  return make_by_rule(p, EXPR_CONCAT, expr_bv(w), simplify_concat, high, low);
}

// --- extension --------------------------------------------------------------

typedef struct {
  ExprOp op;
  unsigned width;
} Extension;

static Expr extend(ExprPool *p, ExprOp op, Expr a, unsigned width);

static Expr extend_const(ExprPool *p, Expr k, const void *arg) {
  const Extension *e = arg;
  return extend(p, e->op, k, e->width);
}

// What is zero-extended has no sign: both extensions go on with zeros.
static Expr simplify_extension(ExprPool *p, ExprOp op, Expr a, unsigned width) {
  if (is_op(p, a, op) || is_op(p, a, EXPR_ZEXT))
    return extend(p, expr_op(p, a), expr_arg(p, a, 0), width);
  Extension e = {op, width};
  return expr_map_leaves(p, a, 4, extend_const, &e);
}

static Expr extend(ExprPool *p, ExprOp op, Expr a, unsigned width) {
  assert(is_bv(p, a) && width >= expr_width(p, a) && width <= 64);
  if (width == expr_width(p, a))
    return a;
  bool rules = simplifies(p) && !expr_is_const(p, a);
  Expr r = rules ? simplify_extension(p, op, a, width) : 0;
  return r ? r : expr_make(p, op, expr_bv(width), a, 0, 0);
}

Expr expr_zext(ExprPool *p, Expr a, unsigned width) {
  return extend(p, EXPR_ZEXT, a, width);
}

Expr expr_sext(ExprPool *p, Expr a, unsigned width) {
  return extend(p, EXPR_SEXT, a, width);
}
