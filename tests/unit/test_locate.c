// Unit tests of src/locate: formulas, comparison, order, levels, faults.
#include "test.h"

#include <math.h>

#include "locate/fault.h"
#include "locate/spectrum.h"
#include "model/testcode.h"
#include "tally/formula.h"
#include "tally/order.h"
#include "tally/path_filter.h"
#include "world.h"

static double score(const char *formula, uint32_t ef, uint32_t ep, uint32_t nf,
                    uint32_t np) {
  const FormulaInfo *f = formula_find(formula);
  assert_non_null(f);
  return f->score((Counts){ef, ep, nf, np});
}

static void expect_near(double got, double want, double tolerance) {
  if (!(fabs(got - want) <= tolerance))
    fail_msg("got %.9g, want %.9g", got, want);
}

// --- formulas ---------------------------------------------------------------

static void expect_finite(Counts c) {
  size_t n;
  const FormulaInfo *table = formula_table(&n);
  for (size_t i = 0; i < n; i++)
    if (!isfinite(table[i].score(c)))
      fail_msg("%s(%u, %u, %u, %u) is not finite", table[i].name, c.ef, c.ep,
               c.nf, c.np);
  assert_true(isfinite(confidence_of(c)));
}

TEST(code_of_tests_is_known_by_its_name) {
  static const char *const tests[] = {
      "tests/a.c",    "src/t/a.c",    "Test/x.h",
      "test_a.c",     "lib/a-test.c", "lib/a_tests.c",
      "deps/unity.c", "x/UNITY.H",    "a/testing/b/c.c"};
  static const char *const others[] = {
      "test.c",       "src/test.c", "latest.c",    "contest/a.c", "testament.c",
      "lib/tester.c", "attest.c",   "src/test_.c", "community.c", "_test.c"};
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    if (!testcode_is_named_so(tests[i]))
      fail_msg("%s is no test", tests[i]);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (testcode_is_named_so(others[i]))
      fail_msg("%s is a test", others[i]);
}

static void mark(const char *const *paths, size_t n, Source *sources) {
  for (size_t i = 0; i < n; i++)
    sources[i] = (Source){.path = paths[i]};
  Suite suite = {.sources = sources, .nsources = n};
  testcode_mark(&suite);
}

TEST(directories_above_all_sources_make_no_tests) {
  static const char *const below[] = {"/tests/p/a.c", "/tests/p/test/a.c",
                                      "/usr/include/stdio.h"};
  static const char *const only[] = {"/p/tests/a.c", "/p/tests/test_b.c",
                                     "/usr/include/stdio.h"};
  Source s[3];
  mark(below, 3, s);
  assert_false(s[0].test);
  assert_true(s[1].test);
  assert_false(s[2].test);
  mark(only, 3, s);
  assert_false(s[0].test);
  assert_true(s[1].test);
  mark(only + 1, 2, s);
  assert_false(s[0].test); // there is nothing else
}

TEST(code_of_tests_is_ordered_behind_all_else) {
  Ranking r = {0};
  array_push(&r.suspects, ((Suspect){.entity = 0, .score = 3, .test = true}));
  array_push(&r.suspects, ((Suspect){.entity = 1, .score = 1}));
  array_push(&r.suspects, ((Suspect){.entity = 2, .score = 2}));
  array_push(&r.suspects, ((Suspect){.entity = 3, .score = 3, .test = true}));
  ranking_order(&r, false);
  static const uint32_t want[] = {2, 1, 0, 3}, rank[] = {1, 2, 4, 4};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(r.suspects.items[i].entity, want[i]);
    assert_int_equal(r.suspects.items[i].rank, rank[i]);
  }
  assert_int_equal(r.suspects.items[2].rank_best, 3);
  ranking_release(&r);
}

TEST(every_formula_is_finite_for_all_small_counts) {
  for (uint32_t ef = 0; ef < 7; ef++)
    for (uint32_t ep = 0; ep < 14; ep++)
      for (uint32_t nf = 0; nf < 7; nf++)
        for (uint32_t np = 0; np < 7; np++)
          expect_finite((Counts){ef, ep, nf, np});
}

TEST(every_formula_is_finite_at_the_limits_of_the_counts) {
  const uint32_t values[] = {0, 1, UINT32_MAX / 2, UINT32_MAX};
  for (int i = 0; i < 256; i++)
    expect_finite((Counts){values[i & 3], values[i >> 2 & 3],
                           values[i >> 4 & 3], values[i >> 6]});
}

TEST(formula_names_are_unique_and_documented) {
  size_t n;
  const FormulaInfo *table = formula_table(&n);
  for (size_t i = 0; i < n; i++) {
    assert_ptr_equal(formula_find(table[i].name), &table[i]);
    assert_true(strlen(table[i].doc) > 3);
  }
  assert_null(formula_find("no such formula"));
}

TEST(no_formula_prefers_the_line_that_more_passing_runs_execute) {
  size_t n;
  const FormulaInfo *table = formula_table(&n);
  for (size_t i = 0; i < n; i++)
    for (uint32_t ep = 0; ep + 1 < 40; ep++)
      assert_true(table[i].score((Counts){3, ep, 0, 39 - ep}) >=
                  table[i].score((Counts){3, ep + 1, 0, 38 - ep}));
}

TEST(no_formula_prefers_the_line_that_fewer_failing_runs_execute) {
  size_t n;
  const FormulaInfo *table = formula_table(&n);
  for (size_t i = 0; i < n; i++)
    for (uint32_t ef = 0; ef < 9; ef++)
      if (strcmp(table[i].name, "ample")) // looks at the distance only
        assert_true(table[i].score((Counts){ef, 4, 9 - ef, 4}) <=
                    table[i].score((Counts){ef + 1, 4, 8 - ef, 4}));
}

TEST(formulas_give_the_values_worked_out_by_hand) {
  expect_near(score("tarantula", 2, 2, 0, 3), 5.0 / 7, 1e-12);
  expect_near(score("ochiai", 2, 2, 0, 3), 1 / sqrt(2), 1e-12);
  expect_near(score("jaccard", 1, 2, 1, 3), 0.25, 1e-12);
  expect_near(score("dice", 1, 2, 1, 3), 0.4, 1e-12);
  expect_near(score("sbi", 1, 3, 1, 2), 0.25, 1e-12);
  expect_near(score("barinel", 1, 3, 1, 2), 0.25, 1e-12);
  expect_near(score("dstar", 3, 2, 1, 9), 3, 1e-12);
  expect_near(score("op2", 2, 3, 0, 2), 1.5, 1e-12);
  expect_near(score("wong2", 2, 3, 0, 2), -1, 1e-12);
  expect_near(score("wong3", 5, 2, 0, 2), 3, 1e-12);
  expect_near(score("wong3", 5, 7, 0, 2), 2.5, 1e-12);
  expect_near(score("wong3", 5, 1010, 0, 2), 1.2, 1e-12);
  expect_near(score("kulczynski2", 1, 3, 1, 2), 0.375, 1e-12);
  expect_near(score("m2", 2, 1, 1, 3), 2.0 / 9, 1e-12);
  expect_near(score("ample", 1, 3, 1, 1), 0.25, 1e-12);
  expect_near(score("gp13", 2, 1, 0, 0), 2.5, 1e-12);
  expect_near(score("zoltar", 2, 1, 1, 3), 2.0 / 5004, 1e-12);
}

TEST(ochiai_gives_the_numbers_of_paper_001) {
  expect_near(score("ochiai", 2, 2, 0, 0), 0.71, 5e-3);
  expect_near(score("ochiai", 2, 0, 0, 2), 1, 1e-12);
  expect_near(score("ochiai", 1, 0, 1, 2), 0.71, 5e-3);
  expect_near(score("ochiai", 1, 3, 0, 0), 0.5, 1e-12);
}

TEST(dstar_puts_the_perfect_line_clearly_above_all_others) {
  for (uint32_t f = 1; f < 100000; f = f * 3 + 1) {
    double perfect = score("dstar", f, 0, 0, 7);
    double next = score("dstar", f, 1, 0, 6);
    assert_true(perfect > next && !score_same(perfect, next));
  }
  expect_near(score("dstar", 0, 0, 0, 7), 0, 0);
}

TEST(confidence_is_the_larger_share_of_covering_runs) {
  expect_near(confidence_of((Counts){1, 3, 3, 1}), 0.75, 1e-12);
  expect_near(confidence_of((Counts){0, 0, 0, 0}), 0, 0);
}

// --- order ------------------------------------------------------------------

static void push(Ranking *r, double s, double confidence) {
  Suspect suspect = {.entity = (uint32_t)r->suspects.len,
                     .score = s,
                     .confidence = confidence};
  array_push(&r->suspects, suspect);
}

static void expect_place(const Ranking *r, size_t i, uint32_t entity,
                         uint32_t best, uint32_t worst) {
  const Suspect *s = &r->suspects.items[i];
  if (s->entity != entity || s->rank_best != best || s->rank != worst)
    fail_msg("place %zu: entity %u rank %u-%u, want entity %u rank %u-%u", i,
             s->entity, s->rank_best, s->rank, entity, best, worst);
}

TEST(equal_scores_share_the_worst_and_the_best_rank) {
  Ranking r = {0};
  push(&r, 0.5, 0);
  push(&r, 1.0, 0);
  push(&r, 0.5, 0);
  push(&r, 0.1, 0);
  ranking_order(&r, false);
  expect_place(&r, 0, 1, 1, 1);
  expect_place(&r, 1, 0, 2, 3);
  expect_place(&r, 2, 2, 2, 3);
  expect_place(&r, 3, 3, 4, 4);
  ranking_release(&r);
}

TEST(if_all_tie_the_order_is_the_one_given_and_everyone_ranks_last) {
  Ranking r = {0};
  for (int i = 0; i < 100; i++)
    push(&r, 0, 0);
  ranking_order(&r, false);
  for (uint32_t i = 0; i < 100; i++)
    expect_place(&r, i, i, 1, 100);
  ranking_release(&r);
}

TEST(an_empty_ranking_can_be_ordered) {
  Ranking r = {0};
  ranking_order(&r, true);
  assert_int_equal(r.suspects.len, 0);
}

TEST(scores_that_differ_in_the_last_digit_tie_and_keep_source_order) {
  Ranking r = {0};
  push(&r, 1.0 / 9, 0);
  push(&r, nextafter(1.0 / 9, 1), 0);
  push(&r, 1.0 / 9 + 1e-6, 0);
  ranking_order(&r, false);
  expect_place(&r, 0, 2, 1, 1);
  expect_place(&r, 1, 0, 2, 3);
  expect_place(&r, 2, 1, 2, 3);
  ranking_release(&r);
}

TEST(a_chain_of_close_scores_is_one_group_in_whatever_order_it_comes) {
  const double chain[] = {1, 1 + 0.8e-9, 1 + 1.6e-9, 1 + 2.4e-9};
  const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};
  assert_false(score_same(chain[0], chain[3]));
  for (int o = 0; o < 3; o++) {
    Ranking r = {0};
    for (int i = 0; i < 4; i++)
      push(&r, chain[orders[o][i]], 0);
    ranking_order(&r, false);
    for (uint32_t i = 0; i < 4; i++)
      expect_place(&r, i, i, 1, 4);
    ranking_release(&r);
  }
}

TEST(tolerance_is_relative_for_large_and_negative_scores) {
  Ranking r = {0};
  push(&r, -1e12, 0);
  push(&r, -1e12 - 10, 0);
  push(&r, 1e-20, 0);
  push(&r, 2e-20, 0);
  push(&r, 0, 0);
  ranking_order(&r, false);
  expect_place(&r, 0, 3, 1, 1);
  expect_place(&r, 1, 2, 2, 2);
  expect_place(&r, 2, 4, 3, 3);
  expect_place(&r, 3, 0, 4, 5);
  ranking_release(&r);
}

TEST(confidence_orders_equal_scores_and_only_those) {
  Ranking r = {0};
  push(&r, 0.5, 0.2);
  push(&r, 0.5 + 1e-12, 0.1);
  push(&r, 0.5, 0.9);
  push(&r, 0.4, 1.0);
  push(&r, 0.5, 0.2);
  ranking_order(&r, true);
  expect_place(&r, 0, 2, 1, 1);
  expect_place(&r, 1, 0, 2, 3);
  expect_place(&r, 2, 4, 2, 3);
  expect_place(&r, 3, 1, 4, 4);
  expect_place(&r, 4, 3, 5, 5);
  ranking_release(&r);
}

// --- files ------------------------------------------------------------------

static bool takes(const char *only, const char *exclude, const char *path) {
  PathFilter f = {.only = &only,
                  .nonly = only != NULL,
                  .exclude = &exclude,
                  .nexclude = exclude != NULL};
  return filter_takes(&f, path);
}

TEST(without_patterns_every_file_is_taken) {
  assert_true(takes(NULL, NULL, "src/a.c"));
}

TEST(a_directory_takes_what_lies_below_it_and_nothing_that_starts_alike) {
  assert_true(takes("src", NULL, "src/a.c"));
  assert_true(takes("./src/", NULL, "src/x/a.c"));
  assert_true(takes("/usr", NULL, "/usr/include/x.h"));
  assert_false(takes("src", NULL, "src2/a.c"));
  assert_false(takes("src/x", NULL, "src/a.c"));
  assert_false(takes("", NULL, "src/a.c"));
}

TEST(a_dot_is_the_directory_of_the_session) {
  assert_true(takes(".", NULL, "src/a.c"));
  assert_true(takes("./", NULL, "a.c"));
  assert_false(takes(".", NULL, "/usr/include/x.h"));
  assert_true(takes("/", NULL, "/usr/include/x.h"));
}

TEST(names_and_globs_match_the_file_name_or_the_path) {
  assert_true(takes("a.c", NULL, "src/deep/a.c"));
  assert_true(takes("test_*", NULL, "src/test_a.c"));
  assert_true(takes("*/deep/*", NULL, "src/deep/a.c"));
  assert_false(takes("*.h", NULL, "src/a.c"));
}

TEST(exclude_wins_over_only) {
  assert_false(takes("src", "a.c", "src/a.c"));
  assert_true(takes("src", "a.c", "src/b.c"));
}

// --- rankings ---------------------------------------------------------------

static SpectrumOptions options(const char *formula) {
  return (SpectrumOptions){.formula = formula_find(formula)->score};
}

static void rank(World *w, SpectrumOptions o, size_t failure, Ranking *out) {
  Spectrum s;
  Err err;
  if (spectrum_init(&s, &w->suite, &o, &err))
    fail_msg("%s", err.text);
  spectrum_rank(&s, &w->tally, failure, out);
  spectrum_release(&s);
}

static const Suspect *on_line(const World *w, const Ranking *r, uint32_t line) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (w->suite.entities[r->suspects.items[i].entity].line == line)
      return &r->suspects.items[i];
  fail_msg("line %u is not listed", line);
  return NULL;
}

static void expect_lines(const World *w, const Ranking *r, uint32_t from,
                         uint32_t to, double want, uint32_t worst) {
  for (uint32_t line = from; line <= to; line++) {
    const Suspect *s = on_line(w, r, line);
    expect_near(s->score, want, 5e-3);
    if (s->rank != worst)
      fail_msg("line %u has rank %u, want %u", line, s->rank, worst);
  }
}

// One row of the table of worked example 1.
static void expect_figure1(const char *formula, double s1, uint32_t rank1,
                           double s2, uint32_t rank2, double s6,
                           uint32_t rank6) {
  World w;
  Ranking r;
  world_figure1(&w);
  rank(&w, options(formula), 0, &r);
  assert_int_equal(r.failing, 2);
  assert_int_equal(r.passing, 5);
  assert_int_equal(r.suspects.len, 9);
  expect_lines(&w, &r, 1, 1, s1, rank1);
  expect_lines(&w, &r, 9, 9, s1, rank1);
  expect_lines(&w, &r, 2, 5, s2, rank2);
  expect_lines(&w, &r, 6, 8, s6, rank6);
  ranking_release(&r);
  world_release(&w);
}

TEST(tarantula_ranks_figure_1_as_printed) {
  expect_figure1("tarantula", 0.50, 9, 0.71, 7, 1.00, 3);
}

TEST(sbi_ranks_figure_1_as_printed) {
  expect_figure1("sbi", 0.29, 9, 0.50, 7, 1.00, 3);
}

TEST(jaccard_ranks_figure_1_as_printed) {
  expect_figure1("jaccard", 0.29, 9, 0.50, 7, 0.50, 7);
}

TEST(ochiai_puts_the_line_only_failing_runs_reach_first) {
  World w;
  Ranking r;
  world_init(&w, "PAPA");
  world_statements(&w, "a.c", "f", 1, 3);
  for (uint32_t run = 0; run < 4; run++)
    world_covers(&w, run, 0, 0);
  world_covers(&w, 0, 1, 1);
  world_covers(&w, 1, 1, 2);
  world_covers(&w, 3, 1, 2);
  world_close(&w);
  rank(&w, options("ochiai"), 0, &r);
  assert_int_equal(r.suspects.items[0].entity, 2);
  assert_int_equal(r.suspects.items[0].ef, 2);
  assert_int_equal(r.suspects.items[0].ep, 0);
  expect_near(r.suspects.items[0].score, 1, 1e-12);
  ranking_release(&r);
  world_release(&w);
}

TEST(confidence_splits_the_ties_of_figure_1_where_it_differs) {
  World w;
  Ranking r;
  SpectrumOptions o = options("jaccard");
  o.confidence = true;
  world_figure1(&w);
  rank(&w, o, 0, &r);
  expect_lines(&w, &r, 2, 5, 0.5, 4); // confidence 1
  expect_lines(&w, &r, 6, 8, 0.5, 7); // confidence 1/2
  ranking_release(&r);
  world_release(&w);
}

TEST(ties_are_listed_by_path_then_line) {
  World w;
  Ranking r;
  world_init(&w, "PA");
  world_statements(&w, "z.c", "f", 1, 2);
  world_statements(&w, "b/a.c", "g", 7, 7);
  world_statements(&w, "a.c", "h", 3, 3);
  for (uint32_t run = 0; run < 2; run++)
    world_covers(&w, run, 0, (uint32_t)w.suite.nentities - 1);
  world_close(&w);
  rank(&w, options("ochiai"), 0, &r);
  const uint32_t lines[] = {3, 7, 1, 2};
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(w.entities[r.suspects.items[i].entity].line, lines[i]);
  ranking_release(&r);
  world_release(&w);
}

// Statement 0: all runs; 1: run 1 (A); 2: run 2 (B); 3: never.
static void two_failures(World *w, const char *verdicts) {
  world_init(w, verdicts);
  world_statements(w, "a.c", "f", 1, 4);
  for (uint32_t run = 0; run < 3; run++)
    world_covers(w, run, 0, 0);
  world_covers(w, 1, 1, 1);
  world_covers(w, 2, 2, 2);
  world_close(w);
}

TEST(runs_with_only_other_failures_are_left_out) {
  World w;
  Ranking r;
  two_failures(&w, "PAB");
  rank(&w, options("ochiai"), 0, &r);
  assert_int_equal(r.failing, 1);
  assert_int_equal(r.passing, 1);
  assert_false(r.stand_in);
  expect_near(on_line(&w, &r, 1)->score, 1 / sqrt(2), 1e-12);
  ranking_release(&r);
  world_release(&w);
}

TEST(other_failures_pass_counts_them_as_passing) {
  World w;
  Ranking r;
  two_failures(&w, "PAB");
  SpectrumOptions o = options("ochiai");
  o.others_pass = true;
  rank(&w, o, 0, &r);
  assert_int_equal(r.passing, 2);
  assert_int_equal(on_line(&w, &r, 1)->ep, 2);
  assert_int_equal(on_line(&w, &r, 3)->ep, 1);
  ranking_release(&r);
  world_release(&w);
}

// `culprit input`: runs 0 (failing) and 1 end with 0 and execute 0 and 1, or 0;
// runs 2 and 3 are refused with 2 after having executed 1, too.
static void refused_inputs(World *w, bool alike, int passing_status) {
  world_init(w, "APPP");
  w->suite.command = "culprit input -- ./p";
  w->suite.endings_alike = alike;
  world_statements(w, "a.c", "f", 1, 2);
  for (uint32_t run = 0; run < 4; run++)
    world_covers(w, run, 0, run == 1 ? 0 : 1);
  w->suite.runs[1].status = passing_status;
  w->suite.runs[2].status = w->suite.runs[3].status = 2;
  world_close(w);
}

static void expect_refused_score(bool alike, int status, double want) {
  World w;
  Ranking r;
  refused_inputs(&w, alike, status);
  rank(&w, options("ochiai"), 0, &r);
  expect_near(on_line(&w, &r, 2)->score, want, 1e-12);
  assert_int_equal(on_line(&w, &r, 2)->ep, 2); // shown as they were counted
  assert_int_equal(r.passing, 3);
  assert_int_equal(r.notes.len, !alike && !status);
  ranking_release(&r);
  world_release(&w);
}

TEST(made_inputs_that_end_otherwise_count_an_eighth) {
  expect_refused_score(false, 0, 1 / sqrt(1 + 2.0 / 8));
}

TEST(made_inputs_count_in_full_if_asked_for) {
  expect_refused_score(true, 0, 1 / sqrt(3));
}

TEST(made_inputs_count_in_full_if_all_passing_ones_end_otherwise) {
  expect_refused_score(false, 2, 1 / sqrt(3));
}

TEST(if_nothing_passes_runs_without_the_failure_stand_in) {
  World w;
  Ranking r;
  two_failures(&w, "BAB");
  rank(&w, options("ochiai"), 1, &r); // B has two runs, but A comes first here
  assert_true(r.stand_in);
  assert_int_equal(r.failing, 2);
  assert_int_equal(r.passing, 1);
  assert_int_equal(on_line(&w, &r, 2)->ep, 1);
  ranking_release(&r);
  world_release(&w);
}

TEST(if_every_run_shows_the_failure_nothing_is_ranked) {
  World w;
  Ranking r;
  two_failures(&w, "AAA");
  rank(&w, options("ochiai"), 0, &r);
  assert_int_equal(r.failing, 3);
  assert_int_equal(r.passing, 0);
  assert_false(r.stand_in);
  assert_int_equal(r.suspects.len, 0);
  world_release(&w);
}

TEST(a_run_with_two_failures_counts_as_failing_for_both) {
  World w;
  Ranking a, b;
  two_failures(&w, "PFB");
  rank(&w, options("ochiai"), 0, &a);
  rank(&w, options("ochiai"), 1, &b);
  assert_int_equal(a.failing, 1);
  assert_int_equal(b.failing, 2);
  assert_int_equal(on_line(&w, &b, 2)->ef, 1);
  ranking_release(&a);
  ranking_release(&b);
  world_release(&w);
}

TEST(flaky_skipped_and_unjudged_runs_are_left_out_but_show_what_can_run) {
  World w;
  Ranking r;
  world_init(&w, "PAxse");
  world_statements(&w, "a.c", "f", 1, 5);
  for (uint32_t run = 0; run < 5; run++)
    world_covers(&w, run, run, run);
  world_close(&w);
  rank(&w, options("ochiai"), 0, &r);
  assert_int_equal(r.failing, 1);
  assert_int_equal(r.passing, 1);
  assert_int_equal(r.suspects.len, 5);
  ranking_release(&r);
  world_release(&w);
}

TEST(runs_without_a_spectrum_are_not_counted) {
  World w;
  Ranking r;
  world_init(&w, "PAqp");
  world_statements(&w, "a.c", "f", 1, 1);
  world_covers(&w, 0, 0, 0);
  world_covers(&w, 1, 0, 0);
  world_close(&w);
  rank(&w, options("ochiai"), 0, &r);
  assert_int_equal(r.failing, 1);
  assert_int_equal(r.passing, 1);
  ranking_release(&r);
  world_release(&w);
}

TEST(what_no_compared_run_executed_never_ranks_above_what_one_did) {
  size_t n;
  const FormulaInfo *table = formula_table(&n);
  for (size_t i = 0; i < n; i++) {
    World w;
    Ranking r;
    world_init(&w, "PPPPAx");
    world_statements(&w, "a.c", "f", 1, 3);
    for (uint32_t run = 0; run < 5; run++)
      world_covers(&w, run, 1, 1); // wong2: -3
    world_covers(&w, 5, 0, 0);
    world_close(&w);
    rank(&w, options(table[i].name), 0, &r);
    assert_int_equal(r.suspects.len, 2);
    assert_true(r.suspects.items[0].score >= r.suspects.items[1].score);
    assert_true(on_line(&w, &r, 1)->rank == 2);
    ranking_release(&r);
    world_release(&w);
  }
}

TEST(what_no_run_executed_is_not_listed_but_counts_as_executable) {
  World w;
  Ranking r;
  Spectrum s;
  Err err;
  SpectrumOptions o = options("ochiai");
  two_failures(&w, "PAB");
  assert_int_equal(spectrum_init(&s, &w.suite, &o, &err), 0);
  spectrum_rank(&s, &w.tally, 0, &r);
  assert_int_equal(r.suspects.len, 3);
  assert_int_equal(spectrum_executed(&s, &w.tally), 3);
  assert_int_equal(s.nlisted, 4);
  ranking_release(&r);
  spectrum_release(&s);
  world_release(&w);
}

TEST(filtered_files_are_neither_ranked_nor_counted) {
  World w;
  Ranking r;
  Spectrum s;
  Err err;
  const char *only = "b.c";
  SpectrumOptions o = options("ochiai");
  o.filter = (PathFilter){.only = &only, .nonly = 1};
  world_init(&w, "PA");
  world_statements(&w, "a.c", "f", 1, 4);
  world_statements(&w, "b.c", "g", 11, 13);
  world_covers(&w, 0, 0, 9);
  world_covers(&w, 1, 0, 7);
  world_close(&w);
  assert_int_equal(spectrum_init(&s, &w.suite, &o, &err), 0);
  spectrum_rank(&s, &w.tally, 0, &r);
  assert_int_equal(s.nlisted, 3);
  assert_int_equal(r.suspects.len, 3);
  assert_int_equal(on_line(&w, &r, 11)->rank, 3);
  ranking_release(&r);
  spectrum_release(&s);
  only = "nothing.c";
  assert_int_equal(spectrum_init(&s, &w.suite, &o, &err), -1);
  assert_non_null(strstr(err.text, "--only"));
  world_release(&w);
}

TEST(entities_foreign_to_the_session_are_skipped) {
  World w;
  Ranking r;
  world_init(&w, "PA");
  world_statements(&w, "a.c", "f", 1, 1);
  world_entity(&w, (Entity){.kind = ENTITY_KINDS,
                            .source = ENTITY_NONE,
                            .function = ENTITY_NONE});
  world_covers(&w, 0, 0, 0);
  world_covers(&w, 1, 0, 0);
  world_close(&w);
  rank(&w, options("ochiai"), 0, &r);
  assert_int_equal(r.suspects.len, 1);
  ranking_release(&r);
  world_release(&w);
}

// --- levels -----------------------------------------------------------------

// Two functions of two statements each; the failing run executes all of f and
// half of g, the passing run all of g and half of f.
static void two_functions(World *w) {
  world_init(w, "PA");
  world_statements(w, "a.c", "f", 1, 2);   // 0 1, f is 2
  world_statements(w, "a.c", "g", 11, 12); // 3 4, g is 5
  world_covers(w, 0, 0, 0);
  world_covers(w, 0, 2, 5);
  world_covers(w, 1, 0, 3);
  world_covers(w, 1, 5, 5);
  world_close(w);
}

TEST(a_function_is_scored_by_itself_unless_told_otherwise) {
  World w;
  Ranking r;
  SpectrumOptions o = options("ochiai");
  o.by = ENTITY_FUNCTION;
  two_functions(&w);
  rank(&w, o, 0, &r);
  expect_place(&r, 0, 2, 1, 2);
  expect_place(&r, 1, 5, 1, 2);
  expect_near(r.suspects.items[0].score, 1 / sqrt(2), 1e-12);
  ranking_release(&r);
  world_release(&w);
}

TEST(a_function_takes_the_maximum_over_its_statements) {
  World w;
  Ranking r;
  SpectrumOptions o = options("ochiai");
  o.by = ENTITY_FUNCTION;
  o.entities = 1u << ENTITY_STATEMENT;
  two_functions(&w);
  rank(&w, o, 0, &r);
  expect_place(&r, 0, 2, 1, 1);
  expect_near(r.suspects.items[0].score, 1, 1e-12);
  assert_int_equal(r.suspects.items[0].ep, 0);
  expect_near(r.suspects.items[1].score, 1 / sqrt(2), 1e-12);
  ranking_release(&r);
  world_release(&w);
}

TEST(blocks_and_edges_are_listed_and_scored_alike) {
  for (int k = ENTITY_BLOCK; k <= ENTITY_EDGE; k++) {
    World w;
    Ranking r;
    SpectrumOptions o = options("ochiai");
    o.by = (EntityKind)k;
    world_init(&w, "PA");
    world_statements(&w, "a.c", "f", 1, 1);
    for (uint32_t i = 0; i < 3; i++)
      world_entity(
          &w, (Entity){
                  .kind = (EntityKind)k, .line = 1, .index = i, .function = 1});
    world_covers(&w, 0, 0, 2);
    world_covers(&w, 1, 0, 3);
    world_close(&w);
    rank(&w, o, 0, &r);
    assert_int_equal(r.suspects.len, 2);
    expect_place(&r, 0, 3, 1, 1);
    expect_place(&r, 1, 2, 2, 2);
    ranking_release(&r);
    world_release(&w);
  }
}

static void expect_refused(EntityKind by, unsigned entities,
                           const char *words) {
  World w;
  Spectrum s;
  Err err;
  SpectrumOptions o = options("ochiai");
  o.by = by;
  o.entities = entities;
  two_functions(&w);
  assert_int_equal(spectrum_init(&s, &w.suite, &o, &err), -1);
  if (!strstr(err.text, words))
    fail_msg("'%s' lacks '%s'", err.text, words);
  world_release(&w);
}

TEST(kinds_the_session_does_not_have_are_refused_by_name) {
  expect_refused(ENTITY_STATEMENT,
                 1u << ENTITY_STATEMENT | 1u << ENTITY_CONDITION,
                 "no condition entities (it has: statement, function)");
}

TEST(kinds_that_do_not_belong_to_what_is_listed_are_refused) {
  expect_refused(ENTITY_STATEMENT, 1u << ENTITY_FUNCTION,
                 "--by statement cannot be scored by --entities function");
}

// --- known faults -----------------------------------------------------------

static Fault fault_at(const World *w, const char *spec, EntityKind by) {
  Fault f = {0};
  Err err;
  if (fault_add(&f, &w->suite, spec, by, &err))
    fail_msg("%s", err.text);
  return f;
}

TEST(the_fault_of_figure_1_is_found_after_78_percent_with_tarantula) {
  World w;
  Ranking r;
  FaultScore s;
  world_figure1(&w);
  rank(&w, options("tarantula"), 0, &r);
  Fault f = fault_at(&w, "fig1.c:2", ENTITY_STATEMENT);
  fault_score(&f, &r, 9, 18, &s);
  assert_int_equal(s.rank, 7);
  assert_int_equal(s.rank_best, 4);
  assert_int_equal(s.ties, 4);
  expect_near(s.rank_average, 5.5, 1e-12);
  expect_near(s.examined_executed, 77.8, 0.05);
  expect_near(s.examined_executable, 38.9, 0.05);
  assert_false(s.well_first || s.well_all);
  const double top[FAULT_TOPS] = {0, 0, 0.5, 1};
  for (int i = 0; i < FAULT_TOPS; i++)
    expect_near(s.top[i], top[i], 1e-12);
  fault_release(&f);
  ranking_release(&r);
  world_release(&w);
}

TEST(two_faulty_lines_in_one_tie_group_raise_the_chance_of_the_first) {
  World w;
  Ranking r;
  FaultScore s;
  world_figure1(&w);
  rank(&w, options("tarantula"), 0, &r);
  Fault f = fault_at(&w, "./fig1.c:6,7", ENTITY_STATEMENT);
  fault_score(&f, &r, 9, 9, &s);
  assert_int_equal(s.rank, 3);
  expect_near(s.top[0], 2.0 / 3, 1e-12);
  expect_near(s.top[1], 1, 1e-12);
  expect_near(s.rank_average, 4.0 / 3, 1e-12);
  fault_release(&f);
  ranking_release(&r);
  world_release(&w);
}

TEST(of_several_faulty_lines_the_first_found_counts_and_all_must_be_near) {
  World w;
  Ranking r;
  FaultScore s;
  world_figure1(&w);
  rank(&w, options("tarantula"), 0, &r);
  Fault f = fault_at(&w, "fig1.c:9", ENTITY_STATEMENT);
  Err err;
  assert_int_equal(
      fault_add(&f, &w.suite, "/proj/fig1.c:8,9", ENTITY_STATEMENT, &err), 0);
  assert_int_equal(f.places.len, 2);
  fault_score(&f, &r, 400, 800, &s);
  assert_int_equal(s.rank, 3);
  assert_true(s.well_first);
  assert_false(s.well_all); // rank 9 of 400
  fault_score(&f, &r, 1000, 1000, &s);
  assert_true(s.well_all);
  fault_release(&f);
  ranking_release(&r);
  world_release(&w);
}

TEST(exactly_one_percent_is_not_well_localized) {
  World w;
  Ranking r;
  FaultScore s;
  world_figure1(&w);
  rank(&w, options("tarantula"), 0, &r);
  Fault f = fault_at(&w, "fig1.c:7", ENTITY_STATEMENT);
  fault_score(&f, &r, 300, 300, &s);
  assert_false(s.well_first);
  fault_score(&f, &r, 301, 301, &s);
  assert_true(s.well_first);
  fault_release(&f);
  ranking_release(&r);
  world_release(&w);
}

TEST(a_line_without_statement_is_stood_for_by_the_nearest_one) {
  World w;
  world_init(&w, "PA");
  world_statements(&w, "a.c", "f", 10, 11);
  world_statements(&w, "a.c", "g", 13, 13);
  world_statements(&w, "a.c", "h", 20, 20);
  const uint32_t cases[][2] = {{10, 10}, {12, 13}, {14, 13}, {16, 13},
                               {17, 20}, {1, 10},  {999, 20}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char spec[32];
    snprintf(spec, sizeof spec, "a.c:%u", cases[i][0]);
    Fault f = fault_at(&w, spec, ENTITY_STATEMENT);
    assert_int_equal(f.places.items[0].line, cases[i][0]);
    assert_int_equal(w.entities[f.places.items[0].statement].line, cases[i][1]);
    fault_release(&f);
  }
  world_release(&w);
}

TEST(a_fault_nobody_executed_is_not_ranked_and_costs_everything) {
  World w;
  Ranking r;
  FaultScore s;
  two_failures(&w, "PAB");
  rank(&w, options("ochiai"), 0, &r);
  Fault f = fault_at(&w, "a.c:4", ENTITY_STATEMENT);
  fault_score(&f, &r, 3, 4, &s);
  assert_int_equal(s.ranked, 0);
  assert_int_equal(s.rank, 0);
  expect_near(s.examined_executed, 100, 0);
  expect_near(s.top[FAULT_TOPS - 1], 0, 0);
  assert_false(s.well_all);
  fault_release(&f);
  ranking_release(&r);
  world_release(&w);
}

TEST(by_function_the_fault_is_the_function_around_the_line) {
  World w;
  Ranking r;
  FaultScore s;
  SpectrumOptions o = options("ochiai");
  o.by = ENTITY_FUNCTION;
  o.entities = 1u << ENTITY_STATEMENT;
  two_functions(&w);
  rank(&w, o, 0, &r);
  Fault f = fault_at(&w, "a.c:11,12", ENTITY_FUNCTION);
  fault_score(&f, &r, 2, 2, &s);
  assert_int_equal(s.listed, 1);
  assert_int_equal(s.rank, 2);
  fault_release(&f);
  ranking_release(&r);
  world_release(&w);
}

static void expect_bad_fault(const char *spec, EntityKind by,
                             const char *words) {
  World w;
  Fault f = {0};
  Err err;
  world_init(&w, "PA");
  world_statements(&w, "x/a.c", "f", 1, 1);
  world_statements(&w, "y/a.c", "g", 1, 1);
  assert_int_equal(fault_add(&f, &w.suite, spec, by, &err), -1);
  if (!strstr(err.text, words))
    fail_msg("'%s' lacks '%s'", err.text, words);
  assert_int_equal(f.places.len, 0);
  world_release(&w);
}

TEST(a_fault_that_is_no_file_and_line_is_refused) {
  const char *bad[] = {"",
                       "x/a.c",
                       "x/a.c:",
                       ":3",
                       "a.c:0",
                       "a.c:1,",
                       "a.c:1,,2",
                       "a.c:x",
                       "a.c:-1",
                       "a.c:1 ",
                       "a.c:99999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_bad_fault(bad[i], ENTITY_STATEMENT, "FILE:LINE");
}

TEST(a_fault_in_an_unknown_or_ambiguous_file_is_refused) {
  expect_bad_fault("b.c:1", ENTITY_STATEMENT, "no statement in such a file");
  expect_bad_fault("a.c:1", ENTITY_STATEMENT, "x/a.c or y/a.c");
  expect_bad_fault("x/a.c:1", ENTITY_EDGE, "--by statement");
}

TEST(a_whole_path_is_never_ambiguous) {
  World w;
  world_init(&w, "PA");
  world_statements(&w, "x/a.c", "f", 1, 1);
  world_statements(&w, "a.c", "g", 1, 1);
  Fault f = fault_at(&w, "a.c:1", ENTITY_STATEMENT);
  assert_int_equal(f.places.items[0].source, 1);
  fault_release(&f);
  world_release(&w);
}
