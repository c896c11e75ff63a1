// Unit tests of the set and nearest-neighbour baselines: locate/neighbour.h.
#include "test.h"

#include "locate/neighbour.h"
#include "spectra.h"

enum { MAX_COUNTS = 8 };

// Four statements on lines 1 to 4; with counts, each line has a condition
// outcome that is entity 5 + line - 1.
typedef struct {
  World w;
  EntityCount counts[64][MAX_COUNTS];
  size_t ncounts[64];
  Neighbours n;
} Setup;

enum { TUPLES = 5 };

static void setup_init(Setup *s, const char *verdicts) {
  memset(s, 0, sizeof *s);
  world_init(&s->w, verdicts);
  world_statements(&s->w, "a.c", "f", 1, 4);
  for (uint32_t line = 1; line <= 4; line++)
    world_entity(&s->w, (Entity){.kind = ENTITY_CONDITION,
                                 .line = line,
                                 .function = 4,
                                 .index = line,
                                 .from = 1,
                                 .to = ENTITY_NONE});
}

// "1011": lines 1, 3 and 4.
static void executes(Setup *s, uint32_t run, const char *lines) {
  for (uint32_t i = 0; lines[i]; i++)
    if (lines[i] == '1')
      world_covers(&s->w, run, i, i);
}

// "3104": how often each line's outcome was seen.
static void sees(Setup *s, uint32_t run, const char *counts) {
  for (uint32_t i = 0; counts[i]; i++)
    if (counts[i] != '0')
      s->counts[run][s->ncounts[run]++] =
          (EntityCount){TUPLES + i, (uint64_t)(counts[i] - '0')};
}

static void setup_close(Setup *s) {
  neighbours_init(&s->n, &s->w.suite);
  for (int pass = 0; pass < 2; pass++)
    for (size_t run = 0; run < s->w.suite.nruns; run++) {
      Spectra spectra = world_spectra(&s->w, run);
      spectra.counts = s->counts[run];
      spectra.ncounts = s->ncounts[run];
      if (pass)
        neighbours_add_run(&s->n, run, &spectra);
      else
        neighbours_add_failing(&s->n, run, &spectra);
      spectra_release(&spectra);
    }
}

static void setup_release(Setup *s) {
  neighbours_release(&s->n);
  world_release(&s->w);
}

static Ranking ranked(Setup *s, const char *method) {
  Ranking r;
  Err err;
  LocateOptions o = {.explain = SIZE_MAX};
  if (world_rank(&s->w, method, &s->n, o, &r, &err))
    fail_msg("%s", err.text);
  return r;
}

// "0100": only line 2 is reported.
static void expect_report(Setup *s, const char *method, const char *want) {
  Ranking r = ranked(s, method);
  for (uint32_t i = 0; i < 4; i++)
    if (suspect_of(&r, i)->score != want[i] - '0')
      fail_msg("line %u: %g, want %c", i + 1, suspect_of(&r, i)->score,
               want[i]);
  ranking_release(&r);
}

TEST(set_union_reports_what_no_passing_run_executes) {
  Setup s;
  setup_init(&s, "APP");
  executes(&s, 0, "1101");
  executes(&s, 1, "1010");
  executes(&s, 2, "1001");
  setup_close(&s);
  expect_report(&s, "set-union", "0100");
  Ranking r = ranked(&s, "set-union");
  assert_int_equal(r.suspects.items[0].rank, 1);
  assert_int_equal(r.suspects.items[1].rank, 4);
  assert_true(says(&r.suspects.items[0], "set", "no passing run"));
  assert_int_equal(r.suspects.items[0].ef, 1);
  ranking_release(&r);
  setup_release(&s);
}

TEST(set_intersection_reports_what_all_passing_runs_but_not_the_failing_do) {
  Setup s;
  setup_init(&s, "APP");
  executes(&s, 0, "1100");
  executes(&s, 1, "1010");
  executes(&s, 2, "1011");
  setup_close(&s);
  expect_report(&s, "set-intersection", "0010");
  setup_release(&s);
}

TEST(several_failing_runs_report_together) {
  Setup s;
  setup_init(&s, "AAP");
  executes(&s, 0, "1100");
  executes(&s, 1, "1010");
  executes(&s, 2, "1001");
  setup_close(&s);
  expect_report(&s, "set-union", "0110");
  expect_report(&s, "set-intersection", "0001");
  expect_report(&s, "nn", "0110");
  setup_release(&s);
}

TEST(the_nearest_run_is_the_one_that_differs_in_fewest_lines) {
  Setup s;
  setup_init(&s, "PAP");
  executes(&s, 0, "1000"); // distance 3
  executes(&s, 1, "1111");
  executes(&s, 2, "1101"); // distance 1
  setup_close(&s);
  expect_report(&s, "nn", "0010");
  Ranking r = ranked(&s, "nn");
  assert_true(says(&r.suspects.items[0], "neighbour",
                   "test t2 differs from test t3, the nearest that passes "
                   "(distance 1)"));
  ranking_release(&r);
  setup_release(&s);
}

TEST(of_equally_near_runs_the_first_is_taken) {
  Setup s;
  setup_init(&s, "APP");
  executes(&s, 0, "1111");
  executes(&s, 1, "1110");
  executes(&s, 2, "0111");
  setup_close(&s);
  expect_report(&s, "nn", "0001");
  setup_release(&s);
}

TEST(a_neighbour_that_executes_more_leaves_an_empty_report) {
  Setup s;
  setup_init(&s, "AP");
  executes(&s, 0, "1100");
  executes(&s, 1, "1110");
  setup_close(&s);
  Ranking r = ranked(&s, "nn");
  for (size_t i = 0; i < r.suspects.len; i++)
    assert_true(r.suspects.items[i].score == 0);
  ranking_release(&r);
  setup_release(&s);
}

TEST(permutations_differ_where_something_became_more_frequent) {
  // All execute everything. In the failing run line 1 is seen most, in its
  // neighbour least: one move. The other passing run has it all reversed.
  Setup s;
  setup_init(&s, "PAP");
  for (uint32_t run = 0; run < 3; run++)
    executes(&s, run, "1111");
  sees(&s, 0, "4321");
  sees(&s, 1, "9234");
  sees(&s, 2, "1234");
  setup_close(&s);
  expect_report(&s, "nn", "0000");
  expect_report(&s, "nn-perm", "1000");
  Ranking r = ranked(&s, "nn-perm");
  assert_true(says(&r.suspects.items[0], "neighbour", "test t3"));
  assert_true(says(&r.suspects.items[0], "neighbour", "(distance 1)"));
  assert_int_equal(r.notes.len, 0);
  ranking_release(&r);
  setup_release(&s);
}

TEST(permutations_of_different_sets_also_differ_in_those) {
  // Line 4 is new, line 3 is missing: put in, taken out, nothing moved.
  Setup s;
  setup_init(&s, "AP");
  executes(&s, 0, "1101");
  executes(&s, 1, "1110");
  sees(&s, 0, "1203");
  sees(&s, 1, "1230");
  setup_close(&s);
  expect_report(&s, "nn-perm", "0001");
  Ranking r = ranked(&s, "nn-perm");
  assert_true(says(&r.suspects.items[0], "neighbour", "(distance 2)"));
  ranking_release(&r);
  setup_release(&s);
}

TEST(without_counts_the_binary_distance_stands_in_and_a_note_says_so) {
  Setup s;
  setup_init(&s, "APP");
  executes(&s, 0, "1101");
  executes(&s, 1, "1110");
  executes(&s, 2, "0000");
  sees(&s, 0, "1101");
  setup_close(&s);
  expect_report(&s, "nn-perm", "0001");
  Ranking r = ranked(&s, "nn-perm");
  assert_true(notes(&r, "hits", "1 of 1 failing runs"));
  ranking_release(&r);
  setup_release(&s);
}

TEST(runs_with_other_failures_may_be_neighbours_if_they_count_as_passing) {
  Setup s;
  setup_init(&s, "PAB");
  executes(&s, 0, "1000");
  executes(&s, 1, "1111");
  executes(&s, 2, "1110");
  for (uint32_t run = 0; run < 3; run++)
    sees(&s, run, run == 0 ? "1000" : run == 1 ? "1111" : "1110");
  setup_close(&s);
  expect_report(&s, "nn", "0111");
  Ranking r;
  Err err;
  LocateOptions o = {.others_pass = true};
  for (int m = 0; m < 2; m++) {
    assert_int_equal(world_rank(&s.w, m ? "nn-perm" : "nn", &s.n, o, &r, &err),
                     0);
    assert_int_equal(r.suspects.items[0].entity, 3);
    assert_true(r.suspects.items[0].score == 1);
    assert_true(r.suspects.items[1].score == 0);
    ranking_release(&r);
  }
  setup_release(&s);
}

// The length of the longest common subsequence, the slow way.
static size_t common(const Sequence *a, const Sequence *b) {
  size_t best[17][17] = {0};
  for (size_t i = 0; i < a->len; i++)
    for (size_t j = 0; j < b->len; j++) {
      size_t *at = &best[i + 1][j + 1];
      *at = best[i][j + 1] > best[i + 1][j] ? best[i][j + 1] : best[i + 1][j];
      if (a->items[i] == b->items[j])
        *at = best[i][j] + 1;
    }
  return best[a->len][b->len];
}

TEST(the_permutation_distance_is_that_of_the_longest_common_subsequence) {
  uint64_t state = 3;
  for (int round = 0; round < 500; round++) {
    Setup s;
    setup_init(&s, "AP");
    for (uint32_t run = 0; run < 2; run++)
      for (uint32_t e = 0; e < MAX_COUNTS; e++)
        if (draw(&state, 4))
          s.counts[run][s.ncounts[run]++] =
              (EntityCount){e, 1 + draw(&state, 5)};
    setup_close(&s);
    const Sequence *a = &s.n.sequences[0];
    const Nearest *nearest = &s.n.permutation[0];
    if (a->len && s.ncounts[1]) {
      const Sequence *b = &nearest->sequence;
      size_t both = 0;
      for (size_t i = 0; i < a->len; i++)
        both += bitset_has(&b->set, a->items[i]);
      size_t want = (a->len - both) + (b->len - both) + both - common(a, b);
      assert_int_equal(nearest->run, 1);
      assert_int_equal(nearest->distance, want);
    }
    setup_release(&s);
  }
}
