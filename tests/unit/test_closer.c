// Unit tests of what works by the counts of a closer look: relations, pairs and
// slices, which some of the runs tell about only.
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "locate/account.h"
#include "locate/localizer.h"
#include "locate/spectrum.h"
#include "report/evidence.h"
#include "report/why.h"
#include "spectra.h"
#include "util/fs.h"

enum {
  STATEMENTS = 1u << ENTITY_STATEMENT,
  RELATIONS = 1u << ENTITY_RELATION,
  PAIRS = 1u << ENTITY_PAIR,
  SLICES = 1u << ENTITY_SLICE,
};

static void expect_text(const char *got, const char *want) {
  if (strcmp(got, want) != 0)
    fail_msg("got '%s', want '%s'", got, want);
}

// --- a world that was looked at ---------------------------------------------

static uint32_t relation(World *w, uint32_t line, uint32_t index,
                         const char *text) {
  return world_entity(w, (Entity){.kind = ENTITY_RELATION,
                                  .line = line,
                                  .col_lo = 5 + 4 * index,
                                  .index = index,
                                  .from = RELATION_EQUAL,
                                  .to = ENTITY_NONE,
                                  .function = ENTITY_NONE,
                                  .name = "compare",
                                  .text = text});
}

static uint32_t pair(World *w, uint32_t from, uint32_t to, const char *name) {
  const Entity *e = &w->entities[from];
  return world_entity(w, (Entity){.kind = ENTITY_PAIR,
                                  .source = e->source,
                                  .line = e->line,
                                  .function = e->function,
                                  .from = from,
                                  .to = to,
                                  .name = name});
}

static uint32_t slice(World *w, uint32_t statement) {
  const Entity *e = &w->entities[statement];
  return world_entity(w, (Entity){.kind = ENTITY_SLICE,
                                  .source = e->source,
                                  .line = e->line,
                                  .function = e->function,
                                  .from = statement,
                                  .to = ENTITY_NONE});
}

// Per run: n near, r random, anything else not looked at.
static void look(World *w, const char *strata) {
  for (size_t i = 0; i < w->suite.nruns; i++)
    w->suite.runs[i].close = strata[i] == 'n'   ? CLOSE_NEAR
                             : strata[i] == 'r' ? CLOSE_RANDOM
                                                : CLOSE_NONE;
  w->suite.close = "budget";
}

enum { LINE1, LINE2, LINE3, MAIN, RELATION, PAIR, SLICE };

// Every run executes the three lines; two of three failing runs were looked at,
// and of nine passing ones one near and two random ones. `compare` are the runs
// in which the relation of line 2 was seen, `value` those in which line 3 used
// what line 1 set.
static void closer_world(World *w, const char *compare, const char *value) {
  world_init(w, "AAAPPPPPPPPP");
  look(w, "nn.n.r.r....");
  world_statements(w, "a.c", "main", 1, 3);
  relation(w, 2, 0, "`a` equals `b`");
  pair(w, LINE1, LINE3, "x");
  slice(w, LINE3);
  for (uint32_t run = 0; run < w->suite.nruns; run++) {
    world_covers(w, run, LINE1, MAIN);
    if (compare[run] == '+')
      world_covers(w, run, RELATION, RELATION);
    if (value[run] == '+')
      world_covers(w, run, PAIR, PAIR);
  }
  world_covers(w, 1, SLICE, SLICE);
  world_close(w);
}

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

static void rank_by(World *w, const char *method, unsigned entities,
                    EntityKind by, Ranking *out) {
  SessionEvidence evidence;
  Localizer l;
  OpenLocalizer localizer;
  Err err;
  LocateOptions o = {.by = by, .entities = entities};
  session_evidence_init(&evidence, NULL, &w->suite);
  for (size_t i = 0; i < w->suite.nruns; i++)
    tally_add(&evidence.tally, i, &w->hits[i]);
  assert_true(localizer_find(method, &l));
  if (localizer_open(&localizer, &evidence, &l, &o, &err) ||
      localizer_rank(&localizer, 0, out, &err))
    fail_msg("%s", err.text);
  localizer_close(&localizer);
  session_evidence_release(&evidence);
}

TEST(a_relation_carries_its_line_with_the_counts_of_those_looked_at) {
  World w;
  Ranking r;
  closer_world(&w, "++..........", "............");
  rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  const Suspect *s = &r.suspects.items[0];
  assert_int_equal(s->entity, LINE2);
  assert_int_equal(s->rank, 1);
  expect_near(s->score, 3, 1e-12);
  assert_int_equal(s->carrier, RELATION);
  assert_int_equal(s->carrier_ef, 2);
  assert_int_equal(s->ef, 3); // of the line
  expect_runs(ranking_runs(&r, ENTITY_RELATION), 2, 3);
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

TEST(a_slice_orders_lines_of_equal_score_only) {
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

static void random_world(World *w, uint64_t *state, bool closely);

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

// --- sentences --------------------------------------------------------------

static void expect_covers(const World *w, uint32_t entity, const char *want) {
  Comparison c;
  Str text = {0};
  comparison_init(&c, &w->tally, 0, false);
  Ranking r = {.failing = c.failing,
               .passing = c.passing,
               .close = c.close,
               .sliced = c.sliced};
  evidence_covers(&w->suite, &r, entity, c.ef[entity], c.ep[entity], &text);
  expect_text(str_text(&text), want);
  str_release(&text);
  comparison_release(&c);
}

TEST(sentences_say_how_many_of_how_many_runs) {
  World w;
  closer_world(&w, "++.+........", "+....+......");
  expect_covers(&w, RELATION,
                "when `a` equals `b` here: 2 of 2 failing, 1 of 3 passing runs "
                "looked at");
  expect_covers(&w, PAIR,
                "the value of `x` set here is used at line 3 in 1 of 2 failing "
                "and 1 of 3 passing runs looked at");
  expect_covers(&w, SLICE,
                "the first wrong byte of the output depends on this line in 1 "
                "of 1 failing runs looked at");
  look(&w, "nnnnnnnnnnnn");
  expect_covers(&w, RELATION,
                "when `a` equals `b` here: 2 of 3 failing, 1 of 9 passing "
                "runs");
  expect_covers(&w, PAIR,
                "the value of `x` set here is used at line 3 in 1 of 3 failing "
                "and 1 of 9 passing runs");
  world_release(&w);
}

TEST(two_relations_of_one_text_are_told_apart_by_their_column) {
  World w;
  Str text = {0};
  world_init(&w, "AP");
  world_statements(&w, "a.c", "main", 1, 3);
  uint32_t first = relation(&w, 2, 0, "`a` equals `b`");
  pair(&w, LINE1, LINE1, NULL);
  relation(&w, 3, 2, "`a` equals `b`");
  uint32_t second = relation(&w, 2, 1, "`a` equals `b`");
  evidence_tuple(&w.suite, first, &text);
  expect_text(str_text(&text), "when `a` equals `b` at column 5");
  text.len = 0;
  evidence_tuple(&w.suite, second, &text);
  expect_text(str_text(&text), "when `a` equals `b` at column 9");
  text.len = 0;
  evidence_tuple(&w.suite, second - 1, &text);
  expect_text(str_text(&text), "when `a` equals `b` here");
  text.len = 0;
  evidence_tuple(&w.suite, first + 1, &text);
  expect_text(str_text(&text),
              "when the value set here is used on the same line");
  str_release(&text);
  world_release(&w);
}

TEST(a_value_may_come_from_another_file) {
  World w;
  Str text = {0};
  Ranking r = {.failing = 4, .passing = 9, .close = {4, 9}};
  world_init(&w, "AP");
  world_statements(&w, "a.c", "main", 1, 3);
  world_statements(&w, "lib/b.c", "f", 7, 8);
  uint32_t p = pair(&w, LINE2, 4, "limit");
  evidence_covers(&w.suite, &r, p, 4, 2, &text);
  expect_text(str_text(&text), "the value of `limit` set here is used at "
                               "lib/b.c:7 in 4 of 4 failing and 2 of 9 passing "
                               "runs");
  text.len = 0;
  evidence_use(&w.suite, &r, p, 4, 2, &text);
  expect_text(str_text(&text), "uses the value of `limit` set at a.c:2 in 4 of "
                               "4 failing and 2 of 9 passing runs");
  str_release(&text);
  world_release(&w);
}

// --- every sentence is true -------------------------------------------------

// Ten lines, relations, pairs and slices on them, and thirty runs, drawn. With
// or without what a closer look sees, the rest is the same.
static void random_world(World *w, uint64_t *state, bool closely) {
  static const char kinds[] = "AAPPPPPPB";
  static char verdicts[31], strata[31];
  for (int i = 0; i < 30; i++)
    verdicts[i] = i < 2 ? "AP"[i] : kinds[draw(state, 9)];
  for (int i = 0; i < 30; i++)
    strata[i] =
        verdicts[i] == 'P' ? ".nr"[draw(state, 3)] : ".nnn"[draw(state, 4)];
  strata[0] = strata[1] = 'n';
  world_init(w, verdicts);
  world_statements(w, "a.c", "main", 1, 10);
  for (uint32_t run = 0; run < 30; run++)
    for (uint32_t e = 0; e < 10; e++)
      if (draw(state, 4))
        world_covers(w, run, e, e);
  uint64_t after = *state;
  if (closely) {
    look(w, strata);
    for (uint32_t i = 0; i < 12; i++)
      relation(w, 1 + draw(&after, 10), i, "`a` equals `b`");
    for (uint32_t i = 0; i < 12; i++)
      pair(w, draw(&after, 10), draw(&after, 10), "x");
    for (uint32_t i = 0; i < 5; i++)
      slice(w, i);
    for (uint32_t run = 0; run < 30; run++)
      for (uint32_t e = 11; strata[run] != '.' && e < w->suite.nentities; e++)
        if (draw(&after, 2) && (verdicts[run] != 'P' || e < 35))
          world_covers(w, run, e, e);
  }
  world_close(w);
}

// Counts runs of the first failure (or those that pass) that were looked at and,
// if `e` is one, cover it.
static uint32_t count_runs(const World *w, bool fails, uint32_t e,
                           bool has_slice) {
  uint32_t n = 0;
  for (size_t i = 0; i < w->suite.nruns; i++) {
    bool sliced = false;
    for (uint32_t s = 35; s < 40; s++)
      sliced |= bitset_has(&w->hits[i], s);
    n += w->verdicts[i] == (fails ? 'A' : 'P') && w->suite.runs[i].close &&
         (e == ENTITY_NONE || bitset_has(&w->hits[i], e)) &&
         (!has_slice || sliced);
  }
  return n;
}

static void check_voice(const World *w, uint32_t e, const Evidence *told) {
  EntityKind kind = w->suite.entities[e].kind;
  bool of_slices = kind == ENTITY_SLICE;
  assert_int_equal(told->ef, count_runs(w, true, e, of_slices));
  assert_int_equal(told->of.failing,
                   count_runs(w, true, ENTITY_NONE, of_slices));
  assert_string_equal(told->kind, entity_kind_name(kind));
  char counts[64];
  if (of_slices) {
    snprintf(counts, sizeof counts, " in %u of %u failing runs looked at",
             told->ef, told->of.failing);
  } else {
    assert_int_equal(told->ep, count_runs(w, false, e, false));
    assert_int_equal(told->of.passing,
                     count_runs(w, false, ENTITY_NONE, false));
    snprintf(counts, sizeof counts,
             kind == ENTITY_PAIR ? " in %u of %u failing and %u of %u passing"
                                 : ": %u of %u failing, %u of %u passing",
             told->ef, told->of.failing, told->ep, told->of.passing);
  }
  if (!strstr(told->text, counts))
    fail_msg("'%s' lacks '%s'", told->text, counts);
}

// Returns how many sentences there were.
static size_t check_suspect(const World *w, const Ranking *r,
                            const Suspect *s) {
  EvidenceList list = {0};
  Deaths deaths = {0};
  size_t checked = 0;
  evidence_gather(&w->suite, &deaths, r, s, &list);
  for (size_t i = 0; i < list.len; i++) {
    const Evidence *told = &list.items[i];
    bool of_slice = !strcmp(told->kind, "slice");
    if (strcmp(told->kind, "relation") && strcmp(told->kind, "pair") &&
        !of_slice)
      continue;
    check_voice(w, of_slice ? s->slice : s->carrier, told);
    checked++;
  }
  evidence_release(&list);
  return checked;
}

TEST(every_sentence_of_a_ranking_holds_of_the_spectra) {
  uint64_t state = 1;
  size_t checked = 0;
  for (int round = 0; round < 50; round++) {
    World w;
    Ranking r;
    random_world(&w, &state, true);
    rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
    for (size_t i = 0; i < r.suspects.len; i++)
      checked += check_suspect(&w, &r, &r.suspects.items[i]);
    ranking_release(&r);
    world_release(&w);
  }
  assert_true(checked > 200);
}

// --- through the store ------------------------------------------------------

// The world as a session of a store of its own: what a closer look found is a
// unit of its own, too.
typedef struct {
  World world;
  char dir[64];
  Store *store;
  Suite suite;
  Err err;
} Stored;

#define check(s, call)                                                         \
  do {                                                                         \
    if (call)                                                                  \
      fail_msg("%s: %s", #call, (s)->err.text);                                \
  } while (0)

static bool is_close(const Entity *e) { return CLOSE_KINDS & 1u << e->kind; }

// The first `n` entities, found or not.
static void store_unit(Stored *s, int64_t session, int id, size_t n,
                       uint32_t *ids) {
  World *w = &s->world;
  Unit unit = {.name = "a.c",
               .sources = w->sources,
               .nsources = w->suite.nsources,
               .entities = w->entities,
               .nentities = n};
  memset(unit.id.bytes, id, sizeof unit.id.bytes);
  check(s, store_add_unit(s->store, session, &unit, ids, &s->err));
}

static void store_run(Stored *s, int64_t session, size_t i,
                      const uint32_t *ids) {
  World *w = &s->world;
  const RunInfo *info = &w->suite.runs[i];
  bool fails = info->verdict == VERDICT_FAIL;
  Run run = {.test = mem_strdup(info->test),
             .command = mem_strdup("./a"),
             .verdict = info->verdict,
             .status = fails,
             .processes = 1};
  if (fails)
    array_push(&run.failures,
               (Failure){mem_strdup("exit"), mem_strdup("exit status 1"),
                         mem_strdup(""), mem_strdup("exit 1")});
  Bitset close[ENTITY_KINDS] = {0};
  for (uint32_t e = 0; bitset_next(&w->hits[i], &e); e++) {
    EntityKind kind = w->entities[e].kind;
    bitset_add(is_close(&w->entities[e]) ? &close[kind] : &run.hits[kind],
               ids[e]);
  }
  check(s, store_add_run(s->store, session, &run, &s->err));
  if (info->close)
    check(s, store_add_close(s->store, session, info->test, info->close, close,
                             &s->err));
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&close[k]);
  run_release(&run);
}

static void store_world(Stored *s, size_t nplain) {
  int64_t session;
  bool continued;
  uint32_t ids[256];
  strcpy(s->dir, "/tmp/closer-XXXXXX");
  assert_non_null(mkdtemp(s->dir));
  check(s, store_open(&s->store, s->dir, STORE_CREATE, &s->err));
  check(s, session_begin(s->store, "k", "culprit run", "/proj", &session,
                         &continued, &s->err));
  store_unit(s, session, 1, nplain, ids);
  store_unit(s, session, 2, s->world.suite.nentities, ids);
  for (size_t i = 0; i < s->world.suite.nruns; i++)
    store_run(s, session, i, ids);
  check(s, session_set_close(s->store, session, "budget", &s->err));
  check(s, session_finish(s->store, session, &s->err));
  check(s, store_load(s->store, session, &s->suite, &s->err));
}

static void stored_release(Stored *s) {
  suite_release(&s->suite);
  store_close(s->store);
  fs_remove_tree(s->dir);
  world_release(&s->world);
}

static uint32_t statement_at(const Suite *suite, uint32_t line) {
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_STATEMENT &&
        suite->entities[i].line == line)
      return i;
  fail_msg("no line %u", line);
  return 0;
}

// What `culprit why` prints about a line. Caller frees.
static char *explain(Stored *s, uint32_t line, bool json) {
  SessionEvidence evidence;
  Account *accounts;
  Sources sources;
  LocateOptions o = {.by = ENTITY_STATEMENT};
  bool covers[64] = {0};
  const NearNote *near[8] = {0};
  Notes cores = {0};
  uint32_t statement = statement_at(&s->suite, line);
  session_evidence_init(&evidence, s->store, &s->suite);
  check(s, accounts_make(&evidence, statement, &o, &accounts, &s->err));
  sources_init(&sources, &s->suite);
  Why why = {.report = {.suite = &s->suite,
                        .deaths = &evidence.deaths,
                        .sources = &sources},
             .line = line,
             .statement = statement,
             .accounts = accounts,
             .covers = covers,
             .method = METHOD_DEFAULT,
             .notes = near,
             .cores = &cores};
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  json ? why_json(&why, out) : why_text(&why, out);
  fclose(out);
  sources_release(&sources);
  accounts_free(accounts, s->suite.nfailures);
  session_evidence_release(&evidence);
  return text;
}

static void expect_says(Stored *s, uint32_t line, bool json,
                        const char *words) {
  char *text = explain(s, line, json);
  if (!strstr(text, words))
    fail_msg("line %u: '%s' is not in\n%s", line, words, text);
  free(text);
}

TEST(why_tells_what_a_closer_look_saw_of_a_line) {
  Stored s = {0};
  closer_world(&s.world, "++.+........", "+....+......");
  store_world(&s, RELATION);
  expect_says(&s, 2, false,
              "looked at closely: 2 of 3 failing and 3 of 9 passing runs\n");
  expect_says(&s, 2, false,
              "score (op2 of the line, its conditions, relations and pairs): "
              "2.900, when `a` equals `b` here\n");
  expect_says(&s, 2, false,
              "+0.889  when `a` equals `b` here: 2 of 2 failing, 1 of 3 "
              "passing runs looked at\n");
  expect_says(&s, 1, false,
              "+0.056  the value of `x` set here is used at line 3 in 1 of 2 "
              "failing and 1 of 3 passing runs looked at\n");
  expect_says(&s, 3, false,
              "+0.056  uses the value of `x` set at line 1 in 1 of 2 failing "
              "and 1 of 3 passing runs looked at\n");
  expect_says(&s, 3, false,
              "the first wrong byte of the output depends on this line in 1 of "
              "1 failing runs looked at\n");
  expect_says(&s, 2, true,
              "{\"kind\":\"relation\",\"text\":\"when `a` equals `b` "
              "here\",\"ef\":2,\"ep\":1,\"failing\":2,\"passing\":3,");
  expect_says(&s, 3, true, "\"uses\":[{\"kind\":\"pair\",\"text\":\"uses the ");
  expect_says(&s, 3, true, "\"close\":{\"failing\":2,\"passing\":3}");
  stored_release(&s);
}

// Eighty pairs of one line: the best few are shown, the others counted.
TEST(why_bounds_what_it_lists) {
  Stored s = {0};
  World *w = &s.world;
  world_init(w, "AP");
  look(w, "nn");
  world_statements(w, "a.c", "main", 1, 100);
  for (uint32_t i = 0; i < 99; i++)
    pair(w, 0, i, "x");
  for (uint32_t run = 0; run < 2; run++)
    world_covers(w, run, 0, 100);
  world_covers(w, 0, 101, 105);
  world_covers(w, 1, 106, 180);
  world_close(w);
  store_world(&s, 101);
  expect_says(&s, 1, false, "and 72 more that tell less or nothing\n");
  expect_says(&s, 1, false, "-1.000  the value of `x` set here is used at");
  stored_release(&s);
}
