// Unit tests of CBI and SOBER: src/locate/predicate.h.
#include "test.h"

#include "locate/predicate.h"
#include "spectra.h"

// --- the formulas
// ---------------------------------------------------------------

TEST(increase_and_importance_are_as_by_hand) {
  // True in 8 of 10 failing and 2 of 90 passing runs; observed in all.
  PredicateCounts c = {
      .f = 8, .s = 2, .f_observed = 10, .s_observed = 90, .failing = 10};
  expect_near(cbi_increase(c), 0.8 - 0.1, 1e-12);
  double sensitivity = log(8) / log(10);
  expect_near(cbi_importance(c), 2 / (1 / 0.7 + 1 / sensitivity), 1e-12);
}

TEST(an_increase_that_may_be_chance_is_discarded) {
  // 3 of 4 against 10 of 20: 0.25 +- 1.96 * sqrt(.75*.25/4 + .25/20)
  PredicateCounts c = {
      .f = 3, .s = 1, .f_observed = 10, .s_observed = 10, .failing = 10};
  expect_near(cbi_increase(c), 0.25, 1e-12);
  expect_near(cbi_importance(c), 0, 0);
  // The same shares of many more runs are no chance.
  c = (PredicateCounts){300, 100, 1000, 1000, 1000};
  assert_true(cbi_importance(c) > 0.3);
}

TEST(a_predicate_that_is_always_true_where_it_is_observed_explains_nothing) {
  PredicateCounts c = {50, 50, 50, 50, 50};
  expect_near(cbi_increase(c), 0, 0);
  expect_near(cbi_importance(c), 0, 0);
}

TEST(sensitivity_has_an_answer_for_one_run) {
  PredicateCounts c = {
      .f = 1, .s = 0, .f_observed = 1, .s_observed = 99, .failing = 1};
  expect_near(cbi_importance(c), 2 / (1 / 0.99 + 1), 1e-12);
  c.failing = c.f_observed = 10; // one of ten: log 1 is 0
  expect_near(cbi_importance(c), 0, 0);
}

TEST(importance_is_finite_and_between_0_and_1_for_all_small_counts) {
  for (uint32_t f = 0; f < 6; f++)
    for (uint32_t s = 0; s < 6; s++)
      for (uint32_t more_f = 0; more_f < 6; more_f++)
        for (uint32_t more_s = 0; more_s < 6; more_s++)
          for (uint32_t unseen = 0; unseen < 3; unseen++) {
            PredicateCounts c = {f, s, f + more_f, s + more_s,
                                 f + more_f + unseen};
            double i = cbi_importance(c);
            assert_true(i >= 0 && i <= 1);
            assert_true(isfinite(cbi_increase(c)));
          }
  assert_true(isfinite(cbi_importance((PredicateCounts){
      UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX})));
}

TEST(sober_is_the_negative_log_of_the_density) {
  // Mean .6 of 4 failing runs, passing .5 +- .2: one deviation of the mean.
  double density = 1 / (0.1 * sqrt(2 * M_PI)) * exp(-0.5);
  expect_near(sober_score(0.6, 4, 0.5, 0.2), -log(density), 1e-12);
  expect_near(sober_score(0.4, 4, 0.5, 0.2), -log(density), 1e-12);
}

TEST(sober_grows_with_the_distance_and_the_number_of_failing_runs) {
  for (double x = 0.5; x < 1; x += 0.05)
    assert_true(sober_score(x, 5, 0.5, 0.1) <
                sober_score(x + 0.05, 5, 0.5, 0.1));
  assert_true(sober_score(0.9, 5, 0.5, 0.1) < sober_score(0.9, 50, 0.5, 0.1));
}

TEST(without_deviation_a_difference_is_everything_and_none_is_nothing) {
  double same = sober_score(1, 3, 1, 0), other = sober_score(0, 3, 1, 0);
  assert_true(isfinite(same) && isfinite(other));
  assert_true(same < sober_score(0.5, 3, 0.5, 0.01));
  assert_true(other > sober_score(0, 1000, 1, 0.01));
}

// --- rankings
// -------------------------------------------------------------------

enum { S1, S2, S3, S4, F, IF_FALSE, IF_TRUE, NULL_, NON_NULL, CONSTANT, CASE };

// Line 1: if (...), line 2: p = g(), line 3: switch with two cases, line 4.
static void world_predicates(World *w, const char *verdicts) {
  world_init(w, verdicts);
  world_statements(w, "a.c", "f", 1, 4);
  Entity e = {.kind = ENTITY_CONDITION,
              .line = 1,
              .function = F,
              .to = ENTITY_NONE,
              .name = "if"};
  for (e.from = 0; e.from < 2; e.from++)
    world_entity(w, e);
  e = (Entity){.kind = ENTITY_RETURN,
               .line = 2,
               .function = F,
               .to = ENTITY_NONE,
               .name = "g"};
  const ReturnClass classes[] = {RETURN_NULL, RETURN_NON_NULL, RETURN_CONSTANT};
  for (int i = 0; i < 3; i++) {
    e.from = classes[i];
    world_entity(w, e);
  }
  e = (Entity){.kind = ENTITY_CONDITION,
               .line = 3,
               .function = F,
               .index = 1,
               .to = ENTITY_NONE,
               .name = "switch"};
  for (e.from = 0; e.from < 3; e.from++)
    world_entity(w, e);
}

static void hit(World *w, uint32_t run, uint32_t entity) {
  world_covers(w, run, entity, entity);
}

static void load(World *w, Predicates *p, const EntityCount (*counts)[2]) {
  predicates_init(p, &w->suite);
  for (size_t run = 0; run < w->suite.nruns; run++) {
    Spectra s = world_spectra(w, run);
    if (counts) {
      s.counts = counts[run];
      s.ncounts = 2;
    }
    predicates_add_run(p, run, &s);
    spectra_release(&s);
  }
}

static Ranking ranking(World *w, const char *method, Predicates *p,
                       EntityKind by) {
  Ranking r;
  Err err;
  LocateOptions o = {.by = by, .explain = SIZE_MAX};
  if (world_rank(w, method, p, o, &r, &err))
    fail_msg("%s", err.text);
  expect_finite(&r);
  return r;
}

// Six failing runs, in which g returns null; nine passing ones, in which it
// does not. The if is true in all; the switch is reached by every third run.
static void null_fails(World *w, Predicates *p) {
  world_predicates(w, "AAAAAAPPPPPPPPP");
  for (uint32_t run = 0; run < 15; run++) {
    world_covers(w, run, S1, S4);
    hit(w, run, IF_TRUE);
    hit(w, run, run < 6 ? NULL_ : NON_NULL);
    hit(w, run, CONSTANT);
    if (run % 3 == 0)
      hit(w, run, CASE + run % 2);
  }
  load(w, p, NULL);
}

TEST(cbi_puts_the_line_of_the_telling_predicate_first) {
  World w;
  Predicates p;
  null_fails(&w, &p);
  Ranking r = ranking(&w, "cbi", &p, ENTITY_STATEMENT);
  assert_int_equal(r.suspects.len, 4);
  const Suspect *first = &r.suspects.items[0];
  assert_int_equal(first->entity, S2);
  expect_near(first->score, 2 / (1 / 0.6 + 1), 1e-12);
  assert_true(first->carried && first->carrier == NULL_);
  assert_int_equal(first->carrier_ef, 6);
  assert_int_equal(first->ep, 9); // its own
  assert_true(says(first, "predicate",
                   "when g returns null: 6 of 6 failing, 0 of 9 passing"));
  for (uint32_t s = 0; s < 4; s++)
    if (s != S2)
      expect_near(suspect_of(&r, s)->score, 0, 0);
  ranking_release(&r);
  predicates_release(&p);
  world_release(&w);
}

TEST(cbi_lists_the_predicates_themselves) {
  World w;
  Predicates p;
  null_fails(&w, &p);
  Ranking r = ranking(&w, "cbi", &p, ENTITY_RETURN);
  assert_int_equal(r.suspects.len, 3); // those that were ever true
  assert_int_equal(r.suspects.items[0].entity, NULL_);
  assert_int_equal(r.suspects.items[0].rank, 1);
  assert_int_equal(r.suspects.items[1].rank, 3);
  ranking_release(&r);
  predicates_release(&p);
  world_release(&w);
}

TEST(the_context_of_a_predicate_is_its_site) {
  // The switch is reached only by failing runs: its cases add nothing to that.
  World w;
  Predicates p;
  world_predicates(&w, "AAAAAAPPPPPP");
  for (uint32_t run = 0; run < 12; run++) {
    world_covers(&w, run, S1, S4);
    hit(&w, run, run < 6 ? IF_TRUE : IF_FALSE);
    if (run < 6)
      hit(&w, run, CASE + run % 3);
  }
  load(&w, &p, NULL);
  Ranking r = ranking(&w, "cbi", &p, ENTITY_STATEMENT);
  assert_int_equal(r.suspects.items[0].entity, S1);
  assert_true(says(&r.suspects.items[0], "predicate", "the condition is true"));
  expect_near(suspect_of(&r, S3)->score, 0, 0);
  ranking_release(&r);
  predicates_release(&p);
  world_release(&w);
}

TEST(a_function_in_two_units_has_two_sites) {
  World w;
  Predicates p;
  world_predicates(&w, "AP");
  Entity other = w.entities[IF_TRUE];
  other.to = S1; // stands for a block of another unit
  uint32_t copy = world_entity(&w, other);
  world_covers(&w, 0, S1, S4);
  world_covers(&w, 1, S1, S4);
  hit(&w, 0, IF_TRUE);
  hit(&w, 1, copy);
  load(&w, &p, NULL);
  assert_true(p.site[IF_TRUE] == p.site[IF_FALSE]);
  assert_true(p.site[copy] != p.site[IF_TRUE]);
  predicates_release(&p);
  world_release(&w);
}

TEST(sober_takes_biases_from_counts) {
  // Failing runs turn 3 of 4 times, passing 1 of 4 or 2 of 4 times.
  World w;
  Predicates p;
  world_predicates(&w, "AAPPP");
  const EntityCount counts[5][2] = {{{IF_FALSE, 1}, {IF_TRUE, 3}},
                                    {{IF_FALSE, 10}, {IF_TRUE, 30}},
                                    {{IF_FALSE, 3}, {IF_TRUE, 1}},
                                    {{IF_FALSE, 6}, {IF_TRUE, 2}},
                                    {{IF_FALSE, 2}, {IF_TRUE, 2}}};
  for (uint32_t run = 0; run < 5; run++) {
    world_covers(&w, run, S1, S4);
    world_covers(&w, run, IF_FALSE, IF_TRUE);
  }
  load(&w, &p, counts);
  Ranking r = ranking(&w, "sober", &p, ENTITY_STATEMENT);
  assert_int_equal(r.suspects.items[0].entity, S1);
  double mean = (0.25 + 0.25 + 0.5) / 3;
  double squares = (0.0625 + 0.0625 + 0.25) / 3;
  expect_near(r.suspects.items[0].score,
              sober_score(0.75, 2, mean, sqrt(squares - mean * mean)), 1e-9);
  assert_true(says(&r.suspects.items[0], "predicate", "75 %"));
  assert_int_equal(r.notes.len, 0);
  // The lines without a predicate that was observed tie at the end.
  assert_int_equal(r.suspects.items[3].rank, 4);
  ranking_release(&r);
  predicates_release(&p);
  world_release(&w);
}

TEST(sober_without_counts_takes_hits_and_says_so) {
  World w;
  Predicates p;
  world_predicates(&w, "AAPPx");
  for (uint32_t run = 0; run < 5; run++)
    world_covers(&w, run, S1, S4);
  hit(&w, 0, IF_TRUE);                    // 1
  world_covers(&w, 1, IF_FALSE, IF_TRUE); // 1/2
  hit(&w, 2, IF_FALSE);                   // 0
  // Run 3 does not come there: 1/2; run 4 is flaky.
  hit(&w, 4, IF_TRUE);
  load(&w, &p, NULL);
  Ranking r = ranking(&w, "sober", &p, ENTITY_CONDITION);
  expect_near(suspect_of(&r, IF_TRUE)->score, sober_score(0.75, 2, 0.25, 0.25),
              1e-9);
  expect_near(suspect_of(&r, IF_FALSE)->score, suspect_of(&r, IF_TRUE)->score,
              1e-9);
  assert_true(notes(&r, "hits", "3 of 4 runs"));
  ranking_release(&r);
  predicates_release(&p);
  world_release(&w);
}

TEST(how_often_a_call_returned_is_counted_once_per_call) {
  // 2 of 8 calls return null; constant is a matter of the whole run.
  World w;
  Predicates p;
  world_predicates(&w, "AP");
  const EntityCount counts[2][2] = {{{NULL_, 2}, {NON_NULL, 6}},
                                    {{NULL_, 0}, {NON_NULL, 5}}};
  world_covers(&w, 0, NULL_, NON_NULL);
  world_covers(&w, 1, NON_NULL, CONSTANT);
  for (uint32_t run = 0; run < 2; run++)
    world_covers(&w, run, S1, S4);
  load(&w, &p, counts);
  const BiasList *b = &p.biases[0];
  assert_int_equal(b->len, 3);
  const double want[] = {0.25, 0.75, 0};
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(b->items[i].predicate, NULL_ + i);
    expect_near(b->items[i].bias, want[i], 1e-12);
  }
  expect_near(p.sum[CONSTANT], 1, 0);
  assert_false(p.by_hits[0] || p.by_hits[1]);
  predicates_release(&p);
  world_release(&w);
}

TEST(other_failures_are_compared_with_where_nothing_passes) {
  World w;
  Predicates p;
  world_predicates(&w, "AAABBBB");
  for (uint32_t run = 0; run < 7; run++) {
    world_covers(&w, run, S1, S4);
    hit(&w, run, run < 3 ? IF_TRUE : IF_FALSE);
  }
  load(&w, &p, NULL);
  Ranking r = ranking(&w, "sober", &p, ENTITY_STATEMENT); // failure 0: A
  assert_true(r.stand_in);
  assert_int_equal(r.suspects.items[0].entity, S1);
  assert_true(r.suspects.items[0].score > 1000);
  ranking_release(&r);
  r = ranking(&w, "cbi", &p, ENTITY_STATEMENT);
  assert_int_equal(r.suspects.items[0].entity, S1);
  ranking_release(&r);
  predicates_release(&p);
  world_release(&w);
}

TEST(scores_of_any_runs_are_finite) {
  uint64_t state = 7;
  for (int round = 0; round < 500; round++) {
    World w;
    Predicates p;
    world_predicates(&w, "APAPBPFAPPxP");
    EntityCount counts[12][2];
    for (uint32_t run = 0; run < 12; run++) {
      world_covers(&w, run, S1, S4);
      for (uint32_t e = IF_FALSE; e <= CASE + 2; e++)
        if (!draw(&state, 3))
          hit(&w, run, e);
      for (uint32_t i = 0; i < 2; i++)
        counts[run][i] =
            (EntityCount){IF_FALSE + draw(&state, 8),
                          draw(&state, 3) ? draw(&state, 9) : UINT64_MAX};
    }
    load(&w, &p, round % 2 ? counts : NULL);
    for (int predicates = 0; predicates < 2; predicates++) {
      EntityKind by = predicates ? ENTITY_CONDITION : ENTITY_STATEMENT;
      Ranking r = ranking(&w, "cbi", &p, by);
      ranking_release(&r);
      r = ranking(&w, "sober", &p, by);
      ranking_release(&r);
    }
    predicates_release(&p);
    world_release(&w);
  }
}
