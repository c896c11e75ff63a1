// Unit tests of src/expr: expressions, their rules, values and texts.
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "expr/expr_eval.h"
#include "expr/expr_make.h"
#include "expr/support.h"
#include "expr/walk.h"
#include "random_expr.h"

static ExprPool *pool;
static VarId in;

// A pool with the input "4 a" in in[0..2], and a 32-bit n = 7.
static void with_input(void) {
  pool = expr_pool_new();
  in = expr_new_bytes(pool, "in", (const uint8_t *)"4 a", 3);
}

static Expr byte(unsigned i) { return expr_input(pool, in + i); }
static Expr k(unsigned width, uint64_t v) { return expr_const(pool, width, v); }
static Expr word(unsigned i) { return expr_zext(pool, byte(i), 32); }

static void assert_shows(Expr e, const char *text) {
  Str s = {0};
  expr_show_outcome(pool, e, true, 0, &s);
  assert_string_equal(str_text(&s), text);
  str_release(&s);
}

// --- nodes ------------------------------------------------------------------

TEST(equal_expressions_are_one_node) {
  with_input();
  assert_int_equal(byte(1), byte(1));
  Expr a = expr_add(pool, byte(0), byte(1));
  assert_int_equal(a, expr_add(pool, byte(1), byte(0)));
  assert_int_not_equal(a, expr_sub(pool, byte(0), byte(1)));
  assert_int_not_equal(k(8, 1), k(16, 1));
  expr_pool_free(pool);
}

TEST(a_node_knows_its_value_in_the_run) {
  with_input();
  Expr sum = expr_add(pool, word(0), expr_mul(pool, word(2), k(32, 10)));
  assert_int_equal(expr_value(pool, sum), '4' + 'a' * 10);
  Expr c = expr_eq(pool, word(2), k(32, 'a'));
  assert_int_equal(expr_value(pool, c), 1);
  expr_pool_free(pool);
}

TEST(a_million_nodes_keep_their_identity_and_stay_small) {
  with_input();
  Expr e = word(0), half = 0;
  for (int i = 0; i < 1000000; i++) {
    e = expr_xor(pool, expr_mul(pool, e, k(32, 33)), word(1 + i % 2));
    half = i == 499999 ? e : half;
  }
  Expr again = word(0);
  for (int i = 0; i < 500000; i++)
    again = expr_xor(pool, expr_mul(pool, again, k(32, 33)), word(1 + i % 2));
  assert_int_equal(again, half);
  assert_true(pool->len > 2000000 && pool->len < 2000100);
  assert_true(expr_pool_bytes(pool) < (size_t)pool->len * 44);
  assert_int_equal(support_size(pool, expr_support(pool, e)), 3);
  expr_pool_free(pool);
}

TEST(operands_are_older_than_their_users_and_walks_see_each_once) {
  with_input();
  Expr a = expr_add(pool, word(0), word(1));
  Expr roots[2] = {expr_mul(pool, a, a), expr_ult(pool, a, word(2))};
  ExprMap seen = {0};
  ExprList all = {0};
  assert_true(expr_walk(pool, roots, 2, 0, &seen, &all));
  for (size_t i = 0; i < all.len; i++) {
    assert_true(i == 0 || all.items[i - 1] < all.items[i]);
    const ExprNode *n = expr_node(pool, all.items[i]);
    for (unsigned j = 0; j < expr_arity(n->op); j++)
      assert_true(n->arg[j] < all.items[i]);
  }
  // in[2] is compared after extension was dropped: three bytes, two
  // extensions, the third one too, the sum, and the roots.
  assert_int_equal(all.len, 9);
  size_t before = all.len;
  expr_walk(pool, roots, 2, 0, &seen, &all);
  assert_int_equal(all.len, before);
  expr_map_clear(&seen);
  assert_false(expr_walk(pool, roots, 2, 3, &seen, &all));
  expr_map_release(&seen);
  array_release(&all);
  expr_pool_free(pool);
}

TEST(expression_maps_forget_everything_at_once) {
  ExprMap m = {0};
  assert_null(expr_map_get(&m, 7));
  for (uint32_t i = 1; i <= 1000; i++)
    expr_map_put(&m, i, i * 2);
  for (uint32_t i = 1; i <= 1000; i++)
    assert_int_equal(*expr_map_get(&m, i), i * 2);
  assert_null(expr_map_get(&m, 1001));
  expr_map_clear(&m);
  assert_null(expr_map_get(&m, 7));
  m.generation = UINT32_MAX;
  expr_map_put(&m, 7, 1);
  expr_map_clear(&m);
  assert_null(expr_map_get(&m, 7));
  expr_map_release(&m);
}

// --- rules, one by one ------------------------------------------------------

TEST(comparisons_reach_the_input_byte) {
  with_input();
  Expr is_a = expr_eq(pool, byte(2), k(8, 'a'));
  assert_int_equal(expr_eq(pool, word(2), k(32, 'a')), is_a);
  assert_int_equal(expr_eq(pool, expr_sext(pool, byte(2), 32), k(32, 'a')),
                   is_a);
  assert_int_equal(
      expr_eq(pool, expr_add(pool, word(2), k(32, 5)), k(32, 'a' + 5)), is_a);
  assert_int_equal(
      expr_eq(pool, expr_sub(pool, k(32, 200), word(2)), k(32, 200 - 'a')),
      is_a);
  assert_int_equal(
      expr_eq(pool, expr_mul(pool, byte(2), k(8, 3)), k(8, 3 * 'a')), is_a);
  Expr flag = expr_zext(pool, is_a, 32);
  assert_int_equal(expr_ne(pool, flag, k(32, 0)), is_a);
  assert_int_equal(expr_eq(pool, word(2), k(32, 256)), expr_bool(pool, false));
  expr_pool_free(pool);
}

TEST(comparing_a_choice_of_constants_gives_its_condition) {
  with_input();
  Expr c = expr_eq(pool, byte(0), k(8, '4'));
  Expr d = expr_eq(pool, byte(1), k(8, ' '));
  Expr x = expr_ite(pool, c, k(32, 5), k(32, 9));
  assert_int_equal(expr_eq(pool, x, k(32, 5)), c);
  assert_int_equal(expr_eq(pool, x, k(32, 9)), expr_not(pool, c));
  assert_int_equal(expr_eq(pool, x, k(32, 6)), expr_bool(pool, false));
  assert_int_equal(expr_slt(pool, x, k(32, 7)), c);
  Expr y = expr_ite(pool, d, k(32, 5), word(2));
  assert_int_equal(expr_eq(pool, y, k(32, 5)),
                   expr_or(pool, d, expr_eq(pool, byte(2), k(8, 5))));
  expr_pool_free(pool);
}

// strcmp(in, "4 a") as the replay builds it.
static Expr lexicographic(const char *with, int n) {
  Expr r = k(32, 0);
  for (int i = n - 1; i >= 0; i--) {
    Expr other = k(8, (uint8_t)with[i]);
    Expr sign = expr_ite(pool, expr_ult(pool, byte(i), other),
                         k(32, (uint64_t)-1), k(32, 1));
    r = expr_ite(pool, expr_eq(pool, byte(i), other), r, sign);
  }
  return r;
}

TEST(strcmp_equal_zero_is_a_conjunction_over_the_bytes) {
  with_input();
  Expr cmp = lexicographic("4 a", 3);
  assert_int_equal(expr_value(pool, cmp), 0);
  Expr all = expr_eq(pool, cmp, k(32, 0));
  assert_shows(all, "in[0] == '4' && in[2] == 'a' && in[1] == ' '");
  expr_pool_free(pool);
}

TEST(bytes_put_together_again_are_the_value_itself) {
  with_input();
  Expr x = expr_input(pool, expr_new_var(pool, "n", expr_bv(32), 7));
  x = expr_mul(pool, x, x);
  Expr y = expr_byte(pool, x, 0);
  for (unsigned i = 1; i < 4; i++)
    y = expr_concat(pool, expr_byte(pool, x, i), y);
  assert_int_equal(x, y);
  Expr wide = expr_sext(pool, byte(0), 32), z = expr_byte(pool, wide, 0);
  for (unsigned i = 1; i < 4; i++)
    z = expr_concat(pool, expr_byte(pool, wide, i), z);
  assert_int_equal(wide, z);
  // p[0] | p[1] << 8
  Expr le = expr_or(pool, word(0), expr_shl(pool, word(1), k(32, 8)));
  assert_int_equal(le,
                   expr_zext(pool, expr_concat(pool, byte(1), byte(0)), 32));
  assert_int_equal(expr_byte(pool, le, 1), byte(1));
  Expr sum = expr_add(pool, word(0), expr_shl(pool, word(1), k(32, 8)));
  assert_int_equal(sum, le);
  expr_pool_free(pool);
}

TEST(constants_of_sums_gather) {
  with_input();
  Expr x = word(0), y = word(1);
  Expr a = expr_add(pool, expr_add(pool, x, k(32, 4)), y);
  a = expr_sub(pool, expr_add(pool, a, k(32, 10)), k(32, 14));
  assert_int_equal(a, expr_add(pool, x, y));
  Expr p0 = expr_add(pool, x, k(32, 4)), p1 = expr_add(pool, x, k(32, 20));
  assert_int_equal(expr_sub(pool, p1, p0), k(32, 16));
  expr_pool_free(pool);
}

TEST(a_ctype_lookup_becomes_a_set_of_bytes) {
  with_input();
  uint64_t ctype[256] = {0};
  for (int c = '0'; c <= '9'; c++)
    ctype[c] = 0x800 | 0x8;
  for (int c = 'a'; c <= 'f'; c++)
    ctype[c] = 0x1000 | 0x8;
  ExprTable t = expr_new_table(pool, 16, ctype, 256);
  assert_int_equal(t, expr_new_table(pool, 16, ctype, 256));
  Expr flags = expr_table(pool, t, expr_zext(pool, byte(2), 64));
  Expr digit = expr_nonzero(
      pool, expr_and(pool, expr_zext(pool, flags, 32), k(32, 0x800)));
  assert_int_equal(expr_value(pool, digit), 0);
  assert_int_equal(expr_op(pool, digit), EXPR_TABLE);
  assert_shows(digit, "in[2] in {'0'..'9'}");
  assert_shows(expr_not(pool, digit), "in[2] not in {'0'..'9'}");
  Expr hex = expr_ne(pool, expr_and(pool, flags, k(16, 8)), k(16, 0));
  assert_shows(hex, "in[2] in {'0'..'9', 'a'..'f'}");
  expr_pool_free(pool);
}

TEST(a_table_is_zero_beyond_its_end) {
  with_input();
  uint64_t entries[3] = {7, 7, 7};
  ExprTable t = expr_new_table(pool, 8, entries, 3);
  Expr e = expr_table(pool, t, byte(0));
  assert_int_equal(expr_value(pool, e), 0); // '4' is beyond
  assert_false(expr_is_const(pool, e));
  ExprEval ev = {.pool = pool};
  uint64_t v;
  expr_eval_set(&ev, in, 2);
  assert_true(expr_eval(&ev, e, &v) && v == 7);
  Expr inverted = expr_not(pool, expr_eq(pool, e, k(8, 7)));
  assert_true(expr_eval(&ev, inverted, &v) && v == 0);
  expr_eval_set(&ev, in, 3);
  assert_true(expr_eval(&ev, inverted, &v) && v == 1);
  expr_eval_release(&ev);
  expr_pool_free(pool);
}

TEST(nested_choices_on_one_condition_collapse) {
  with_input();
  Expr c = expr_ult(pool, byte(0), byte(1)),
       d = expr_ult(pool, byte(1), byte(2));
  Expr inner = expr_ite(pool, c, word(0), word(1));
  assert_int_equal(expr_ite(pool, c, inner, word(2)),
                   expr_ite(pool, c, word(0), word(2)));
  assert_int_equal(expr_ite(pool, d, inner, word(1)),
                   expr_ite(pool, expr_and(pool, d, c), word(0), word(1)));
  assert_int_equal(expr_ite(pool, expr_not(pool, c), word(0), word(1)),
                   expr_ite(pool, c, word(1), word(0)));
  expr_pool_free(pool);
}

TEST(two_equalities_with_one_byte_contradict_or_absorb) {
  with_input();
  Expr a = expr_eq(pool, byte(0), k(8, 'a')),
       b = expr_eq(pool, byte(0), k(8, 'b'));
  assert_int_equal(expr_and(pool, a, b), expr_bool(pool, false));
  assert_int_equal(expr_and(pool, a, expr_not(pool, b)), a);
  assert_int_equal(expr_or(pool, a, expr_and(pool, a, byte(1) ? b : a)), a);
  expr_pool_free(pool);
}

// --- rules, at random -------------------------------------------------------

static void compare_under_assignments(Forest *f, int rounds) {
  ExprEval ev[RANDOM_POOLS];
  for (int i = 0; i < RANDOM_POOLS; i++)
    ev[i] = (ExprEval){.pool = f->pool[i]};
  for (int round = 0; round < rounds; round++) {
    for (VarId v = 0; v < f->vars; v++) {
      uint64_t x = random_value(&f->random) &
                   expr_mask(expr_var_sort(f->pool[0], v).width);
      for (int i = 0; i < RANDOM_POOLS; i++)
        expr_eval_set(&ev[i], v, x);
    }
    for (unsigned e = 0; e < f->n; e++) {
      uint64_t x, y;
      assert_true(expr_eval(&ev[0], f->made[e][0], &x));
      assert_true(expr_eval(&ev[1], f->made[e][1], &y));
      assert_int_equal(x, y);
    }
  }
  for (int i = 0; i < RANDOM_POOLS; i++)
    expr_eval_release(&ev[i]);
}

TEST(simplification_preserves_every_value) {
  size_t simplified = 0, plain = 0;
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    Forest f;
    forest_init(&f, seed, 1 + seed % 4, false);
    f.pool[1]->rest->simplify = false;
    while (f.n < 40)
      forest_grow(&f);
    for (unsigned e = 0; e < f.n; e++) {
      assert_int_equal(expr_width(f.pool[0], f.made[e][0]),
                       expr_width(f.pool[1], f.made[e][1]));
      assert_int_equal(expr_value(f.pool[0], f.made[e][0]),
                       expr_value(f.pool[1], f.made[e][1]));
    }
    compare_under_assignments(&f, 12);
    simplified += f.pool[0]->len;
    plain += f.pool[1]->len;
    forest_free(&f);
  }
  assert_true(simplified > 0 && plain > 0);
}

// --- operators against C ----------------------------------------------------

// What the operator means, said once more and in another way.
static uint64_t expected(ExprOp op, unsigned w, uint64_t a, uint64_t b) {
  __int128 one = 1;
  __int128 sa = a >> (w - 1) & 1 ? (__int128)a - (one << w) : a;
  __int128 sb = b >> (w - 1) & 1 ? (__int128)b - (one << w) : b;
  __int128 r = 0;
  switch (op) {
  case EXPR_ADD:
    r = (__int128)a + b;
    break;
  case EXPR_SUB:
    r = (__int128)a - b;
    break;
  case EXPR_MUL:
    r = (__int128)((unsigned __int128)a * b);
    break;
  case EXPR_UDIV:
    r = b ? (__int128)a / b : -1;
    break;
  case EXPR_UREM:
    r = b ? (__int128)a % b : a;
    break;
  case EXPR_SDIV:
    r = b ? sa / sb : sa < 0 ? 1 : -1;
    break;
  case EXPR_SREM:
    r = b ? sa % sb : sa;
    break;
  case EXPR_SHL:
    r = a;
    for (uint64_t i = 0; i < b && i < 64; i++)
      r = r * 2 & expr_mask(w);
    break;
  case EXPR_LSHR:
    r = a;
    for (uint64_t i = 0; i < b && i < 64; i++)
      r /= 2;
    break;
  case EXPR_ASHR:
    r = sa;
    for (uint64_t i = 0; i < b && i < 64; i++)
      r = (r - (r & 1)) / 2;
    break;
  case EXPR_ULT:
    return a < b;
  case EXPR_SLT:
    return sa < sb;
  case EXPR_EQ:
    return a == b;
  case EXPR_AND:
    r = a & b;
    break;
  case EXPR_OR:
    r = a | b;
    break;
  case EXPR_XOR:
    r = a ^ b;
    break;
  default:
    fail();
  }
  return (uint64_t)r & expr_mask(w);
}

TEST(every_bit_vector_operator_computes_what_c_computes) {
  static const ExprOp ops[] = {EXPR_ADD,  EXPR_SUB,  EXPR_MUL,  EXPR_UDIV,
                               EXPR_UREM, EXPR_SDIV, EXPR_SREM, EXPR_SHL,
                               EXPR_LSHR, EXPR_ASHR, EXPR_ULT,  EXPR_SLT,
                               EXPR_EQ,   EXPR_AND,  EXPR_OR,   EXPR_XOR};
  Random r = {42};
  for (int i = 0; i < 20000; i++) {
    ExprOp op = ops[i % (int)(sizeof ops / sizeof *ops)];
    unsigned w = 1 + random_below(&r, 64);
    uint64_t a = random_value(&r) & expr_mask(w);
    uint64_t b = random_value(&r) & expr_mask(w);
    b = random_below(&r, 2) ? b % (w + 2) & expr_mask(w) : b;
    ExprPool *p = expr_pool_new();
    Expr x = expr_input(p, expr_new_var(p, "x", expr_bv(w), a));
    Expr y = expr_input(p, expr_new_var(p, "y", expr_bv(w), b));
    uint64_t want = expected(op, w, a, b);
    assert_int_equal(expr_value(p, build_op(p, op, x, y, 0, 1)), want);
    Expr ca = expr_const(p, w, a), cb = expr_const(p, w, b);
    Expr folded = build_op(p, op, ca, cb, 0, 1);
    assert_true(expr_is_const(p, folded));
    assert_int_equal(expr_value(p, folded), want);
    assert_int_equal(expr_value(p, build_op(p, op, x, cb, 0, 1)), want);
    assert_int_equal(expr_value(p, build_op(p, op, ca, y, 0, 1)), want);
    expr_pool_free(p);
  }
}

static Expr real(double d) { return expr_const_double(pool, d); }
static Expr single(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return expr_const_fp(pool, 32, bits);
}
static double real_value(Expr e) {
  uint64_t bits = expr_value(pool, e);
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

TEST(floats_compute_what_c_computes) {
  pool = expr_pool_new();
  Random r = {7};
  for (int i = 0; i < 2000; i++) {
    double a = (double)(int64_t)random_value(&r) / (1 + random_below(&r, 9));
    double b = (double)(int64_t)random_value(&r) * 0.37;
    assert_true(real_value(expr_fadd(pool, real(a), real(b))) == a + b);
    assert_true(real_value(expr_fsub(pool, real(a), real(b))) == a - b);
    assert_true(real_value(expr_fmul(pool, real(a), real(b))) == a * b);
    assert_true(b == 0 ||
                real_value(expr_fdiv(pool, real(a), real(b))) == a / b);
    assert_int_equal(expr_value(pool, expr_flt(pool, real(a), real(b))), a < b);
    float f = (float)a, g = (float)b, sum = f + g, product = f * g;
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    Expr ef = single(f), eg = single(g);
    assert_int_equal(expr_value(pool, expr_fadd(pool, ef, eg)), bits);
    memcpy(&bits, &product, sizeof bits);
    assert_int_equal(expr_value(pool, expr_fmul(pool, ef, eg)), bits);
  }
  expr_pool_free(pool);
}

TEST(float_conversions_and_special_values) {
  pool = expr_pool_new();
  Expr nan = real(NAN), inf = real(INFINITY), big = real(1e30);
  assert_int_equal(expr_value(pool, expr_feq(pool, nan, nan)), 0);
  assert_int_equal(expr_value(pool, expr_eq(pool, nan, nan)), 1);
  assert_int_equal(expr_value(pool, expr_fnan(pool, nan)), 1);
  assert_int_equal(expr_value(pool, expr_eq(pool, real(0.0), real(-0.0))), 0);
  assert_int_equal(expr_value(pool, expr_feq(pool, real(0.0), real(-0.0))), 1);
  assert_int_equal(expr_value(pool, expr_sint_of_fp(pool, real(-3.9), 32)),
                   (uint32_t)-3);
  assert_int_equal(expr_value(pool, expr_sint_of_fp(pool, big, 64)), 0);
  assert_int_equal(expr_value(pool, expr_uint_of_fp(pool, inf, 8)), 0);
  assert_int_equal(expr_value(pool, expr_uint_of_fp(pool, real(255.5), 8)),
                   255);
  Expr x = expr_input(pool, expr_new_var(pool, "n", expr_bv(32), 9));
  assert_int_equal(expr_sint_of_fp(pool, expr_fp_of_sint(pool, x, 64), 32), x);
  // 2^24 + 1 does not survive in a float
  Expr y = expr_fp_of_sint(pool, expr_const(pool, 32, 16777217), 32);
  assert_int_equal(expr_value(pool, expr_sint_of_fp(pool, y, 32)), 16777216);
  assert_true(real_value(expr_fround(pool, real(2.5), ROUND_NEAREST_EVEN)) ==
              2);
  assert_true(real_value(expr_fround(pool, real(2.5), ROUND_NEAREST_AWAY)) ==
              3);
  assert_true(real_value(expr_fround(pool, real(-2.5), ROUND_DOWN)) == -3);
  assert_true(real_value(expr_fround(pool, real(-2.5), ROUND_ZERO)) == -2);
  assert_true(real_value(expr_fround(pool, real(2.1), ROUND_UP)) == 3);
  expr_pool_free(pool);
}

static Expr text(const char *s) { return expr_const_str(pool, s, strlen(s)); }

static Expr num(int64_t n) { return expr_const_int(pool, n); }

static int64_t int_value(Expr e) { return (int64_t)expr_value(pool, e); }

static void assert_text(Expr e, const char *want) {
  size_t n;
  const char *got = expr_text(pool, expr_value(pool, e), &n);
  assert_int_equal(n, strlen(want));
  assert_memory_equal(got, want, n);
}

TEST(strings_follow_smt_lib) {
  pool = expr_pool_new();
  Expr s = text("hello");
  assert_int_equal(int_value(expr_str_len(pool, s)), 5);
  assert_text(expr_str_concat(pool, s, text(" you")), "hello you");
  assert_text(expr_str_sub(pool, s, num(1), num(3)), "ell");
  assert_text(expr_str_sub(pool, s, num(3), num(99)), "lo");
  assert_text(expr_str_sub(pool, s, num(5), num(1)), "");
  assert_text(expr_str_sub(pool, s, num(-1), num(1)), "");
  assert_int_equal(int_value(expr_str_index(pool, s, text("l"), num(0))), 2);
  assert_int_equal(int_value(expr_str_index(pool, s, text("l"), num(4))), -1);
  assert_int_equal(int_value(expr_str_index(pool, s, text(""), num(5))), 5);
  assert_int_equal(int_value(expr_str_index(pool, s, text(""), num(6))), -1);
  assert_int_equal(expr_value(pool, expr_str_contains(pool, s, text("lo"))), 1);
  assert_int_equal(expr_value(pool, expr_str_prefix(pool, text("he"), s)), 1);
  assert_int_equal(expr_value(pool, expr_str_suffix(pool, text("he"), s)), 0);
  assert_int_equal(expr_value(pool, expr_str_suffix(pool, text("lo"), s)), 1);
  assert_int_equal(expr_value(pool, expr_str_lt(pool, s, text("help"))), 1);
  assert_int_equal(expr_value(pool, expr_str_lt(pool, s, text("hell"))), 0);
  assert_int_equal(int_value(expr_str_to_int(pool, text("0042"))), 42);
  assert_int_equal(int_value(expr_str_to_int(pool, text("-1"))), -1);
  assert_int_equal(int_value(expr_str_to_int(pool, text(""))), -1);
  assert_text(expr_str_of_int(pool, num(42)), "42");
  assert_text(expr_str_of_int(pool, num(-42)), "");
  expr_pool_free(pool);
}

TEST(an_integer_that_leaves_its_range_has_no_value) {
  pool = expr_pool_new();
  VarId v = expr_new_var(pool, "GET.n", expr_int_sort(), 5);
  Expr n = expr_input(pool, v), more = expr_add(pool, n, num(INT64_MAX - 10));
  Expr quotient = expr_sdiv(pool, num(10), n);
  ExprEval ev = {.pool = pool};
  uint64_t x;
  expr_eval_set(&ev, v, 10);
  assert_true(expr_eval(&ev, more, &x) && (int64_t)x == INT64_MAX);
  expr_eval_set(&ev, v, 11);
  assert_false(expr_eval(&ev, more, &x));
  assert_false(expr_eval(&ev, more, &x)); // still so
  expr_eval_set(&ev, v, (uint64_t)-3);
  assert_true(expr_eval(&ev, quotient, &x) && (int64_t)x == -3);
  expr_eval_set(&ev, v, 0);
  assert_false(expr_eval(&ev, quotient, &x));
  expr_eval_release(&ev);
  expr_pool_free(pool);
}

// --- variables, supports ----------------------------------------------------

TEST(variables_have_names_sorts_and_values) {
  pool = expr_pool_new();
  VarId none = expr_new_bytes(pool, "empty", NULL, 0);
  VarId a = expr_new_bytes(pool, "stdin", (const uint8_t *)"xy", 2);
  VarId b = expr_new_var(pool, "argv[1]", expr_bv(32), 77);
  VarId c = expr_new_str_var(pool, "GET.q", "a\0b", 3);
  assert_int_equal(none, a);
  assert_int_equal(expr_var_count(pool), 4);
  Str s = {0};
  expr_var_name(pool, a + 1, &s);
  str_addc(&s, ' ');
  expr_var_name(pool, b, &s);
  str_addc(&s, ' ');
  expr_var_name(pool, c, &s);
  assert_string_equal(str_text(&s), "stdin[1] argv[1] GET.q");
  assert_int_equal(expr_var_value(pool, a + 1), 'y');
  assert_int_equal(expr_var_value(pool, b), 77);
  assert_int_equal(expr_var_sort(pool, b).width, 32);
  size_t n;
  assert_memory_equal(expr_text(pool, expr_var_value(pool, c), &n), "a\0b", 3);
  assert_int_equal(n, 3);
  str_release(&s);
  expr_pool_free(pool);
}

TEST(supports_are_the_sets_a_plain_search_finds) {
  Random r = {3};
  pool = expr_pool_new();
  in = expr_new_bytes(pool, "in", NULL, 5000);
  Support sets[64];
  uint8_t *members = calloc(64, 5000);
  for (unsigned i = 0; i < 64; i++) {
    sets[i] = SUPPORT_EMPTY;
    unsigned a = random_below(&r, i + 1), b = random_below(&r, i + 1);
    unsigned v = random_below(&r, i % 3 ? 5000 : 80);
    Support one = expr_support(pool, byte(v));
    sets[i] = support_union(pool, sets[a], support_union(pool, one, sets[b]));
    for (int m = 0; m < 5000; m++)
      members[i * 5000 + m] = members[a * 5000 + m] | members[b * 5000 + m];
    members[i * 5000 + v] = 1;
  }
  for (unsigned i = 0; i < 64; i++) {
    uint32_t size = 0;
    for (uint32_t m = 0; m < 5000; m++) {
      assert_int_equal(support_has(pool, sets[i], m), members[i * 5000 + m]);
      size += members[i * 5000 + m];
    }
    assert_int_equal(support_size(pool, sets[i]), size);
    VarList list = {0};
    support_members(pool, sets[i], &list);
    assert_int_equal(list.len, size);
    for (size_t m = 0; m < list.len; m++)
      assert_true(members[i * 5000 + list.items[m]] &&
                  (m == 0 || list.items[m - 1] < list.items[m]));
    array_release(&list);
    for (unsigned j = 0; j < i; j++)
      assert_int_equal(sets[i] == sets[j],
                       !memcmp(members + i * 5000, members + j * 5000, 5000));
  }
  free(members);
  expr_pool_free(pool);
}

TEST(the_supports_of_a_long_checksum_share_their_memory) {
  pool = expr_pool_new();
  in = expr_new_bytes(pool, "in", NULL, 100000);
  Expr sum = k(32, 5381);
  for (unsigned i = 0; i < 100000; i++) {
    sum = expr_add(pool, expr_mul(pool, sum, k(32, 33)), word(i));
    expr_support(pool, sum);
  }
  assert_int_equal(support_size(pool, expr_support(pool, sum)), 100000);
  assert_true(expr_pool_bytes(pool) < 120u << 20);
  expr_pool_free(pool);
}

// Both sums of Adler-32 over the first `n` bytes.
static Expr adler(unsigned n) {
  Expr a = k(32, 1), b = k(32, 0), prime = k(32, 65521);
  for (unsigned i = 0; i < n; i++) {
    a = expr_urem(pool, expr_add(pool, a, word(i)), prime);
    b = expr_urem(pool, expr_add(pool, b, a), prime);
  }
  return expr_or(pool, expr_shl(pool, b, k(32, 16)), a);
}

TEST(a_checksum_that_is_written_and_read_back_is_itself) {
  pool = expr_pool_new();
  in = expr_new_bytes(pool, "in", (const uint8_t *)"some text", 9);
  Expr sum = adler(9), back = k(32, 0);
  for (unsigned i = 4; i-- > 0;) {
    Expr byte = expr_trunc(pool, expr_lshr(pool, sum, k(32, 8 * i)), 8);
    back = expr_or(pool, expr_shl(pool, back, k(32, 8)),
                   expr_zext(pool, byte, 32));
  }
  assert_int_equal(expr_value(pool, expr_eq(pool, sum, back)), 1);
  assert_true(expr_is_const(pool, expr_eq(pool, sum, back)));
  expr_pool_free(pool);
}

// --- texts ------------------------------------------------------------------

TEST(conditions_read_like_c) {
  with_input();
  assert_shows(expr_eq(pool, word(2), k(32, 'a')), "in[2] == 'a'");
  assert_shows(expr_ne(pool, word(2), k(32, '\n')), "in[2] != '\\n'");
  assert_shows(expr_slt(pool, word(0), word(1)), "in[0] < in[1]");
  assert_shows(expr_sle(pool, word(0), k(32, '9')), "in[0] <= '9'");
  assert_shows(expr_slt(pool, k(32, '0'), word(0)), "in[0] > '0'");
  Expr n = expr_input(pool, expr_new_var(pool, "n", expr_bv(32), 3));
  assert_shows(expr_slt(pool, n, k(32, 0)), "n < 0");
  assert_shows(expr_sle(pool, k(32, 0), n), "n >= 0");
  assert_shows(expr_eq(pool, n, k(32, (uint64_t)-1)), "n == -1");
  Expr sum = expr_mul(pool, expr_add(pool, n, k(32, (uint64_t)-48)), k(32, 10));
  assert_shows(expr_ult(pool, sum, n), "(n - 48) * 10 < n");
  Expr odd = expr_nonzero(pool, expr_and(pool, n, k(32, 1)));
  assert_shows(odd, "n & 0x1");
  assert_shows(expr_eq(pool, expr_and(pool, n, k(32, 5)), k(32, 4)),
               "(n & 5) == 4");
  Expr either = expr_or(pool, expr_eq(pool, n, k(32, 7)), odd);
  assert_shows(expr_and(pool, either, expr_ult(pool, byte(0), byte(1))),
               "in[0] < in[1] && (n & 0x1 || n == 7)");
  assert_shows(expr_ite(pool, odd, n, k(32, 2)), "n & 0x1 ? n : 2");
  expr_pool_free(pool);
}

TEST(strings_are_shown_quoted) {
  pool = expr_pool_new();
  Expr q = expr_input(pool, expr_new_str_var(pool, "GET.q", "x", 1));
  assert_shows(expr_eq(pool, q, text("a\"\n\x01")),
               "GET.q == \"a\\\"\\n\\x01\"");
  assert_shows(expr_slt(pool, expr_str_len(pool, q), num(10)),
               "strlen(GET.q) < 10");
  Expr outcome = expr_str_contains(pool, q, text("<"));
  Str s = {0};
  expr_show_outcome(pool, outcome, false, 0, &s);
  assert_string_equal(str_text(&s), "!contains(GET.q, \"<\")");
  str_release(&s);
  expr_pool_free(pool);
}

TEST(a_huge_expression_is_shown_short) {
  with_input();
  Expr e = word(0);
  for (int i = 0; i < 100000; i++)
    e = expr_mul(pool, expr_add(pool, e, word(i % 3)), e);
  Str s = {0};
  expr_show_outcome(pool, e, true, 200, &s);
  assert_true(s.len > 100 && s.len < 1000);
  assert_non_null(strstr(str_text(&s), "..."));
  str_release(&s);
  expr_pool_free(pool);
}
