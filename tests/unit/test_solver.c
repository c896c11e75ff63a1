// Unit tests of src/sym: slicing, the engines, and that they agree.
#include "test.h"

#include <stdlib.h>

#include "../tool_show.h"
#include "expr/expr_eval.h"
#include "expr/expr_make.h"
#include "random_expr.h"
#include "solve/gates.h"
#include "solve/slice.h"
#include "solve/solver.h"
#include "util/clock.h"

static ExprPool *pool;
static Solver *solver;
static VarId in;
static Model model;

static void begin(const char *input) {
  pool = expr_pool_new();
  in = expr_new_bytes(pool, "in", (const uint8_t *)input,
                      (uint32_t)strlen(input));
  solver = solver_new(pool, (SolverLimits){.seconds = 20}); // slow machines
}

static void end(void) {
  assert_int_equal(solver_stats(solver)->bad_models, 0);
  solver_free(solver);
  expr_pool_free(pool);
  model_release(&model);
}

static Expr byte(unsigned i) { return expr_input(pool, in + i); }
static Expr k(unsigned width, uint64_t v) { return expr_const(pool, width, v); }
static Expr word(unsigned i) { return expr_zext(pool, byte(i), 32); }
static Expr is_char(unsigned i, char c) {
  return expr_eq(pool, word(i), k(32, (uint8_t)c));
}

// The next branch of the run goes where the run's value says.
static size_t branch(Expr cond) {
  return solver_add(solver, cond, expr_value(pool, cond));
}

static uint64_t value_of(VarId v) {
  for (size_t i = 0; i < model.len; i++)
    if (model.items[i].var == v)
      return model.items[i].value;
  return expr_var_value(pool, v);
}

static void only(SolverEngine e) {
  for (int i = ENGINE_ENUMERATE; i < ENGINE_COUNT; i++)
    solver_use(solver, (SolverEngine)i, i == (int)e);
}

// --- large paths ------------------------------------------------------------

#define LONG 300

static void begin_long(void) {
  char text[LONG + 1];
  for (unsigned i = 0; i < LONG; i++)
    text[i] = (char)('a' + i * i % 23 + i % 2);
  text[LONG] = '\0';
  begin(text);
}

static Expr neighbours(unsigned i) {
  return expr_eq(pool, byte(i), byte(i + 1));
}

TEST(of_a_path_that_hangs_together_only_what_is_near_is_asked) {
  begin_long();
  only(ENGINE_BITS);
  Expr sum = k(32, 1);
  for (unsigned i = 0; i < LONG; i++)
    sum =
        expr_urem(pool, expr_add(pool, expr_mul(pool, sum, k(32, 7)), word(i)),
                  k(32, 65521));
  branch(expr_ult(pool, sum, k(32, 65520)));
  for (unsigned i = 0; i + 1 < LONG; i++)
    branch(neighbours(i));
  size_t last = branch(is_char(LONG / 2, '!'));
  assert_int_equal(solver_flip(solver, last, &model), SOLVER_SAT);
  assert_int_equal(value_of(in + LONG / 2), '!');
  assert_int_equal(model.len, 1);
  assert_in_range(solver_stats(solver)->gates, 1, 1000);
  end();
}

TEST(what_a_part_of_the_path_leaves_out_is_found_out) {
  char text[101];
  memset(text, 'a', 100);
  text[100] = '\0';
  begin(text);
  only(ENGINE_BITS);
  for (unsigned i = 0; i < 99; i++)
    branch(neighbours(i));
  size_t free_end = branch(is_char(0, 'a'));
  assert_int_equal(solver_flip(solver, free_end, &model), SOLVER_SAT);
  for (unsigned i = 1; i < 100; i++) // all have gone with the first
    assert_int_equal(value_of(in + i), value_of(in));
  assert_int_not_equal(value_of(in), 'a');
  size_t tied = branch(is_char(99, 'a'));
  assert_int_equal(solver_flip(solver, tied, &model), SOLVER_UNSAT);
  end();
}

// --- paths ------------------------------------------------------------------

TEST(a_flip_changes_the_one_byte_that_decides) {
  begin("4 a");
  size_t a = branch(is_char(0, '4')), b = branch(is_char(2, 'b'));
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
  assert_int_equal(model.len, 1);
  assert_int_equal(model.items[0].var, in + 2);
  assert_int_equal(model.items[0].value, 'b');
  assert_int_equal(solver_flip(solver, a, &model), SOLVER_SAT);
  assert_int_equal(model.items[0].var, in);
  assert_int_equal(model.items[0].value, '3'); // printable, and near
  end();
}

TEST(what_the_path_decided_cannot_be_flipped) {
  begin("4 a");
  branch(is_char(0, '4'));
  size_t again = branch(expr_not(pool, is_char(0, '4')));
  size_t other = branch(is_char(0, '5'));
  assert_int_equal(solver_flip(solver, again, &model), SOLVER_UNSAT);
  assert_int_equal(solver_flip(solver, other, &model), SOLVER_UNSAT);
  assert_int_equal(solver_stats(solver)->by_engine[ENGINE_SYNTAX], 1);
  assert_int_equal(solver_stats(solver)->unsat, 2);
  end();
}

TEST(later_branches_do_not_hinder_a_flip) {
  begin("4 a");
  size_t first = branch(expr_ult(pool, byte(0), k(8, '9')));
  branch(is_char(0, '4'));
  assert_int_equal(solver_flip(solver, first, &model), SOLVER_SAT);
  assert_true(value_of(in) >= '9');
  end();
}

TEST(constraints_without_inputs_are_harmless) {
  begin("4 a");
  branch(expr_bool(pool, true));
  size_t c = branch(expr_bool(pool, false));
  assert_int_equal(solver_flip(solver, c, &model), SOLVER_UNSAT);
  assert_int_equal(solver_query(solver, 2, NULL, 0, &model), SOLVER_SAT);
  assert_int_equal(model.len, 0);
  end();
}

TEST(a_byte_without_values_among_many_is_unsatisfiable) {
  begin("4444");
  only(ENGINE_ENUMERATE);
  Expr sum = expr_add(pool, expr_add(pool, word(0), word(1)),
                      expr_add(pool, word(2), word(3)));
  branch(expr_ult(pool, k(8, '3'), byte(3)));
  branch(expr_eq(pool, sum, k(32, 4 * '4')));
  size_t low = branch(expr_ult(pool, byte(3), k(8, '2')));
  assert_int_equal(solver_flip(solver, low, &model), SOLVER_UNSAT);
  end();
}

TEST(a_keyword_is_found_in_one_query) {
  for (int e = ENGINE_BITS; e <= ENGINE_Z3; e++) {
    begin("wxyz....");
    only((SolverEngine)e);
    Expr cmp = k(32, 0);
    for (int i = 4; i >= 0; i--) {
      Expr c = k(8, (uint8_t)"while"[i]);
      cmp = expr_ite(pool, expr_eq(pool, byte(i), c), cmp,
                     expr_ite(pool, expr_ult(pool, byte(i), c),
                              k(32, (uint64_t)-1), k(32, 1)));
    }
    size_t b = branch(expr_eq(pool, cmp, k(32, 0)));
    assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
    for (unsigned i = 0; i < 5; i++)
      assert_int_equal(value_of(in + i), "while"[i]);
    end();
  }
}

// value = 10 * value + digit, as in every number parser.
static Expr parsed(unsigned digits) {
  Expr v = k(32, 0);
  for (unsigned i = 0; i < digits; i++)
    v = expr_add(pool, expr_mul(pool, v, k(32, 10)),
                 expr_sub(pool, word(i), k(32, '0')));
  return v;
}

static void branch_digits(unsigned digits) {
  for (unsigned i = 0; i < digits; i++) {
    branch(expr_sle(pool, k(32, '0'), word(i)));
    branch(expr_sle(pool, word(i), k(32, '9')));
  }
}

TEST(digits_are_found_for_a_number) {
  for (int e = ENGINE_BITS; e <= ENGINE_Z3; e++) {
    begin("12345");
    only((SolverEngine)e);
    branch_digits(5);
    size_t b = branch(expr_eq(pool, parsed(5), k(32, 65521)));
    assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
    for (unsigned i = 0; i < 5; i++)
      assert_int_equal(value_of(in + i), "65521"[i]);
    b = branch(expr_slt(pool, k(32, 99999), parsed(5)));
    assert_int_equal(solver_flip(solver, b, &model), SOLVER_UNSAT);
    end();
  }
}

// Two digits at `i` as a fraction: 4 and 5 are 4.5.
static Expr fraction(unsigned i) {
  Expr tens = expr_sub(pool, word(i), k(32, '0'));
  Expr n = expr_add(pool, expr_mul(pool, tens, k(32, 10)),
                    expr_sub(pool, word(i + 1), k(32, '0')));
  return expr_fdiv(pool, expr_fp_of_sint(pool, n, 64),
                   expr_const_double(pool, 10));
}

TEST(fractions_are_found_by_trying_their_digits) {
  begin("4512");
  only(ENGINE_ENUMERATE);
  branch_digits(4);
  Expr x = fraction(0), y = fraction(2);
  size_t less = branch(expr_flt(pool, x, y));
  size_t huge = branch(
      expr_flt(pool, expr_const_double(pool, 99), expr_fmul(pool, x, y)));
  assert_int_equal(solver_flip(solver, less, &model), SOLVER_SAT);
  int a = (int)(value_of(in) * 10 + value_of(in + 1));
  int b = (int)(value_of(in + 2) * 10 + value_of(in + 3));
  assert_true(a < b);
  model.len = 0;
  assert_int_equal(solver_flip(solver, huge, &model), SOLVER_UNSAT);
  end();
}

TEST(divisions_are_solved_backwards) {
  for (int e = ENGINE_BITS; e <= ENGINE_Z3; e++) {
    begin("12345");
    only((SolverEngine)e);
    branch_digits(5);
    Expr n = parsed(5);
    Expr seconds = expr_srem(pool, n, k(32, 60));
    Expr minutes = expr_srem(pool, expr_sdiv(pool, n, k(32, 60)), k(32, 60));
    Expr both = expr_and(pool, expr_eq(pool, seconds, k(32, 59)),
                         expr_eq(pool, minutes, k(32, 17)));
    assert_int_equal(solver_flip(solver, branch(both), &model), SOLVER_SAT);
    unsigned v = 0;
    for (unsigned i = 0; i < 5; i++)
      v = v * 10 + (unsigned)value_of(in + i) - '0';
    assert_int_equal(v % 60, 59);
    assert_int_equal(v / 60 % 60, 17);
    Expr by_input = expr_udiv(pool, n, word(0));
    size_t b = branch(expr_eq(pool, by_input, k(32, 1000)));
    assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
    end();
  }
}

TEST(other_inputs_for_the_same_path) {
  begin("12345");
  branch_digits(5);
  Constraint other = {is_char(3, '4'), false};
  assert_int_equal(solver_query(solver, solver_len(solver), &other, 1, &model),
                   SOLVER_SAT);
  assert_int_equal(model.len, 1);
  assert_true(value_of(in + 3) >= '0' && value_of(in + 3) <= '9' &&
              value_of(in + 3) != '4');
  end();
}

TEST(models_keep_what_need_not_change) {
  begin("aaaaaaaaaaaaaaaaaaaa");
  only(ENGINE_BITS);
  Expr sum = k(32, 0);
  for (unsigned i = 0; i < 20; i++)
    sum = expr_add(pool, sum, word(i));
  size_t b = branch(expr_eq(pool, sum, k(32, 20 * 'a' + 7)));
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
  assert_true(model.len <= 4); // one is possible, twenty would be careless
  end();
}

// --- slices -----------------------------------------------------------------

// Everything connected to v by conditions before `before`.
static void connected(const uint8_t touch[][12], unsigned n, unsigned v,
                      uint8_t *is_in) {
  uint8_t vars[12] = {0};
  vars[v] = 1;
  memset(is_in, 0, n);
  for (bool grows = true; grows;) {
    grows = false;
    for (unsigned i = 0; i < n; i++) {
      bool shares = false;
      for (unsigned j = 0; j < 12; j++)
        shares |= touch[i][j] && vars[j];
      if (!shares || is_in[i])
        continue;
      is_in[i] = grows = true;
      for (unsigned j = 0; j < 12; j++)
        vars[j] |= touch[i][j];
    }
  }
}

TEST(slices_of_every_prefix_are_what_a_plain_search_finds) {
  Random r = {11};
  for (int round = 0; round < 100; round++) {
    begin("............");
    uint8_t touch[40][12] = {0};
    Slice s;
    slice_init(&s, pool);
    for (unsigned i = 0; i < 40; i++) {
      Support sup = SUPPORT_EMPTY;
      for (unsigned n = 1 + random_below(&r, 2 + (i > 30)); n-- > 0;) {
        unsigned v = random_below(&r, 12);
        touch[i][v] = 1;
        sup = support_union(pool, sup, expr_support(pool, byte(v)));
      }
      slice_add(&s, sup, i);
    }
    for (int query = 0; query < 50; query++) {
      unsigned before = random_below(&r, 41), v = random_below(&r, 12);
      uint8_t want[40];
      connected(touch, before, v, want);
      Support sup = expr_support(pool, byte(v));
      ItemList got = {0};
      slice_collect(&s, &sup, 1, before, &got);
      size_t wanted = 0;
      for (unsigned i = 0; i < before; i++)
        wanted += want[i];
      assert_int_equal(got.len, wanted);
      for (size_t i = 0; i < got.len; i++)
        assert_true(got.items[i] < before && want[got.items[i]]);
      array_release(&got);
    }
    slice_release(&s);
    end();
  }
}

TEST(a_hard_condition_on_other_inputs_costs_nothing) {
  begin("abcdefghijklmnop");
  Expr x = byte(0), y = byte(8);
  for (unsigned i = 1; i < 8; i++) {
    x = expr_concat(pool, byte(i), x);
    y = expr_concat(pool, byte(8 + i), y);
  }
  branch(expr_eq(pool, expr_mul(pool, x, y), k(64, 1)));
  Expr third = expr_input(pool, expr_new_var(pool, "n", expr_bv(32), 5));
  size_t b =
      branch(expr_slt(pool, expr_mul(pool, third, k(32, 3)), k(32, 1000)));
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
  assert_int_equal(model.len, 1);
  assert_true(solver_stats(solver)->gates < 1000);
  end();
}

// --- engines against each other ---------------------------------------------

static SolverResult flip_with(Solver *s, size_t i, Model *m) {
  SolverResult r = solver_flip(s, i, m);
  assert_int_equal(solver_stats(s)->bad_models, 0);
  return r;
}

// The same question without slices: the whole prefix at once.
static SolverResult flip_unsliced(Solver *s, size_t i, Model *m) {
  Constraint all[16];
  assert_true(i < 16);
  for (size_t k = 0; k <= i; k++)
    all[k] = solver_constraint(s, k);
  all[i].outcome = !all[i].outcome;
  SolverResult r = solver_query(s, 0, all, i + 1, m);
  assert_int_equal(solver_stats(s)->bad_models, 0);
  return r;
}

// A model of the slice must satisfy the whole prefix.
static void assert_goes_that_way(ExprPool *p, const Solver *s, size_t i,
                                 const Model *m) {
  ExprEval ev = {.pool = p};
  for (size_t k = 0; k < m->len; k++)
    expr_eval_set(&ev, m->items[k].var, m->items[k].value);
  for (size_t k = 0; k <= i; k++) {
    Constraint c = solver_constraint(s, k);
    uint64_t value;
    assert_true(expr_eval(&ev, c.cond, &value));
    assert_int_equal(value, k < i ? c.outcome : !c.outcome);
  }
  expr_eval_release(&ev);
}

typedef struct {
  unsigned sat, unsat, unknown;
} Verdicts;

// One random path, flipped everywhere: our engines over slices of simplified
// expressions against Z3 over all of the plain ones.
static void compare_on_path(uint64_t seed, bool bytes_only, unsigned vars,
                            bool enumerate, Verdicts *v) {
  Forest f;
  forest_init(&f, seed, vars, bytes_only);
  f.cheap = true;
  f.pool[1]->rest->simplify = false;
  SolverLimits limits = {.seconds = 20, .conflicts = 1000000};
  Solver *ours = solver_new(f.pool[0], limits);
  Solver *z3 = solver_new(f.pool[1], limits);
  solver_use(ours, ENGINE_Z3, false);
  solver_use(ours, ENGINE_ENUMERATE, enumerate);
  solver_use(z3, ENGINE_ENUMERATE, false);
  solver_use(z3, ENGINE_BITS, false);
  for (int i = 0; i < 6; i++) {
    forest_grow(&f);
    forest_grow(&f);
    Expr c[RANDOM_POOLS];
    forest_condition(&f, c);
    solver_add(ours, c[0], expr_value(f.pool[0], c[0]));
    solver_add(z3, c[1], expr_value(f.pool[1], c[1]));
  }
  Model m = {0};
  for (size_t i = 0; i < solver_len(ours); i++) {
    SolverResult a = flip_with(ours, i, &m);
    if (a == SOLVER_SAT)
      assert_goes_that_way(f.pool[0], ours, i, &m);
    SolverResult b = flip_unsliced(z3, i, &m);
    v->sat += a == SOLVER_SAT;
    v->unsat += a == SOLVER_UNSAT;
    v->unknown += a == SOLVER_UNKNOWN || b == SOLVER_UNKNOWN;
    if (a != SOLVER_UNKNOWN && b != SOLVER_UNKNOWN && a != b)
      fail_msg("seed %llu, constraint %zu: %d, Z3 says %d",
               (unsigned long long)seed, i, a, b);
  }
  model_release(&m);
  solver_free(ours);
  solver_free(z3);
  forest_free(&f);
}

TEST(bit_blasting_and_z3_agree_on_random_paths) {
  Verdicts v = {0};
  for (uint64_t seed = 1; seed <= 80; seed++)
    compare_on_path(seed, false, 3, false, &v);
  assert_true(v.sat > 80 && v.unsat > 80);
  assert_int_equal(v.unknown, 0);
}

TEST(enumeration_and_z3_agree_on_random_paths) {
  Verdicts v = {0};
  for (uint64_t seed = 1001; seed <= 1080; seed++)
    compare_on_path(seed, true, 2, true, &v);
  assert_true(v.sat > 80 && v.unsat > 80);
  assert_int_equal(v.unknown, 0);
}

// All values tried, against what an engine says.
TEST(verdicts_on_small_domains_are_those_of_trying_everything) {
  unsigned sat = 0, unsat = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    Forest f;
    forest_init(&f, seed * 7919, 1, true);
    for (int i = 0; i < 6; i++)
      forest_grow(&f);
    Expr c[RANDOM_POOLS];
    forest_condition(&f, c);
    Expr cond = c[0];
    ExprEval ev = {.pool = f.pool[0]};
    bool possible[2] = {false, false};
    for (unsigned x = 0; x <= expr_mask(expr_var_sort(f.pool[0], 0).width);
         x++) {
      uint64_t value;
      expr_eval_set(&ev, 0, x);
      assert_true(expr_eval(&ev, cond, &value));
      possible[value] = true;
    }
    bool other = possible[!expr_value(f.pool[0], cond)];
    for (int e = ENGINE_ENUMERATE; e <= ENGINE_BITS; e++) {
      Solver *s = solver_new(f.pool[0], (SolverLimits){.seconds = 20});
      solver_use(s, ENGINE_ENUMERATE, e == ENGINE_ENUMERATE);
      solver_add(s, cond, expr_value(f.pool[0], cond));
      Model m = {0};
      assert_int_equal(solver_flip(s, 0, &m),
                       other ? SOLVER_SAT : SOLVER_UNSAT);
      model_release(&m);
      solver_free(s);
    }
    sat += other;
    unsat += !other;
    expr_eval_release(&ev);
    forest_free(&f);
  }
  assert_true(sat > 50 && unsat > 50);
}

// Every operator by itself, blasted: is there an input other than the run's
// operands that gives this result? The model is checked by evaluation.
TEST(every_operator_is_blasted_as_it_is_evaluated) {
  Random r = {99};
  unsigned n = sizeof random_ops / sizeof *random_ops;
  for (int i = 0; i < 1500; i++) {
    ExprOp op = random_ops[(unsigned)i % n];
    unsigned w =
        is_costly(op) ? 1 + random_below(&r, 12) : 1 + random_below(&r, 64);
    ExprPool *p = expr_pool_new();
    p->rest->simplify = i % 2;
    Expr x = expr_input(p, expr_new_var(p, "x", expr_bv(w), random_value(&r)));
    Expr y = expr_input(p, expr_new_var(p, "y", expr_bv(w), random_value(&r)));
    Expr c = expr_input(p, expr_new_var(p, "c", expr_bv(1), i & 1));
    uint64_t imm = random_bits(&r), a = random_value(&r), b = random_value(&r);
    b = random_below(&r, 2) ? b % (w + 2) : b;
    Expr e = build_op(p, op, x, y, c, imm);
    ExprEval ev = {.pool = p};
    expr_eval_set(&ev, 0, a & expr_mask(w));
    expr_eval_set(&ev, 1, b & expr_mask(w));
    uint64_t want;
    assert_true(expr_eval(&ev, e, &want));
    Solver *s = solver_new(p, (SolverLimits){.seconds = 20});
    only((solver = s, ENGINE_BITS));
    Constraint same[3] = {
        {expr_eq(p, x, expr_const(p, w, a)), true},
        {expr_eq(p, y, expr_const(p, w, b)), true},
        {expr_eq(p, e, expr_const(p, expr_width(p, e), want)), true}};
    Model m = {0};
    assert_int_equal(solver_query(s, 0, same, 3, &m), SOLVER_SAT);
    same[2].outcome = false; // and nothing else
    if (!expr_is_const(p, same[2].cond) && op != EXPR_ITE)
      assert_int_equal(solver_query(s, 0, same, 3, &m), SOLVER_UNSAT);
    assert_int_equal(solver_stats(s)->bad_models, 0);
    model_release(&m);
    solver_free(s);
    expr_eval_release(&ev);
    expr_pool_free(p);
  }
}

// Few bits of quotient are divided step by step, many are guessed and checked.
TEST(division_by_a_constant_is_blasted_as_it_is_evaluated) {
  Random r = {7};
  for (int i = 0; i < 400; i++) {
    unsigned w = 2 + random_below(&r, 19);
    ExprPool *p = expr_pool_new();
    uint64_t a = random_bits(&r) & expr_mask(w);
    uint64_t by = random_bits(&r) & expr_mask(1 + random_below(&r, w));
    Expr x = expr_input(p, expr_new_var(p, "x", expr_bv(w), random_value(&r)));
    Expr d = expr_const(p, w, by ? by : 1);
    Expr e = i % 2 ? expr_urem(p, x, d) : expr_udiv(p, x, d);
    uint64_t want = i % 2 ? a % (by ? by : 1) : a / (by ? by : 1);
    Solver *s = solver_new(p, (SolverLimits){.seconds = 20});
    only((solver = s, ENGINE_BITS));
    Constraint same[2] = {{expr_eq(p, x, expr_const(p, w, a)), true},
                          {expr_eq(p, e, expr_const(p, w, want)), true}};
    Model m = {0};
    assert_int_equal(solver_query(s, 0, same, 2, &m), SOLVER_SAT);
    same[1].outcome = false;
    assert_int_equal(solver_query(s, 0, same, 2, &m), SOLVER_UNSAT);
    assert_int_equal(solver_stats(s)->bad_models, 0);
    model_release(&m);
    solver_free(s);
    expr_pool_free(p);
  }
}

// One wide input against constants: intervals and bit-blasting.
TEST(intervals_and_bit_blasting_agree) {
  Random r = {17};
  unsigned sat = 0, unsat = 0;
  for (int i = 0; i < 600; i++) {
    begin("");
    unsigned w = i % 2 ? 9 : 64;
    VarId v = expr_new_var(pool, "n", expr_bv(w), random_value(&r));
    Expr n = expr_input(pool, v);
    Constraint all[6];
    size_t n_all = 1 + (size_t)i % 6;
    for (size_t c = 0; c < n_all; c++) {
      Expr at = k(w, i % 3 ? random_value(&r) : random_below(&r, 8));
      ExprOp ops[] = {EXPR_ULT, EXPR_SLT, EXPR_EQ};
      bool turn = random_below(&r, 2);
      all[c] = (Constraint){build_op(pool, ops[random_below(&r, 3)],
                                     turn ? at : n, turn ? n : at, 0, c),
                            random_below(&r, 4) != 0};
    }
    solver_use(solver, ENGINE_BITS, false);
    solver_use(solver, ENGINE_Z3, false);
    SolverResult a = solver_query(solver, 0, all, n_all, &model);
    assert_int_equal(solver_stats(solver)->timeouts, 0);
    only(ENGINE_BITS);
    assert_int_equal(solver_query(solver, 0, all, n_all, &model), a);
    sat += a == SOLVER_SAT;
    unsat += a == SOLVER_UNSAT;
    end();
  }
  assert_true(sat > 50 && unsat > 50);
}

TEST(a_size_is_found_nearest_to_the_run) {
  begin("");
  VarId v = expr_new_var(pool, "in.size", expr_bv(64), 350);
  Expr size = expr_input(pool, v);
  for (unsigned i = 0; i < 350; i++)
    branch(expr_ult(pool, k(64, i), size));
  size_t last = branch(expr_ult(pool, k(64, 350), size));
  assert_int_equal(solver_flip(solver, 100, &model), SOLVER_SAT);
  assert_int_equal(value_of(v), 100);
  assert_int_equal(solver_flip(solver, last, &model), SOLVER_SAT);
  assert_int_equal(value_of(v), 351);
  branch(expr_eq(pool, size, k(64, 350)));
  branch(expr_ult(pool, k(64, 349), size));
  assert_int_equal(solver_flip(solver, solver_len(solver) - 1, &model),
                   SOLVER_UNSAT);
  assert_int_equal(solver_stats(solver)->by_engine[ENGINE_BITS], 0);
  end();
}

// --- limits -----------------------------------------------------------------

// x * y == the product of two primes near 2^31, both greater than 1.
static size_t branch_factoring(void) {
  Expr x = expr_input(pool, expr_new_var(pool, "x", expr_bv(32), 3));
  Expr y = expr_input(pool, expr_new_var(pool, "y", expr_bv(32), 5));
  branch(expr_ult(pool, k(32, 1), x));
  branch(expr_ult(pool, k(32, 1), y));
  Expr product = expr_mul(pool, expr_zext(pool, x, 64), expr_zext(pool, y, 64));
  return branch(expr_eq(pool, product, k(64, 2147483647ull * 2147483629ull)));
}

TEST(a_query_beyond_its_limits_is_unknown_and_counted) {
  static const SolverLimits limits[] = {
      {.seconds = 0.1, .conflicts = 100000000},
      {.seconds = 30, .conflicts = 50},
      {.seconds = 30, .gates = 100},
  };
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    begin("");
    solver_free(solver);
    solver = solver_new(pool, limits[i]);
    size_t b = branch_factoring();
    double start = clock_now();
    assert_int_equal(solver_flip(solver, b, &model), SOLVER_UNKNOWN);
    assert_true(clock_now() - start < 2);
    assert_int_equal(model.len, 0);
    assert_int_equal(solver_stats(solver)->unknown, 1);
    assert_int_equal(solver_stats(solver)->timeouts, 1);
    Str s = {0};
    solver_stats_show(solver_stats(solver), &s);
    assert_non_null(strstr(str_text(&s), "1 unknown (1 beyond the limits)"));
    str_release(&s);
    // The solver works on.
    Expr z = expr_input(pool, expr_new_var(pool, "z", expr_bv(32), 0));
    size_t easy = branch(expr_ult(pool, k(32, 2), z));
    assert_int_equal(solver_flip(solver, easy, &model), SOLVER_SAT);
    end();
  }
}

TEST(z3_keeps_to_the_time_limit) {
  begin("");
  solver_free(solver);
  solver = solver_new(pool, (SolverLimits){.seconds = 0.1});
  only(ENGINE_Z3);
  double start = clock_now();
  assert_int_equal(solver_flip(solver, branch_factoring(), &model),
                   SOLVER_UNKNOWN);
  assert_true(clock_now() - start < 2);
  assert_int_equal(solver_stats(solver)->timeouts, 1);
  end();
}

// --- other sorts ------------------------------------------------------------

TEST(floats_go_to_z3_with_the_slice_alone) {
  begin("12345");
  solver_use(solver, ENGINE_ENUMERATE, false); // that would try digits
  branch_digits(5);
  Expr n = expr_fp_of_sint(pool, parsed(3), 64);
  Expr quarter = expr_fdiv(pool, n, expr_const_double(pool, 4));
  size_t b = branch(expr_feq(pool, quarter, expr_const_double(pool, 102.75)));
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
  assert_int_equal(solver_stats(solver)->by_engine[ENGINE_Z3], 1);
  assert_int_equal(value_of(in), '4');
  assert_int_equal(value_of(in + 1), '1');
  assert_int_equal(value_of(in + 2), '1');
  size_t nan = branch(expr_fnan(pool, quarter));
  assert_int_equal(solver_flip(solver, nan, &model), SOLVER_UNSAT);
  end();
}

TEST(floats_of_one_byte_are_tried_out) {
  begin("5");
  Expr x = expr_fp_of_uint(pool, byte(0), 32);
  Expr root = expr_fsqrt(pool, x);
  size_t b = branch(expr_feq(pool, root, expr_const_fp(pool, 32, 0x41000000)));
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
  assert_int_equal(value_of(in), 64);
  assert_int_equal(solver_stats(solver)->by_engine[ENGINE_ENUMERATE], 1);
  end();
}

TEST(a_float_variable_can_become_special) {
  begin("");
  double one = 1;
  uint64_t bits;
  memcpy(&bits, &one, sizeof bits);
  VarId v = expr_new_var(pool, "x", expr_fp(64), bits);
  Expr x = expr_input(pool, v);
  size_t b = branch(expr_feq(pool, x, x));
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT); // NaN
  Expr i = expr_sint_of_fp(pool, x, 32);
  b = branch(expr_eq(pool, i, k(32, (uint64_t)-70000)));
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
  uint64_t got = value_of(v);
  double d;
  memcpy(&d, &got, sizeof d);
  assert_true(d > -70001 && d <= -70000);
  end();
}

TEST(fmod_is_nobodys_and_unknown) {
  begin("");
  VarId v = expr_new_var(pool, "x", expr_fp(64), 0);
  Expr x = expr_input(pool, v),
       r = expr_frem(pool, x, expr_const_double(pool, 3));
  Constraint all[2] = {{expr_feq(pool, r, expr_const_double(pool, 2)), true},
                       {expr_flt(pool, expr_const_double(pool, 100), x), true}};
  assert_int_equal(solver_query(solver, 0, all, 1, &model), SOLVER_SAT);
  assert_int_equal(solver_query(solver, 0, all, 2, &model), SOLVER_UNKNOWN);
  assert_int_equal(solver_stats(solver)->timeouts, 1);
  end();
}

TEST(integers_of_php_do_not_wrap) {
  for (int e = ENGINE_BITS; e <= ENGINE_Z3; e++) {
    begin("");
    only((SolverEngine)e);
    VarId v = expr_new_var(pool, "GET.n", expr_int_sort(), 5);
    Expr n = expr_input(pool, v);
    Expr twice = expr_mul(pool, n, expr_const_int(pool, 2));
    size_t b = branch(expr_slt(pool, twice, n));
    assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
    assert_true((int64_t)value_of(v) < 0);
    branch(expr_slt(pool, expr_const_int(pool, 0), n));
    b = branch(expr_slt(pool, twice, n)); // decided: false
    Constraint wraps[2] = {{expr_slt(pool, twice, n), true},
                           {expr_slt(pool, n, expr_const_int(pool, 0)), false}};
    assert_int_equal(solver_query(solver, 0, wraps, 2, &model), SOLVER_UNSAT);
    Expr third = expr_sdiv(pool, n, expr_const_int(pool, -3));
    b = branch(expr_eq(pool, third, expr_const_int(pool, -33)));
    assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
    assert_int_equal((int64_t)value_of(v) / -3, -33);
    Expr into = expr_sdiv(pool, expr_const_int(pool, 7), n);
    Constraint zero[2] = {
        {expr_eq(pool, n, expr_const_int(pool, 0)), true},
        {expr_eq(pool, into, expr_const_int(pool, 7)), false}};
    assert_int_equal(solver_query(solver, 0, zero, 2, &model), SOLVER_UNSAT);
    end();
  }
}

static Expr text(const char *s) { return expr_const_str(pool, s, strlen(s)); }

static void assert_text(VarId v, const char *want) {
  size_t n;
  const char *got = expr_text(pool, value_of(v), &n);
  assert_int_equal(n, strlen(want));
  assert_memory_equal(got, want, n);
}

TEST(a_password_is_found) {
  begin("");
  VarId user = expr_new_str_var(pool, "POST.user", "", 0);
  VarId pw = expr_new_str_var(pool, "POST.pw", "", 0);
  Expr u = expr_input(pool, user), p = expr_input(pool, pw);
  size_t a = branch(expr_eq(pool, p, text("x\"\\u{41}\xff")));
  size_t b = branch(
      expr_eq(pool, expr_str_concat(pool, u, text("!")), text("admin!")));
  assert_int_equal(solver_flip(solver, a, &model), SOLVER_SAT);
  assert_text(pw, "x\"\\u{41}\xff");
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
  assert_text(user, "admin");
  assert_int_equal(model.len, 1);
  end();
}

TEST(constants_of_the_program_are_tried_before_z3) {
  begin("");
  VarId page = expr_new_str_var(pool, "GET.page", "x", 1);
  VarId n = expr_new_var(pool, "GET.n", expr_int_sort(), 5);
  Expr is_login = expr_eq(pool, expr_input(pool, page), text("login"));
  size_t a = branch(is_login);
  Expr cut = expr_slt(pool, expr_str_len(pool, expr_input(pool, page)),
                      expr_input(pool, n));
  size_t b = branch(cut);
  assert_int_equal(solver_flip(solver, a, &model), SOLVER_SAT);
  assert_text(page, "login");
  assert_int_equal(solver_flip(solver, b, &model), SOLVER_SAT);
  assert_int_equal(model.len, 1);
  assert_int_equal(solver_stats(solver)->by_engine[ENGINE_ENUMERATE], 2);
  assert_int_equal(solver_stats(solver)->by_engine[ENGINE_Z3], 0);
  Constraint never[2] = {
      {is_login, true},
      {expr_str_contains(pool, expr_input(pool, page), text("z")), true}};
  assert_int_equal(solver_query(solver, 0, never, 2, &model), SOLVER_UNSAT);
  assert_int_equal(solver_stats(solver)->by_engine[ENGINE_Z3], 1);
  end();
}

TEST(string_conditions_are_solved_together) {
  begin("");
  VarId q = expr_new_str_var(pool, "GET.q", "", 0);
  Expr s = expr_input(pool, q);
  Constraint all[5] = {
      {expr_str_prefix(pool, text("id="), s), true},
      {expr_slt(pool, expr_str_len(pool, s), expr_const_int(pool, 6)), true},
      {expr_eq(
           pool,
           expr_str_to_int(pool, expr_str_sub(pool, s, expr_const_int(pool, 3),
                                              expr_const_int(pool, 9))),
           expr_const_int(pool, 42)),
       true},
      {expr_str_contains(pool, s, text("0")), false},
      {expr_eq(pool,
               expr_str_sub(pool, s, expr_const_int(pool, 2),
                            expr_const_int(pool, 1)),
               text("=")),
       true},
  };
  assert_int_equal(solver_query(solver, 0, all, 5, &model), SOLVER_SAT);
  assert_text(q, "id=42");
  assert_int_equal(solver_stats(solver)->by_engine[ENGINE_Z3], 1);
  end();
}

// --- Z3 computes what we compute --------------------------------------------

// With its inputs held at the run's values, `e` can have its value and no
// other.
static void assert_z3_agrees(Expr e, const Constraint *held, size_t n) {
  Constraint all[4];
  memcpy(all, held, n * sizeof *held);
  Expr value = expr_const_of(pool, expr_sort(pool, e), expr_value(pool, e));
  all[n] = (Constraint){expr_eq(pool, e, value), false};
  if (expr_is_const(pool, all[n].cond))
    return; // e is settled without its inputs
  if (solver_query(solver, 0, all, n + 1, &model) != SOLVER_UNSAT) {
    Str s = {0};
    expr_show_outcome(pool, e, true, 0, &s);
    fail_msg("Z3 sees another value for %s", str_text(&s));
  }
}

static uint64_t random_fp(Random *r, unsigned width) {
  static const double special[] = {0.0,  -0.0,   1,      -1.5,   2.5,    255.9,
                                   1e30, -127.5, -128.5, -128.9, 1e-310, 127.9};
  uint64_t v = random_bits(r);
  if (random_below(r, 5) == 0)
    return width == 32 ? v & 0xffffffff : v;
  double d = special[random_below(r, sizeof special / sizeof *special)];
  float f = (float)d;
  uint32_t low;
  memcpy(&low, &f, sizeof low);
  memcpy(&v, &d, sizeof v);
  return width == 32 ? low : v;
}

static Expr fp_op(int op, Expr x, Expr y, unsigned w) {
  switch (op) {
  case 0:
    return expr_fadd(pool, x, y);
  case 1:
    return expr_fsub(pool, x, y);
  case 2:
    return expr_fmul(pool, x, y);
  case 3:
    return expr_fdiv(pool, x, y);
  case 4:
    return expr_flt(pool, x, y);
  case 5:
    return expr_feq(pool, x, y);
  case 6:
    return expr_sint_of_fp(pool, x, 8);
  case 7:
    return expr_uint_of_fp(pool, x, 8);
  case 8:
    return expr_fp_of_fp(pool, x, 96 - w);
  case 9:
    return expr_fsqrt(pool, x);
  case 10:
    return expr_fneg(pool, expr_fabs(pool, x));
  case 11:
    return expr_fnan(pool, x);
  case 12:
    return expr_eq(pool, x, y);
  default:
    return expr_fround(pool, x, (ExprRounding)(op - 13));
  }
}

TEST(z3_computes_floats_as_we_do) {
  Random r = {5};
  for (int i = 0; i < 18 * 12; i++) {
    begin("");
    only(ENGINE_Z3);
    unsigned w = i % 2 ? 32 : 64;
    VarId v = expr_new_var(pool, "x", expr_fp(w), random_fp(&r, w));
    VarId u = expr_new_var(pool, "y", expr_fp(w), random_fp(&r, w));
    Expr x = expr_input(pool, v), y = expr_input(pool, u);
    Constraint held[2] = {
        {expr_eq(pool, x, expr_const_fp(pool, w, expr_value(pool, x))), true},
        {expr_eq(pool, y, expr_const_fp(pool, w, expr_value(pool, y))), true}};
    assert_z3_agrees(fp_op(i % 18, x, y, w), held, 2);
    end();
  }
}

TEST(z3_converts_integers_to_floats_as_we_do) {
  Random r = {6};
  for (int i = 0; i < 60; i++) {
    begin("");
    only(ENGINE_Z3);
    uint64_t run = random_value(&r);
    Expr x = expr_input(pool, expr_new_var(pool, "x", expr_bv(64), run));
    Constraint held = {expr_eq(pool, x, k(64, run)), true};
    assert_z3_agrees(expr_fp_of_sint(pool, x, 32), &held, 1);
    assert_z3_agrees(expr_fp_of_uint(pool, x, 64), &held, 1);
    assert_z3_agrees(expr_fp_of_bits(pool, x), &held, 1);
    end();
  }
}

static Expr str_op(int op, Expr s, Expr t, Expr n) {
  switch (op) {
  case 0:
    return expr_str_len(pool, s);
  case 1:
    return expr_str_concat(pool, s, t);
  case 2:
    return expr_str_sub(pool, s, n, expr_const_int(pool, 2));
  case 3:
    return expr_str_index(pool, s, t, n);
  case 4:
    return expr_str_contains(pool, s, t);
  case 5:
    return expr_str_prefix(pool, t, s);
  case 6:
    return expr_str_suffix(pool, t, s);
  case 7:
    return expr_str_lt(pool, s, t);
  case 8:
    return expr_str_to_int(pool, s);
  case 9:
    return expr_str_of_int(pool, n);
  case 10:
    return expr_sdiv(pool, n, expr_const_int(pool, -2));
  default:
    return expr_srem(pool, n, expr_const_int(pool, -3));
  }
}

TEST(z3_computes_strings_and_integers_as_we_do) {
  static const char *const texts[] = {"",    "a",  "ab",   "aab", "b\xff",
                                      "123", "-1", "0012", "ba",  "\n\"\\"};
  Random r = {8};
  for (int i = 0; i < 12 * 12; i++) {
    begin("");
    only(ENGINE_Z3);
    const char *a = texts[random_below(&r, 10)];
    const char *b = texts[random_below(&r, 10)];
    int64_t n = (int64_t)random_below(&r, 9) - 3;
    Expr s = expr_input(pool, expr_new_str_var(pool, "s", a, strlen(a)));
    Expr t = expr_input(pool, expr_new_str_var(pool, "t", b, strlen(b)));
    Expr m =
        expr_input(pool, expr_new_var(pool, "n", expr_int_sort(), (uint64_t)n));
    Constraint held[3] = {{expr_eq(pool, s, text(a)), true},
                          {expr_eq(pool, t, text(b)), true},
                          {expr_eq(pool, m, expr_const_int(pool, n)), true}};
    assert_z3_agrees(str_op(i % 12, s, t, m), held, 3);
    end();
  }
}
