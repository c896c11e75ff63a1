// Random bit-vector expressions, built the same way in several pools, for the
// tests of expressions and solvers. The same seed gives the same expressions.
#ifndef CULPRIT_TESTS_UNIT_RANDOM_EXPR_H
#define CULPRIT_TESTS_UNIT_RANDOM_EXPR_H

#include "expr/expr.h"

typedef struct {
  uint64_t state;
} Random;

static inline uint64_t random_bits(Random *r) {
  r->state += 0x9e3779b97f4a7c15ull;
  uint64_t z = r->state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

static inline uint32_t random_below(Random *r, uint32_t n) {
  return (uint32_t)(random_bits(r) >> 33) % n;
}

// Mostly numbers that are special to somebody.
static inline uint64_t random_value(Random *r) {
  uint64_t v = random_bits(r);
  switch (random_below(r, 8)) {
  case 0:
    return 0;
  case 1:
    return ~0ull;
  case 2:
    return 1ull << (v & 63);
  case 3:
    return (1ull << (v & 63)) - 1;
  case 4:
    return v & 15;
  case 5:
    return '0' + v % 10;
  default:
    return v;
  }
}

#define RANDOM_POOLS 2
#define RANDOM_MAX 64
typedef struct {
  Random random;
  ExprPool *pool[RANDOM_POOLS];
  Expr made[RANDOM_MAX][RANDOM_POOLS];
  unsigned n, vars;
  bool cheap; // no products and quotients of two unknowns
} Forest;

static inline void forest_add(Forest *f, const Expr e[RANDOM_POOLS]) {
  memcpy(f->made[f->n++], e, sizeof f->made[0]);
}

// `vars` variables of 8, or now and then other, bits.
static inline void forest_init(Forest *f, uint64_t seed, unsigned vars,
                               bool bytes_only) {
  static const unsigned widths[] = {8, 8, 8, 16, 32, 64, 1, 5};
  f->random.state = seed;
  f->n = 0;
  f->vars = vars;
  f->cheap = false;
  for (int i = 0; i < RANDOM_POOLS; i++)
    f->pool[i] = expr_pool_new();
  for (unsigned v = 0; v < vars; v++) {
    unsigned w = bytes_only ? 8 : widths[random_below(&f->random, 8)];
    uint64_t value = random_value(&f->random);
    Expr e[RANDOM_POOLS];
    const char name[] = {(char)('a' + v % 26), 0};
    for (int i = 0; i < RANDOM_POOLS; i++)
      e[i] = expr_input(f->pool[i],
                        expr_new_var(f->pool[i], name, expr_bv(w), value));
    forest_add(f, e);
  }
}

static inline void forest_free(Forest *f) {
  for (int i = 0; i < RANDOM_POOLS; i++)
    expr_pool_free(f->pool[i]);
}

static inline Expr fit_width(ExprPool *p, Expr e, unsigned width, bool sign) {
  if (expr_width(p, e) >= width)
    return expr_trunc(p, e, width);
  return sign ? expr_sext(p, e, width) : expr_zext(p, e, width);
}

static const ExprOp random_ops[] = {
    EXPR_ADD,  EXPR_SUB,  EXPR_MUL,   EXPR_UDIV,    EXPR_UREM,   EXPR_SDIV,
    EXPR_SREM, EXPR_AND,  EXPR_OR,    EXPR_XOR,     EXPR_SHL,    EXPR_LSHR,
    EXPR_ASHR, EXPR_ULT,  EXPR_SLT,   EXPR_EQ,      EXPR_ITE,    EXPR_NOT,
    EXPR_NEG,  EXPR_ZEXT, EXPR_SEXT,  EXPR_EXTRACT, EXPR_CONCAT, EXPR_EQ,
    EXPR_ULT,  EXPR_ITE,  EXPR_TABLE, EXPR_AND,     EXPR_OR,
};

static inline Expr random_table(ExprPool *p, Expr index, unsigned width,
                                uint64_t seed) {
  uint64_t entries[256];
  Random r = {seed % 5};
  for (int i = 0; i < 256; i++)
    entries[i] = random_below(&r, 4) * 0x1248;
  return expr_table(p, expr_new_table(p, width, entries, seed & 1 ? 256 : 100),
                    index);
}

// One operator by its number; `k` is whatever immediate it needs.
static inline Expr build_op(ExprPool *p, ExprOp op, Expr a, Expr b, Expr c,
                            uint64_t k) {
  unsigned w = expr_width(p, a);
  switch (op) {
  case EXPR_ADD:
    return expr_add(p, a, b);
  case EXPR_SUB:
    return expr_sub(p, a, b);
  case EXPR_MUL:
    return expr_mul(p, a, b);
  case EXPR_UDIV:
    return expr_udiv(p, a, b);
  case EXPR_UREM:
    return expr_urem(p, a, b);
  case EXPR_SDIV:
    return expr_sdiv(p, a, b);
  case EXPR_SREM:
    return expr_srem(p, a, b);
  case EXPR_AND:
    return expr_and(p, a, b);
  case EXPR_OR:
    return expr_or(p, a, b);
  case EXPR_XOR:
    return expr_xor(p, a, b);
  case EXPR_SHL:
    return expr_shl(p, a, b);
  case EXPR_LSHR:
    return expr_lshr(p, a, b);
  case EXPR_ASHR:
    return expr_ashr(p, a, b);
  case EXPR_ULT:
    return k & 1 ? expr_ult(p, a, b) : expr_ule(p, a, b);
  case EXPR_SLT:
    return k & 1 ? expr_slt(p, a, b) : expr_sle(p, a, b);
  case EXPR_EQ:
    return k & 1 ? expr_eq(p, a, b) : expr_ne(p, a, b);
  case EXPR_ITE:
    return expr_ite(p, c, a, b);
  case EXPR_NOT:
    return expr_not(p, a);
  case EXPR_NEG:
    return expr_neg(p, a);
  case EXPR_ZEXT:
    return expr_zext(p, a, w + k % (65 - w));
  case EXPR_SEXT:
    return expr_sext(p, a, w + k % (65 - w));
  case EXPR_EXTRACT: {
    unsigned lo = k % w;
    return expr_extract(p, a, lo, 1 + (k >> 8) % (w - lo));
  }
  case EXPR_CONCAT:
    return 2 * w <= 64 ? expr_concat(p, a, b) : a;
  case EXPR_TABLE:
    return random_table(p, fit_width(p, a, 8, false), 1 + k % 16, k >> 8);
  default:
    return a;
  }
}

static inline bool is_costly(ExprOp op) {
  return op == EXPR_MUL || (op >= EXPR_UDIV && op <= EXPR_SREM);
}

// Adds one more expression over those already there. Operands are now and
// then constants.
static inline void forest_grow(Forest *f) {
  Random *r = &f->random;
  ExprOp op = random_ops[random_below(r, sizeof random_ops / sizeof(ExprOp))];
  unsigned ia = random_below(r, f->n), ib = random_below(r, f->n);
  unsigned ic = random_below(r, f->n);
  bool fixed = random_below(r, 3) == 0 || (f->cheap && is_costly(op));
  bool sign = random_below(r, 2);
  uint64_t value = random_value(r), k = random_bits(r);
  Expr e[RANDOM_POOLS];
  for (int i = 0; i < RANDOM_POOLS; i++) {
    ExprPool *p = f->pool[i];
    Expr a = f->made[ia][i], c = fit_width(p, f->made[ic][i], 1, false);
    unsigned w = expr_width(p, a);
    if (f->cheap && is_costly(op) && w > 16)
      a = expr_trunc(p, a, w = 16);
    Expr b =
        fixed ? expr_const(p, w, value) : fit_width(p, f->made[ib][i], w, sign);
    e[i] = build_op(p, op, a, b, c, k);
  }
  forest_add(f, e);
}

// A condition made of the latest expression.
static inline void forest_condition(Forest *f, Expr out[RANDOM_POOLS]) {
  uint64_t value = random_value(&f->random), k = random_bits(&f->random);
  for (int i = 0; i < RANDOM_POOLS; i++) {
    ExprPool *p = f->pool[i];
    Expr a = f->made[f->n - 1][i], b = expr_const(p, expr_width(p, a), value);
    static const ExprOp ops[] = {EXPR_EQ, EXPR_ULT, EXPR_SLT};
    out[i] = build_op(p, ops[k % 3], a, b, 0, k >> 8);
  }
}

#endif
