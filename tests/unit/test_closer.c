// Unit tests of what works by the counts of a closer look: relations, pairs and
// slices, which some of the runs tell about only.
#include "test.h"

#include <math.h>

#include "closer_world.h"
#include "locate/spectrum.h"
#include "tally/weigh.h"
#include "tally/weights.h"

static void expect_counts(const Comparison *c, uint32_t e, Counts want) {
  Counts got = comparison_counts(c, e);
  if (fabs(got.ef - want.ef) > 1e-12 || fabs(got.ep - want.ep) > 1e-12 ||
      fabs(got.nf - want.nf) > 1e-12 || fabs(got.np - want.np) > 1e-12)
    fail_msg("entity %u: ef %g ep %g nf %g np %g, want %g %g %g %g", e, got.ef,
             got.ep, got.nf, got.np, want.ef, want.ep, want.nf, want.np);
}

static void expect_runs(RunCounts got, uint32_t failing, uint32_t passing) {
  if (got.failing != failing || got.passing != passing)
    fail_msg("%u failing, %u passing runs, want %u, %u", got.failing,
             got.passing, failing, passing);
}

// --- counts -----------------------------------------------------------------

TEST(runs_that_were_looked_at_stand_for_all) {
  World w;
  Comparison c;
  closer_world(&w, "++.+.......", "+....+......");
  comparison_init(&c, &w.tally, 0, false);
  expect_counts(&c, LINE1, (Counts){.ef = 3, .ep = 9});
  expect_runs(comparison_runs(&c, ENTITY_STATEMENT), 3, 9);
  expect_runs(comparison_runs(&c, ENTITY_RELATION), 2, 3);
  // Of a near run: itself. Of one of two random ones: half of the other eight.
  assert_int_equal(c.ef[RELATION], 2);
  assert_int_equal(c.ep[RELATION], 1);
  expect_counts(&c, RELATION, (Counts){.ef = 3, .ep = 1, .np = 8});
  assert_int_equal(c.ep[PAIR], 1);
  expect_counts(&c, PAIR, (Counts){.ef = 1.5, .ep = 4, .nf = 1.5, .np = 5});
  comparison_release(&c);
  world_release(&w);
}

TEST(counts_are_exact_if_every_run_was_looked_at) {
  World w;
  Comparison c;
  closer_world(&w, "+.++++..++..", "............");
  look(&w, "nnnnrrrrnnrr");
  tally_release(&w.tally);
  world_close(&w);
  comparison_init(&c, &w.tally, 0, false);
  Counts n = comparison_counts(&c, RELATION);
  assert_true(n.ef == 2 && n.nf == 1 && n.ep == 5 && n.np == 4);
  comparison_release(&c);
  world_release(&w);
}

TEST(near_runs_alone_stand_for_all_if_there_is_no_random_one) {
  World w;
  Comparison c;
  closer_world(&w, "+..+........", "............");
  look(&w, "n..nnn......");
  tally_release(&w.tally);
  world_close(&w);
  comparison_init(&c, &w.tally, 0, false);
  expect_counts(&c, RELATION, (Counts){.ef = 3, .ep = 3, .np = 6});
  comparison_release(&c);
  world_release(&w);
}

TEST(slices_are_of_failing_runs_that_have_one) {
  World w;
  Comparison c;
  closer_world(&w, "++++++++++++", "............");
  comparison_init(&c, &w.tally, 0, false);
  assert_int_equal(comparison_runs(&c, ENTITY_SLICE).failing, 1);
  assert_true(comparison_tells(&c, ENTITY_SLICE));
  expect_counts(&c, SLICE, (Counts){.ef = 3, .np = 9});
  comparison_release(&c);
  world_release(&w);
}

static void expect_silent(const char *strata) {
  World w;
  Comparison c;
  closer_world(&w, "++++++++++++", "............");
  look(&w, strata);
  tally_release(&w.tally);
  world_close(&w);
  comparison_init(&c, &w.tally, 0, false);
  assert_false(comparison_tells(&c, ENTITY_RELATION));
  assert_false(comparison_tells(&c, ENTITY_PAIR));
  assert_true(comparison_tells(&c, ENTITY_STATEMENT));
  comparison_release(&c);
  world_release(&w);
}

TEST(a_look_at_one_side_only_tells_nothing) {
  expect_silent("nnn.........");
  expect_silent("...nrnrnrnrn");
  expect_silent("............");
}

TEST(other_failures_that_pass_or_stand_in_count_if_they_were_looked_at) {
  World w;
  Comparison c;
  world_init(&w, "AABBPPP");
  look(&w, "n.nn.r.");
  world_statements(&w, "a.c", "main", 1, 3);
  relation(&w, 2, 0, "`a` equals `b`");
  world_covers(&w, 0, RELATION, RELATION);
  world_covers(&w, 2, RELATION, RELATION);
  world_covers(&w, 5, RELATION, RELATION);
  world_close(&w);
  comparison_init(&c, &w.tally, 0, true);
  // Five runs pass; two of them near, the random one stands for three.
  expect_runs(c.close, 1, 3);
  expect_counts(&c, RELATION, (Counts){.ef = 2, .ep = 4, .np = 1});
  comparison_release(&c);
  comparison_init(&c, &w.tally, 0, false);
  expect_runs(c.close, 1, 1);
  expect_counts(&c, RELATION, (Counts){.ef = 2, .ep = 3});
  comparison_release(&c);
  world_release(&w);
}

// Nobody has to stand for them, and nobody has looked at them.
TEST(runs_that_are_apart_show_nothing_and_count) {
  World w;
  Comparison c;
  world_init(&w, "APPPPPPP");
  look(&w, "nnr.aaaa");
  world_statements(&w, "a.c", "main", 1, 3);
  relation(&w, 2, 0, "`a` equals `b`");
  world_covers(&w, 0, RELATION, RELATION);
  world_covers(&w, 2, RELATION, RELATION);
  world_close(&w);
  comparison_init(&c, &w.tally, 0, false);
  expect_runs(c.close, 1, 2);
  expect_counts(&c, RELATION, (Counts){.ef = 1, .ep = 2, .np = 5});
  comparison_release(&c);
  world_release(&w);
}

TEST(failures_that_stand_in_for_passing_runs_are_looked_at_likewise) {
  World w;
  Comparison c;
  world_init(&w, "AABBB");
  look(&w, "nnnn.");
  world_statements(&w, "a.c", "main", 1, 3);
  relation(&w, 2, 0, "`a` equals `b`");
  world_covers(&w, 0, RELATION, RELATION);
  world_covers(&w, 2, RELATION, RELATION);
  world_close(&w);
  comparison_init(&c, &w.tally, 0, false);
  assert_true(c.stand_in);
  expect_runs(c.close, 2, 2);
  expect_counts(&c, RELATION, (Counts){.ef = 1, .ep = 1.5, .nf = 1, .np = 1.5});
  comparison_release(&c);
  world_release(&w);
}

// Runs of `culprit input` that ended otherwise weigh an eighth, looked at or
// not.
TEST(strangers_weigh_an_eighth_of_what_they_stand_for) {
  World w;
  Comparison c;
  world_init(&w, "APPPPP");
  look(&w, "nnrr..");
  w.suite.command = "culprit input ./a x";
  world_statements(&w, "a.c", "main", 1, 3);
  relation(&w, 2, 0, "`a` equals `b`");
  for (uint32_t run = 0; run < 6; run++)
    w.suite.runs[run].status = run == 3 || run == 4;
  world_covers(&w, 0, LINE1, RELATION);
  world_covers(&w, 3, LINE1, RELATION);
  world_close(&w);
  comparison_init(&c, &w.tally, 0, false);
  assert_int_equal(c.strangers, 2);
  double all = 3 + 2 / 8.0, seen = 1 + 2 + 2 / 8.0;
  double ep = all * (2 / 8.0) / seen;
  expect_counts(&c, LINE1, (Counts){.ef = 1, .ep = 0.125, .np = all - 0.125});
  expect_counts(&c, RELATION, (Counts){.ef = 1, .ep = ep, .np = all - ep});
  comparison_release(&c);
  world_release(&w);
}

TEST(requests_for_other_pages_do_not_count_when_looked_at) {
  World w;
  Comparison c;
  world_init(&w, "APPPP");
  look(&w, "nnrr.");
  w.suite.command = "culprit web app";
  world_statements(&w, "a.c", "main", 1, 3);
  relation(&w, 2, 0, "`a` equals `b`");
  for (uint32_t run = 0; run < 5; run++)
    w.suite.runs[run].command = run == 3 ? "GET /b.php" : "GET /a.php";
  for (uint32_t run = 0; run < 4; run++)
    world_covers(&w, run, LINE1, RELATION);
  world_close(&w);
  comparison_init(&c, &w.tally, 0, false);
  expect_runs(c.close, 1, 2);
  assert_int_equal(c.ep[RELATION], 2);
  expect_counts(&c, RELATION, (Counts){.ef = 1, .ep = 3});
  comparison_release(&c);
  world_release(&w);
}

TEST(a_failure_that_lost_runs_is_compared_by_those_it_has) {
  World w;
  Comparison c;
  closer_world(&w, "++.+........", "............");
  w.suite.failures[0].runs++; // as --test and --known do
  w.suite.failures[0].nruns = 2;
  comparison_init(&c, &w.tally, 0, false);
  expect_runs(c.close, 1, 3);
  expect_counts(&c, RELATION, (Counts){.ef = 2, .ep = 1, .np = 8});
  comparison_release(&c);
  world_release(&w);
}

// --- ranking ----------------------------------------------------------------

TEST(a_relation_carries_its_line_with_the_counts_of_those_looked_at) {
  World w;
  Ranking r;
  closer_world(&w, "++..........", "............");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  const Suspect *s = &r.suspects.items[0];
  assert_int_equal(s->entity, LINE2);
  assert_int_equal(s->rank, 1);
  // Nothing but that the wrong output does not depend on the line.
  expect_near(s->score, 3 / (1 + WEIGHT_EQUAL + WEIGHT_SLICE), 1e-12);
  assert_int_equal(s->carrier, RELATION);
  assert_int_equal(s->carrier_ef, 2);
  assert_int_equal(s->ef, 3); // of the line
  expect_runs(ranking_runs(&r, ENTITY_RELATION), 2, 3);
  ranking_release(&r);
  world_release(&w);
}

// Every run executes line 1, and its pair is in all of them, too: it tells as
// much, and more than that the line was executed.
TEST(of_what_tells_as_much_the_most_specific_is_told) {
  World w;
  Ranking r;
  closer_world(&w, "............", "++++++++++++");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  size_t seen = 0;
  for (size_t i = 0; i < r.suspects.len; i++) {
    const Suspect *s = &r.suspects.items[i];
    seen += s->entity == LINE1 && s->told && s->teller == PAIR;
    assert_false(s->entity == LINE3 && s->told); // it has nothing
  }
  assert_int_equal(seen, 1);
  ranking_release(&r);
  world_release(&w);
}

TEST(what_tells_less_than_executing_the_line_is_not_told) {
  World w;
  Ranking r;
  closer_world(&w, "...+........", "............");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  for (size_t i = 0; i < r.suspects.len; i++)
    assert_false(r.suspects.items[i].told);
  ranking_release(&r);
  world_release(&w);
}

TEST(a_pair_carries_the_line_that_set_the_value) {
  World w;
  Ranking r;
  closer_world(&w, "............", "++..........");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  assert_int_equal(r.suspects.items[0].entity, LINE1);
  assert_int_equal(r.suspects.items[0].carrier, PAIR);
  ranking_release(&r);
  world_release(&w);
}

TEST(lines_in_a_slice_come_before_others_with_the_same_evidence) {
  World w;
  Ranking r;
  closer_world(&w, "............", "............");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  assert_int_equal(r.suspects.items[0].entity, LINE3);
  assert_int_equal(r.suspects.items[0].slice_ef, 1);
  assert_int_equal(r.suspects.items[1].rank_best, 2);
  assert_int_equal(r.suspects.items[1].rank, 3);
  ranking_release(&r);
  world_release(&w);
  closer_world(&w, "++..........", "............");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  assert_int_equal(r.suspects.items[0].entity, LINE2);
  assert_int_equal(r.suspects.items[1].entity, LINE3);
  ranking_release(&r);
  world_release(&w);
}

TEST(every_formula_takes_every_kind_of_a_closer_look) {
  World w;
  size_t n;
  const FormulaInfo *formulas = formula_table(&n);
  closer_world(&w, "++.+........", "+....+......");
  for (size_t i = 0; i < n; i++)
    for (unsigned set = 1; set < 16; set++) {
      Ranking r;
      unsigned kinds = (set & 1 ? STATEMENTS : 0) | (set & 2 ? RELATIONS : 0) |
                       (set & 4 ? PAIRS : 0) | (set & 8 ? SLICES : 0);
      rank_by(&w, formulas[i].name, kinds, ENTITY_STATEMENT, &r);
      assert_true(r.suspects.len);
      expect_finite(&r);
      for (size_t k = 0; k < r.suspects.len; k++)
        assert_int_equal(r.suspects.items[k].ef, 3); // always of the line
      ranking_release(&r);
    }
  world_release(&w);
}

TEST(slices_alone_are_a_ranking_by_the_default_method) {
  World w;
  Ranking r;
  closer_world(&w, "............", "............");
  rank_by(&w, METHOD_DEFAULT, SLICES, ENTITY_STATEMENT, &r);
  assert_int_equal(r.suspects.len, 1);
  assert_int_equal(r.suspects.items[0].entity, LINE3);
  ranking_release(&r);
  world_release(&w);
}

TEST(a_function_is_listed_with_its_own_counts) {
  World w;
  Ranking r;
  closer_world(&w, "++..........", "............");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_FUNCTION, &r);
  assert_int_equal(r.suspects.len, 1);
  assert_int_equal(r.suspects.items[0].ef, 3);
  assert_int_equal(r.suspects.items[0].ep, 9);
  ranking_release(&r);
  world_release(&w);
}

// What a closer look found, but about no run that counts: as if not there.
TEST(a_session_that_was_not_looked_at_is_ranked_as_before) {
  size_t n = localizer_count();
  uint64_t state = 7;
  for (int round = 0; round < 20; round++) {
    World with, without;
    uint64_t same = state;
    random_world(&with, &state, true);
    for (size_t i = 0; i < with.suite.nruns; i++)
      with.suite.runs[i].close = CLOSE_NONE;
    random_world(&without, &same, false);
    for (size_t i = 0; i < n; i++) {
      Localizer m = localizer_at(i);
      Ranking a, b;
      if (m.rank || m.scope != FOR_ALL)
        continue;
      rank_by(&with, m.name, 0, ENTITY_STATEMENT, &a);
      rank_by(&without, m.name, 0, ENTITY_STATEMENT, &b);
      assert_int_equal(a.suspects.len, b.suspects.len);
      for (size_t k = 0; k < a.suspects.len; k++) {
        const Suspect *x = &a.suspects.items[k], *y = &b.suspects.items[k];
        assert_int_equal(x->entity, y->entity);
        assert_int_equal(x->rank, y->rank);
        assert_true(x->score == y->score);
      }
      ranking_release(&a);
      ranking_release(&b);
    }
    world_release(&with);
    world_release(&without);
  }
}

TEST(a_ranking_without_what_the_session_has_says_why) {
  World w;
  Ranking r;
  closer_world(&w, "++..........", "............");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  assert_int_equal(r.notes.len, 0);
  ranking_release(&r);
  look(&w, "nn..........");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  assert_true(notes(&r, "close", "no passing run was looked at closely"));
  ranking_release(&r);
  rank_by(&w, METHOD_DEFAULT, STATEMENTS, ENTITY_STATEMENT, &r);
  assert_int_equal(r.notes.len, 0);
  ranking_release(&r);
  world_release(&w);
}

// The score of the first suspect by a relation of this kind and outcome.
static double score_of_relation(World *w, const char *name,
                                RelationOutcome outcome) {
  Ranking r;
  w->entities[RELATION].name = name;
  w->entities[RELATION].from = outcome;
  rank_by(w, METHOD_DEFAULT, STATEMENTS | RELATIONS, ENTITY_STATEMENT, &r);
  const Suspect *s = &r.suspects.items[0];
  double score = s->carried && s->carrier == RELATION ? s->score : -1;
  ranking_release(&r);
  return score;
}

TEST(evidence_of_some_kinds_weighs_less_and_of_others_nothing) {
  World w;
  Ranking r;
  closer_world(&w, "++..........", "............");
  expect_near(score_of_relation(&w, "compare", RELATION_EQUAL),
              3 / (1 + WEIGHT_EQUAL), 1e-12);
  expect_near(score_of_relation(&w, "compare", RELATION_LESS),
              3 / (1 + WEIGHT_COMPARISON), 1e-12);
  expect_near(score_of_relation(&w, "store", RELATION_ZERO),
              3 / (1 + WEIGHT_STORED), 1e-12);
  assert_true(score_of_relation(&w, "store", RELATION_CHANGED) < 0);
  assert_true(score_of_relation(&w, "call", RELATION_ZERO) < 0);
  rank_by(&w, "op2", STATEMENTS | RELATIONS, ENTITY_STATEMENT, &r);
  assert_true(r.suspects.items[0].carried);
  ranking_release(&r);
  world_release(&w);
}

TEST(the_costs_of_a_suspect_explain_its_score) {
  uint64_t state = 20;
  for (int round = 0; round < 20; round++) {
    World w;
    Ranking r;
    random_world(&w, &state, true);
    rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
    assert_true(r.suspects.len);
    for (size_t i = 0; i < r.suspects.len; i++) {
      const Suspect *s = &r.suspects.items[i];
      assert_true(s->weighed);
      expect_near(s->score, r.failing / (1 + costs_sum(&s->costs)), 1e-9);
      assert_true(s->costs.others >= 0 && s->costs.slice >= 0);
      assert_true(s->own <= s->score && s->score <= r.failing);
    }
    ranking_release(&r);
    world_release(&w);
  }
}

// Two lines, and runs that were all looked at.
static void two_lines(World *w, const char *runs, const char *looks) {
  world_init(w, runs);
  w->suite.command = "culprit run";
  look(w, looks);
  world_statements(w, "a.c", "main", 1, 2);
}

TEST(runs_with_other_failures_speak_against_what_they_lack) {
  World w;
  Ranking r;
  two_lines(&w, "AABBPPP", "nnnnnnn");
  uint32_t first = relation(&w, 1, 0, "`a` equals `b`");
  uint32_t second = relation(&w, 2, 0, "`c` equals `d`");
  for (uint32_t run = 0; run < w.suite.nruns; run++)
    world_covers(&w, run, 0, 1);
  for (uint32_t run = 0; run < 2; run++)
    world_covers(&w, run, first, second);
  world_covers(&w, 2, second, second);
  world_close(&w);
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  const Suspect *s = r.suspects.items;
  assert_int_equal(s[0].entity, 1);
  expect_near(s[0].costs.others, WEIGHT_OTHERS / 2, 1e-12);
  expect_near(s[1].costs.others, WEIGHT_OTHERS, 1e-12);
  ranking_release(&r);
  world_release(&w);
}

// Two lines that all failing runs and one passing run execute. Of the second no
// passing run showed the value, but values count less than the line itself.
TEST(among_equal_scores_evidence_of_any_kind_decides) {
  World w;
  Ranking r;
  two_lines(&w, "AAPPPPPPPPPPPPPPPPPPPP", "nnnnnnnnnnnnnnnnnnnnnn");
  uint32_t value = relation(&w, 2, 0, "`a` becomes zero");
  w.entities[value].name = "store";
  w.entities[value].from = RELATION_ZERO;
  for (uint32_t run = 0; run < 3; run++)
    world_covers(&w, run, 0, 1);
  for (uint32_t run = 0; run < 2; run++)
    world_covers(&w, run, value, value);
  world_close(&w);
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  const Suspect *s = r.suspects.items;
  expect_near(s[0].score, s[1].score, 1e-12);
  assert_int_equal(s[0].entity, 1);
  assert_int_equal(s[0].rank, 1);
  assert_true(s[0].hinted && s[0].hinter == value);
  expect_near(s[0].hint, 2, 1e-12);
  assert_false(s[1].hinted);
  ranking_release(&r);
  world_release(&w);
}
