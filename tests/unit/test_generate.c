// Unit tests of src/generate: similarity of runs, reduction of inputs.
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "input/frontier.h"
#include "input/havoc.h"
#include "input/made.h"
#include "input/site_queue.h"
#include "model/similarity.h"
#include "util/ddmin.h"
#include "util/mem.h"

static const Strategy *strategy_find(const char *name) {
  size_t i = 0;
  while (strcmp(strategy_at(i)->name, name) != 0)
    i++;
  return strategy_at(i);
}

static void assert_near(double got, double want) {
  if (got < want - 0.05 || got > want + 0.05)
    fail_msg("%f, expected %f", got, want);
}

static const PathStep six[] = {{1, 1}, {2, 0}, {3, 1}, {4, 0}, {5, 1}, {6, 1}};
static const PathStep third_differs[] = {{1, 1}, {2, 0}, {3, 0},
                                         {4, 0}, {5, 1}, {6, 1}};

// How alike two paths are as multisets.
static double alike(const PathStep *a, size_t na, const PathStep *b,
                    size_t nb) {
  PathStep *x = similarity_sorted(a, na), *y = similarity_sorted(b, nb);
  size_t both = similarity_common(x, na, y, nb);
  free(x);
  free(y);
  return similarity_share(both, na, nb);
}

TEST(of_six_conditions_one_differs_83_percent) {
  assert_near(alike(six, 6, third_differs, 6), 83.3);
}

TEST(of_six_inputs_one_differs_83_percent) {
  assert_near(similarity_inputs((const unsigned char *)"abcdef", 6,
                                (const unsigned char *)"abXdef", 6),
              83.3);
}

TEST(similarity_is_over_the_longer_one) {
  assert_near(alike(six, 6, six, 3), 50.0);
  assert_near(similarity_inputs((const unsigned char *)"ab", 2,
                                (const unsigned char *)"abcd", 4),
              50.0);
}

TEST(a_loop_counts_as_often_as_both_went_through_it) {
  const PathStep twice[] = {{1, 1}, {1, 1}, {1, 0}};
  const PathStep thrice[] = {{1, 1}, {1, 1}, {1, 1}, {1, 0}};
  assert_near(alike(twice, 3, thrice, 4), 75.0);
}

TEST(two_empty_paths_are_alike) {
  assert_near(alike(NULL, 0, NULL, 0), 100);
  assert_near(alike(six, 6, NULL, 0), 0);
}

typedef struct {
  const char *text, *needs; // fails if all letters of `needs` are there
  size_t asked;
} Toy;

static bool toy_fails(void *ctx, const bool *keep, size_t n) {
  Toy *t = ctx;
  t->asked++;
  for (const char *c = t->needs; *c; c++) {
    bool there = false;
    for (size_t i = 0; i < n; i++)
      there |= keep[i] && t->text[i] == *c;
    if (!there)
      return false;
  }
  return true;
}

static void assert_reduces(const char *text, const char *needs,
                           const char *want) {
  size_t n = strlen(text), budget = 10000, at = 0;
  Toy t = {.text = text, .needs = needs};
  bool *keep = mem_array(bool, n + 1);
  char got[256] = "";
  memset(keep, 1, n);
  size_t left = ddmin(n, keep, toy_fails, &t, &budget);
  for (size_t i = 0; i < n; i++)
    if (keep[i])
      got[at++] = text[i];
  assert_string_equal(got, want);
  assert_int_equal(left, strlen(want));
  assert_int_equal(t.asked, 10000 - budget);
  free(keep);
}

TEST(what_the_failure_needs_is_left) {
  assert_reduces("abcdefghijklmnopqrstuvwxyz", "k", "k");
  assert_reduces("abcdefghijklmnopqrstuvwxyz", "az", "az");
  assert_reduces("abcdefghijklmnopqrstuvwxyz", "aekz", "aekz");
  assert_reduces("ab", "ab", "ab");
}

TEST(a_failure_that_needs_nothing_leaves_nothing) {
  assert_reduces("abc", "", "");
  assert_reduces("", "", "");
}

TEST(a_budget_ends_the_search_with_what_has_been_reached) {
  Toy t = {.text = "abcdefgh", .needs = "h"};
  bool keep[8];
  size_t budget = 2;
  memset(keep, 1, sizeof keep);
  size_t left = ddmin(8, keep, toy_fails, &t, &budget);
  assert_int_equal(budget, 0);
  assert_true(left < 8);
  assert_true(keep[7]);
  assert_int_equal(t.asked, 2);
}

// --- scores -----------------------------------------------------------------

enum { RUNS = 6, STEPS = 40 };

// Runs of a loop with three conditions, each with another outcome now and then.
static void make_runs(Frontier *f) {
  unsigned seed = 7;
  for (uint32_t i = 0; i < RUNS; i++) {
    Explored run = {.nsteps = STEPS - i, .steps = mem_array(PathStep, STEPS)};
    for (uint32_t k = 0; k < STEPS; k++) {
      seed = seed * 1103515245 + 12345;
      run.steps[k] = (PathStep){k % 3, seed >> 16 & 1};
      array_push(&run.path.events,
                 (PathEvent){.branch = k % 3, .edge = run.steps[k].outcome});
    }
    array_push(&f->runs, run);
  }
}

static void release_runs(Frontier *f) {
  for (size_t i = 0; i < f->runs.len; i++) {
    free(f->runs.items[i].steps);
    array_release(&f->runs.items[i].path.events);
  }
  array_release(&f->runs);
}

// All flips of run 0, last first.
static void make_flips(FlipCandidate *c) {
  for (uint32_t i = 0; i < STEPS; i++)
    c[i] = (FlipCandidate){.event = STEPS - 1 - i, .edge = i % 2, .number = i};
}

// One failing run with the six conditions from above, and a flip of each.
static void make_six(Frontier *f, FlipCandidate *c) {
  Explored run = {.nsteps = 6, .steps = mem_array(PathStep, 6), .shows = true};
  for (uint32_t k = 0; k < 6; k++) {
    run.steps[k] = six[k];
    array_push(&run.path.events,
               (PathEvent){.branch = IR_NONE, .outcome = six[k].outcome});
    array_push(&f->sites, (FlipSite){.taken = true});
    c[k] = (FlipCandidate){.event = k, .site = k, .number = k};
  }
  array_push(&f->runs, run);
}

static void release_six(Frontier *f) {
  release_runs(f);
  array_release(&f->sites);
}

TEST(a_flip_is_predicted_to_leave_the_other_conditions_as_they_were) {
  Frontier f = {0};
  FlipCandidate c[6];
  make_six(&f, c);
  strategy_find("pcs")->score(&f, 0, c, 6);
  for (size_t k = 0; k < 6; k++)
    assert_near(c[k].score, 83.3);
  strategy_find("pcs-seq")->score(&f, 0, c, 6);
  assert_near(c[0].score, 83.3);
  assert_near(c[2].score, 50.0);
  assert_near(c[5].score, 83.3);
  release_six(&f);
}

TEST(among_equals_the_new_comes_first_then_the_least_tried_then_the_early) {
  Frontier f = {0};
  FlipCandidate c[6];
  make_six(&f, c);
  const Strategy *s = strategy_find("pcs");
  s->score(&f, 0, c, 6);
  assert_true(s->now(&f, &c[0]) > s->now(&f, &c[1]));
  f.sites.items[0].tried = 1;
  assert_true(s->now(&f, &c[0]) < s->now(&f, &c[5]));
  f.sites.items[3].taken = false;
  for (size_t k = 0; k < 6; k++)
    assert_true(k == 3 || s->now(&f, &c[3]) > s->now(&f, &c[k]));
  f.sites.items[3].vain = 1000;
  assert_true(s->now(&f, &c[3]) < s->now(&f, &c[1]));
  release_six(&f);
}

TEST(what_is_far_less_alike_comes_later_even_if_it_is_new) {
  Frontier f = {0};
  FlipCandidate c[6];
  make_six(&f, c);
  const Strategy *s = strategy_find("pcs");
  s->score(&f, 0, c, 6);
  f.sites.items[3].taken = false;
  c[3].score = 50;
  assert_true(s->now(&f, &c[3]) < s->now(&f, &c[5]));
  release_six(&f);
}

static Explored run_of(const char *input) {
  Explored run = {.shows = true};
  inputs_add_stdin(&run.inputs, input, strlen(input));
  array_push(&run.path.first_var, 0);
  array_push(&run.path.size_var, 1000);
  return run;
}

static void release_run_of(Explored *run) {
  inputs_release(&run->inputs);
  array_release(&run->path.first_var);
  array_release(&run->path.size_var);
}

// Of "abcd" comes "abcX"; then that turns out to fail, too.
TEST(an_input_that_was_found_once_is_compared_with_every_failing_run) {
  const Strategy *s = strategy_find("is");
  Frontier f = {0};
  Model model = {0};
  array_push(&model, (Binding){3, 'X'});
  FlipCandidate c[2] = {{.model = &model}, {.number = 1}};
  array_push(&f.runs, run_of("abcd"));
  s->score(&f, 0, c, 2);
  assert_near(c[0].score, 75);
  assert_near(c[1].score, -1); // no solver: no input
  array_push(&f.runs, run_of("YYYX"));
  s->raise(&f, 0, c, 2, &f.runs.items[1]);
  assert_near(c[0].score, 75);
  array_push(&f.runs, run_of("abcX"));
  s->raise(&f, 0, c, 2, &f.runs.items[2]);
  assert_near(c[0].score, 100);
  assert_near(c[1].score, -1);
  for (size_t i = 0; i < f.runs.len; i++)
    release_run_of(&f.runs.items[i]);
  array_release(&f.runs);
  model_release(&model);
}

TEST(scores_raised_by_one_failing_run_after_another_are_those_of_all_at_once) {
  static const char *const names[] = {"pcs", "pcs-seq", "mix"};
  Frontier f = {0};
  make_runs(&f);
  for (size_t n = 0; n < 3; n++) {
    const Strategy *s = strategy_find(names[n]);
    FlipCandidate one[STEPS], other[STEPS];
    make_flips(one);
    make_flips(other);
    for (size_t i = 0; i < RUNS; i++)
      f.runs.items[i].shows = i == RUNS - 1; // the one least alike
    s->score(&f, 0, one, STEPS);
    double sum = 0, before = 0;
    for (size_t i = 0; i < STEPS; i++)
      before += one[i].score;
    for (size_t i = 1; i < RUNS - 1; i++) {
      s->raise(&f, 0, one, STEPS, &f.runs.items[i]);
      s->raise(&f, 0, one, STEPS, &f.runs.items[i]); // twice is once
      f.runs.items[i].shows = true;
    }
    s->score(&f, 0, other, STEPS);
    for (size_t i = 0; i < STEPS; i++) {
      assert_near(one[i].score, other[i].score);
      sum += other[i].score;
    }
    assert_true(sum > before + 1);
  }
  release_runs(&f);
}

// --- sites ------------------------------------------------------------------

TEST(an_outcome_that_no_run_took_is_cheapest_until_it_was_tried_in_vain) {
  assert_true(site_cost(0, 0) < site_cost(0, 1));
  assert_true(site_cost(0, 1) < site_cost(0, 100));
  assert_true(site_cost(0, 1) < site_cost(10, 0));
  assert_true(site_cost(3, 7) < site_cost(4, 7));
}

TEST(of_one_site_the_best_candidate_comes_first_then_the_oldest) {
  SiteQueue q = {0};
  const double scores[] = {1, 3, 2, 3, 0};
  const uint32_t order[] = {1, 3, 2, 0, 4};
  for (uint32_t i = 0; i < 5; i++)
    site_queue_add(&q, &(FlipCandidate){.site = 7, .number = i}, scores[i]);
  assert_int_equal(q.len, 5);
  for (size_t i = 0; i < 5; i++)
    assert_int_equal(site_queue_take(&q, 7).number, order[i]);
  assert_int_equal(q.len, 0);
  site_queue_release(&q);
}

// --- mutations --------------------------------------------------------------

TEST(the_same_seed_makes_the_same_mutations) {
  Inputs in = {0};
  size_t changed = 0;
  Mutator a = {.seed = 5}, b = {.seed = 5};
  inputs_add_stdin(&in, "key=1\n", 6);
  inputs_add_env(&in, "MODE", "fast");
  const Inputs *list[] = {&in};
  mutator_add_word(&a, "true", 4);
  mutator_add_word(&b, "true", 4);
  mutator_add_word(&b, "true", 4);
  for (int i = 0; i < 200; i++) {
    Inputs x, y;
    mutate(&a, list, 1, &x);
    mutate(&b, list, 1, &y);
    assert_int_equal(made_hash(&x), made_hash(&y));
    assert_string_equal((char *)x.sources.items[1].bytes, "fast");
    changed += made_hash(&x) != made_hash(&in);
    inputs_release(&x);
    inputs_release(&y);
  }
  assert_true(changed > 100);
  mutator_release(&a);
  mutator_release(&b);
  inputs_release(&in);
}

TEST(what_names_an_input_file_is_not_mutated) {
  Inputs in = {0};
  Mutator m = {.seed = 1};
  inputs_add_arg(&in, 1, "data.txt");
  inputs_add_file(&in, "data.txt", "", 0);
  const Inputs *list[] = {&in};
  for (int i = 0; i < 200; i++) {
    Inputs x;
    mutate(&m, list, 1, &x);
    assert_string_equal((char *)x.sources.items[0].bytes, "data.txt");
    inputs_release(&x);
  }
  mutator_release(&m);
  inputs_release(&in);
}
