// Unit tests of tuples (condition outcomes, return classes), the order of ties,
// the table of localizers, and clusters of failing runs.
#include "test.h"

#include <math.h>

#include "depend/control_guards.h"
#include "locate/account.h"
#include "locate/cluster.h"
#include "locate/localizer.h"
#include "locate/spectrum.h"
#include "report/evidence.h"
#include "tally/lacking.h"
#include "tally/order.h"
#include "tally/owner.h"
#include "world.h"

enum {
  STATEMENTS = 1u << ENTITY_STATEMENT,
  WITH_CONDITIONS = STATEMENTS | 1u << ENTITY_CONDITION,
  ALL = WITH_CONDITIONS | 1u << ENTITY_RETURN,
};

static void expect_near(double got, double want) {
  if (!(fabs(got - want) <= 1e-9))
    fail_msg("got %.9g, want %.9g", got, want);
}

static void expect_text(const char *got, const char *want) {
  if (strcmp(got, want) != 0)
    fail_msg("got '%s', want '%s'", got, want);
}

// --- a world with tuples ----------------------------------------------------

static uint32_t condition(World *w, uint32_t line, uint32_t index,
                          uint32_t outcome) {
  return world_entity(w, (Entity){.kind = ENTITY_CONDITION,
                                  .source = 0,
                                  .line = line,
                                  .col_lo = 3 + 4 * index,
                                  .function = 3,
                                  .index = index,
                                  .from = outcome,
                                  .to = ENTITY_NONE,
                                  .name = "if"});
}

static uint32_t returned(World *w, uint32_t line, ReturnClass class,
                         const char *callee) {
  return world_entity(w, (Entity){.kind = ENTITY_RETURN,
                                  .source = 0,
                                  .line = line,
                                  .col_lo = 7,
                                  .function = 3,
                                  .from = class,
                                  .to = ENTITY_NONE,
                                  .name = callee});
}

// Three statements that every run executes, on the lines 1 to 3 of f (entity
// 3). Of the condition on line 2, entity 4 is false and 5 is true; the call on
// line 3 returns zero (6) or something else (7). Runs 0 and 1 pass, 2 and 3
// fail: only in those the condition is true; the call returns zero in 3.
static void tuple_world(World *w) {
  world_init(w, "PPAA");
  world_statements(w, "a.c", "f", 1, 3);
  condition(w, 2, 0, 0);
  condition(w, 2, 0, 1);
  returned(w, 3, RETURN_ZERO, "g");
  returned(w, 3, RETURN_NON_ZERO, "g");
  for (uint32_t run = 0; run < 4; run++) {
    world_covers(w, run, 0, 3);
    world_covers(w, run, run < 2 ? 4 : 5, run < 2 ? 4 : 5);
    world_covers(w, run, run < 3 ? 7 : 6, run < 3 ? 7 : 6);
  }
  world_close(w);
}

static void rank(World *w, SpectrumOptions o, Ranking *out) {
  Spectrum s;
  Err err;
  if (spectrum_init(&s, &w->suite, &o, &err))
    fail_msg("%s", err.text);
  spectrum_rank(&s, &w->tally, 0, out);
  spectrum_release(&s);
}

static SpectrumOptions options(const char *formula, unsigned entities) {
  return (SpectrumOptions){.formula = formula_find(formula)->score,
                           .entities = entities};
}

static void expect_place(const Ranking *r, size_t i, uint32_t entity,
                         uint32_t best, uint32_t worst) {
  assert_true(i < r->suspects.len);
  const Suspect *s = &r->suspects.items[i];
  if (s->entity != entity || s->rank_best != best || s->rank != worst)
    fail_msg("place %zu: entity %u rank %u-%u, want entity %u rank %u-%u", i,
             s->entity, s->rank_best, s->rank, entity, best, worst);
}

TEST(a_statement_takes_the_maximum_over_itself_and_its_tuples) {
  World w;
  Ranking r;
  tuple_world(&w);
  rank(&w, options("ochiai", ALL), &r);
  assert_int_equal(r.suspects.len, 3);
  expect_place(&r, 0, 1, 1, 1);
  const Suspect *s = &r.suspects.items[0];
  expect_near(s->score, 1);
  expect_near(s->own, 1 / sqrt(2));
  assert_true(s->carried);
  assert_int_equal(s->carrier, 5);
  assert_int_equal(s->carrier_ef, 2);
  assert_int_equal(s->carrier_ep, 0);
  assert_int_equal(s->ef, 2); // of the line
  assert_int_equal(s->ep, 2);
  assert_false(r.suspects.items[1].carried);
  ranking_release(&r);
  world_release(&w);
}

TEST(without_tuples_equal_scores_tie) {
  World w;
  Ranking r;
  tuple_world(&w);
  rank(&w, options("ochiai", STATEMENTS), &r);
  for (uint32_t i = 0; i < 3; i++)
    expect_place(&r, i, i, 1, 3);
  ranking_release(&r);
  world_release(&w);
}

TEST(a_tuple_that_ties_with_its_statement_does_not_carry_it) {
  World w;
  Ranking r;
  world_init(&w, "PA");
  world_statements(&w, "a.c", "f", 1, 3);
  condition(&w, 2, 0, 1); // as often as its line
  for (uint32_t run = 0; run < 2; run++)
    world_covers(&w, run, 0, 4);
  world_close(&w);
  rank(&w, options("ochiai", WITH_CONDITIONS), &r);
  for (uint32_t i = 0; i < 3; i++) {
    expect_place(&r, i, i, 1, 3);
    assert_false(r.suspects.items[i].carried);
  }
  ranking_release(&r);
  world_release(&w);
}

TEST(hints_have_no_part_in_the_score_but_break_ties) {
  World w;
  Ranking r;
  SpectrumOptions o = options("op2", ALL);
  tuple_world(&w);
  o.hints = 1u << ENTITY_RETURN;
  // Line 2: 2. Lines 1 and 3: 2 - 2/3; the call returns zero: 1, no help.
  rank(&w, o, &r);
  expect_place(&r, 0, 1, 1, 1);
  expect_place(&r, 1, 0, 2, 3);
  expect_place(&r, 2, 2, 2, 3);
  ranking_release(&r);
  // In jaccard's eyes zero (1/2) is no help either: own is 2/4. In sbi's it is.
  o.formula = formula_find("sbi")->score;
  rank(&w, o, &r);
  expect_place(&r, 1, 2, 2, 2);
  const Suspect *s = &r.suspects.items[1];
  expect_near(s->score, 0.5);
  expect_near(s->hint, 1);
  assert_true(s->hinted && !s->carried);
  assert_int_equal(s->hinter, 6);
  assert_int_equal(s->hinter_ef, 1);
  expect_place(&r, 2, 0, 3, 3);
  ranking_release(&r);
  // As a full member it ties with the condition on line 2; confidence and
  // own score are the same, so only the number of failing runs would differ.
  o.hints = 0;
  rank(&w, o, &r);
  expect_place(&r, 0, 1, 1, 2);
  expect_place(&r, 1, 2, 1, 2);
  ranking_release(&r);
  world_release(&w);
}

TEST(a_function_takes_the_best_of_everything_in_it) {
  World w;
  Ranking r;
  SpectrumOptions o = options("ochiai", ALL);
  tuple_world(&w);
  o.by = ENTITY_FUNCTION;
  rank(&w, o, &r);
  assert_int_equal(r.suspects.len, 1);
  expect_near(r.suspects.items[0].score, 1);
  assert_int_equal(r.suspects.items[0].carrier, 5);
  ranking_release(&r);
  world_release(&w);
}

TEST(the_place_where_a_run_died_breaks_the_last_tie) {
  World w;
  Ranking r;
  Deaths deaths = {0};
  tuple_world(&w);
  array_push(&deaths.items, (DeathAt){0, 3, 1, "SIGSEGV", true});
  SpectrumOptions o = options("ochiai", WITH_CONDITIONS);
  o.deaths = &deaths;
  rank(&w, o, &r); // run 1 passes: it does not count
  expect_place(&r, 1, 0, 2, 3);
  ranking_release(&r);
  deaths.items.items[0].run = 2;
  rank(&w, o, &r);
  expect_place(&r, 1, 2, 2, 2);
  expect_place(&r, 2, 0, 3, 3);
  ranking_release(&r);
  deaths_release(&deaths);
  world_release(&w);
}

// --- owners -----------------------------------------------------------------

TEST(a_tuple_on_a_line_without_statement_goes_to_the_nearest_of_its_block) {
  World w;
  world_init(&w, "PA");
  world_statements(&w, "a.c", "f", 1, 2);   // 0 1, f is 2
  world_statements(&w, "a.c", "g", 10, 14); // 3 to 7, g is 8
  uint32_t block = world_entity(
      &w, (Entity){.kind = ENTITY_BLOCK, .line = 10, .function = 8});
  Entity e = {.kind = ENTITY_CONDITION, .line = 20, .function = 8, .to = block};
  uint32_t tuple = world_entity(&w, e);
  e.to = ENTITY_NONE;
  uint32_t blockless = world_entity(&w, e);
  e.line = 8; // between f and g: its function decides
  uint32_t above = world_entity(&w, e);
  e.source = 7;
  uint32_t elsewhere = world_entity(&w, e);
  Standing standings[] = {{3, block}, {4, block}};
  w.suite.standings = standings;
  w.suite.nstandings = 2;
  uint32_t *owner = owners_find(&w.suite, ENTITY_STATEMENT, WITH_CONDITIONS);
  assert_int_equal(owner[0], 0);
  assert_int_equal(owner[2], ENTITY_NONE);
  assert_int_equal(owner[block], ENTITY_NONE);
  assert_int_equal(owner[tuple], 4);
  assert_int_equal(owner[blockless], 7);
  assert_int_equal(owner[above], 3);
  assert_int_equal(owner[elsewhere], ENTITY_NONE);
  free(owner);
  world_release(&w);
}

TEST(of_two_equally_near_statements_the_upper_one_owns_the_tuple) {
  World w;
  world_init(&w, "PA");
  uint32_t source = world_source(&w, "a.c");
  for (uint32_t line = 1; line <= 5; line += 4)
    world_entity(&w, (Entity){.kind = ENTITY_STATEMENT,
                              .source = source,
                              .line = line,
                              .function = 2});
  world_entity(&w, (Entity){.kind = ENTITY_FUNCTION, .function = 2});
  uint32_t tuple = world_entity(&w, (Entity){.kind = ENTITY_CONDITION,
                                             .line = 3,
                                             .function = 2,
                                             .to = ENTITY_NONE});
  uint32_t *owner = owners_find(&w.suite, ENTITY_STATEMENT, WITH_CONDITIONS);
  assert_int_equal(owner[tuple], 0);
  free(owner);
  world_release(&w);
}

// --- order ------------------------------------------------------------------

TEST(each_key_decides_only_among_those_that_tie_in_all_before_it) {
  Ranking r = {0};
  const Suspect suspects[] = {
      {.entity = 0, .score = 1, .own = 0.2, .confidence = 0.9},
      {.entity = 1, .score = 2, .own = 0.1, .confidence = 0.1},
      {.entity = 2, .score = 1, .own = 0.3, .confidence = 0.5},
      {.entity = 3, .score = 1, .own = 0.2 + 1e-13, .confidence = 1},
      {.entity = 4, .score = 1, .own = 0.2, .confidence = 0.9},
  };
  for (size_t i = 0; i < 5; i++)
    array_push(&r.suspects, suspects[i]);
  SuspectKey *const keys[] = {suspect_score, suspect_own, suspect_confidence};
  ranking_order_by(&r, keys, 3);
  expect_place(&r, 0, 1, 1, 1);
  expect_place(&r, 1, 2, 2, 2);
  expect_place(&r, 2, 3, 3, 3);
  expect_place(&r, 3, 0, 4, 5);
  expect_place(&r, 4, 4, 4, 5);
  ranking_order_by(&r, keys, 0);
  expect_place(&r, 4, 4, 1, 5);
  ranking_release(&r);
}

// --- what is said -----------------------------------------------------------

static void expect_tuple(const World *w, uint32_t entity, const char *want) {
  Str text = {0};
  evidence_tuple(&w->suite, entity, &text);
  expect_text(str_text(&text), want);
  str_release(&text);
}

TEST(tuples_are_described_by_what_they_mean) {
  World w;
  tuple_world(&w);
  expect_tuple(&w, 4, "when the condition is false");
  expect_tuple(&w, 5, "when the condition is true");
  expect_tuple(&w, 6, "when the call of g returns zero");
  expect_tuple(&w, 0, "line 1");
  uint32_t twin = condition(&w, 2, 1, 1); // after world_close: only described
  expect_tuple(&w, twin, "when the condition at column 7 is true");
  expect_tuple(&w, 5, "when the condition at column 3 is true");
  w.entities[twin].text = "!x"; // the text tells them apart
  expect_tuple(&w, twin, "when `!x` is true");
  expect_tuple(&w, 5, "when the condition is true");
  uint32_t same = returned(&w, 1, RETURN_CONSTANT, "g");
  expect_tuple(&w, same, "when the call of g always returns the same");
  uint32_t other = returned(&w, 1, RETURN_NON_CONSTANT, NULL);
  expect_tuple(&w, other,
               "when the call at column 7 does not always return the same");
  uint32_t choice = condition(&w, 3, 5, 3);
  w.entities[choice].name = "switch";
  expect_tuple(&w, choice, "when case 3 of the switch is taken");
  w.entities[choice].text = "case 'x'";
  expect_tuple(&w, choice, "when `case 'x'` of the switch is taken");
  w.entities[choice].from = 0;
  w.entities[choice].text = "c";
  expect_tuple(&w, choice, "when no case of `switch (c)` is taken");
  w.entities[choice].text = NULL;
  expect_tuple(&w, choice, "when no case of the switch is taken");
  world_release(&w);
}

TEST(evidence_names_the_tuple_that_carried_the_score) {
  World w;
  Ranking r;
  Deaths none = {0};
  EvidenceList list = {0};
  tuple_world(&w);
  rank(&w, options("ochiai", ALL), &r);
  evidence_gather(&w.suite, &none, &r, &r.suspects.items[0], &list);
  assert_int_equal(list.len, 2);
  expect_text(list.items[0].kind, "condition");
  expect_text(list.items[0].text, "when the condition is true: 2 of 2 failing, "
                                  "0 of 2 passing runs");
  expect_text(list.items[1].kind, "coverage");
  expect_text(list.items[1].text, "2 of 2 failing, 2 of 2 passing runs");
  evidence_release(&list);
  ranking_release(&r);
  world_release(&w);
}

// --- what decides whether a statement is executed ----------------------------

enum { BLOCKS = 6 };

// One function; line n stands in block n:
//
//   0: if (a)      -> 1, 2
//   1:   if (b)    -> 3, 4
//   2:   return    (leaves)
//   3:   then      -> 4
//   4: while (c)   -> 5, leaves
//   5:   if (d)    -> 4, leaves
typedef struct {
  World w;
  uint32_t function, block[BLOCKS], condition[BLOCKS]; // false, then true
} FlowWorld;

static void add_edge(FlowWorld *f, uint32_t from, uint32_t to) {
  world_entity(&f->w, (Entity){.kind = ENTITY_EDGE,
                               .function = f->function,
                               .from = from < BLOCKS ? f->block[from] : from,
                               .to = to < BLOCKS ? f->block[to] : to});
}

static void add_condition(FlowWorld *f, uint32_t block, uint32_t index) {
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t e = world_entity(&f->w, (Entity){.kind = ENTITY_CONDITION,
                                              .function = f->function,
                                              .line = block,
                                              .index = index,
                                              .from = k,
                                              .to = f->block[block]});
    f->condition[block] = k ? e - 1 : e;
  }
}

static void flow_world(FlowWorld *f) {
  static const uint32_t edges[][2] = {
      {ENTITY_NONE, 0}, {0, 1},           {0, 2},          {1, 3},
      {1, 4},           {2, ENTITY_NONE}, {3, 4},          {4, 5},
      {5, 4},           {4, ENTITY_NONE}, {5, ENTITY_NONE}};
  World *w = &f->w;
  world_init(w, "PA");
  world_source(w, "a.c");
  f->function = 0;
  world_entity(w, (Entity){.kind = ENTITY_FUNCTION, .name = "f"});
  for (uint32_t b = 0; b < BLOCKS; b++)
    f->block[b] = world_entity(w, (Entity){.kind = ENTITY_BLOCK, .index = b});
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
    add_edge(f, edges[i][0], edges[i][1]);
  add_condition(f, 0, 0);
  add_condition(f, 1, 1);
  add_condition(f, 4, 2);
  add_condition(f, 5, 3);
  for (uint32_t b = 0; b < BLOCKS; b++)
    world_entity(
        w,
        (Entity){.kind = ENTITY_STATEMENT, .line = b + 1, .to = f->block[b]});
}

// The guards of the statement in that block: one condition, that of `guard`.
static void expect_guard(FlowWorld *f, uint32_t block, uint32_t guard) {
  Guards g;
  uint32_t statement = (uint32_t)f->w.suite.nentities - BLOCKS + block;
  guards_find(&g, &f->w.suite, statement);
  assert_true(g.known);
  assert_int_equal(g.always, guard == ENTITY_NONE);
  assert_int_equal(g.outcomes.len, guard == ENTITY_NONE ? 0 : 2);
  if (guard != ENTITY_NONE)
    assert_int_equal(g.outcomes.items[0], f->condition[guard]);
  guards_release(&g);
}

TEST(the_innermost_condition_guards_a_statement) {
  FlowWorld f = {0};
  flow_world(&f);
  expect_guard(&f, 0, ENTITY_NONE);
  expect_guard(&f, 1, 0);
  expect_guard(&f, 2, 0);
  expect_guard(&f, 3, 1);
  expect_guard(&f, 4, 0); // whatever b is; d is about going round again
  expect_guard(&f, 5, 4);
  world_release(&f.w);
}

TEST(without_edges_no_guards_are_known) {
  World w;
  Guards g;
  world_init(&w, "PA");
  world_statements(&w, "a.c", "f", 1, 3);
  guards_find(&g, &w.suite, 1);
  assert_false(g.known || g.always || g.outcomes.len);
  guards_release(&g);
  world_release(&w);
}

// --- the table of localizers ------------------------------------------------

TEST(every_localizer_is_found_by_its_name_and_documented) {
  for (size_t i = 0; i < localizer_count(); i++) {
    Localizer l = localizer_at(i), found;
    assert_true(localizer_find(l.name, &found));
    assert_true(strlen(l.doc) > 3);
    assert_true((l.open != NULL) == (l.close != NULL && l.state_size));
    assert_true((l.rank != NULL) != (l.formula != NULL));
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal(localizer_at(j).name, l.name);
  }
  Localizer l;
  assert_false(localizer_find("no such method", &l));
  assert_string_equal(localizer_at(0).name, METHOD_DEFAULT);
}

TEST(every_formula_is_a_localizer) {
  size_t n;
  const FormulaInfo *table = formula_table(&n);
  for (size_t i = 0; i < n; i++) {
    Localizer l;
    assert_true(localizer_find(table[i].name, &l));
    assert_ptr_equal(l.formula, table[i].score);
  }
}

// Opens `method` on a world without store and returns what is wrong.
static void expect_refused(World *w, const char *method, LocateOptions o,
                           const char *words) {
  SessionEvidence evidence;
  Localizer l;
  OpenLocalizer localizer;
  Err err;
  session_evidence_init(&evidence, NULL, &w->suite);
  assert_true(localizer_find(method, &l));
  assert_int_equal(localizer_open(&localizer, &evidence, &l, &o, &err), -1);
  if (!strstr(err.text, words))
    fail_msg("'%s' lacks '%s'", err.text, words);
  localizer_close(&localizer);
  session_evidence_release(&evidence);
}

TEST(what_a_session_lacks_is_said_with_the_command_that_provides_it) {
  World w;
  world_init(&w, "PA");
  world_statements(&w, "a.c", "f", 1, 3);
  LocateOptions o = {.by = ENTITY_STATEMENT};
  expect_refused(&w, "cp", o, "cp needs blocks");
  expect_refused(&w, "cp", o, "build with culprit-cc");
  expect_refused(&w, "cbi", o, "cbi needs conditions");
  o.entities = 1u << ENTITY_RETURN;
  expect_refused(&w, "ochiai", o, "CULPRIT_MODE=hits+returns");
  world_release(&w);
}

TEST(a_session_of_our_own_that_lacks_conditions_has_code_without_any) {
  World w;
  world_init(&w, "PA");
  world_statements(&w, "a.c", "f", 1, 3);
  world_entity(&w, (Entity){.kind = ENTITY_BLOCK});
  LocateOptions o = {.by = ENTITY_STATEMENT, .entities = WITH_CONDITIONS};
  expect_refused(&w, "ochiai", o, ": none of its code has a condition");
  w.suite.command = "culprit import lcov a.info";
  expect_text(
      lacking_reason(&w.suite, ENTITY_EDGE),
      "imported coverage does not contain them; build with culprit-cc and "
      "run the tests with culprit");
  world_release(&w);
}

TEST(methods_for_the_other_language_do_not_fit) {
  World w;
  Localizer near, apollo, ochiai;
  world_init(&w, "PA");
  assert_true(localizer_find("near", &near) &&
              localizer_find("apollo-t", &apollo) &&
              localizer_find("ochiai", &ochiai));
  w.suite.command = "culprit run --exe ./a";
  assert_true(localizer_fits(&near, &w.suite));
  assert_false(localizer_fits(&apollo, &w.suite));
  w.suite.command = "culprit web app";
  assert_false(localizer_fits(&near, &w.suite));
  assert_true(localizer_fits(&apollo, &w.suite));
  w.suite.command = "culprit import lcov a.info";
  assert_false(localizer_fits(&near, &w.suite));
  assert_false(localizer_fits(&apollo, &w.suite));
  assert_true(localizer_fits(&ochiai, &w.suite));
  world_release(&w);
}

TEST(options_that_do_not_fit_a_method_are_refused) {
  World w;
  tuple_world(&w);
  LocateOptions o = {.by = ENTITY_BLOCK};
  expect_refused(&w, "cbi", o, "does not support --by block");
  o = (LocateOptions){.by = ENTITY_STATEMENT, .entities = STATEMENTS};
  expect_refused(&w, "cbi", o, "--entities");
  o = (LocateOptions){.by = ENTITY_STATEMENT, .exit_score = formula_op2};
  expect_refused(&w, "ochiai", o, "--method cp");
  world_release(&w);
}

static void expect_entities(World *w, const char *method, EntityKind by,
                            unsigned want) {
  SessionEvidence evidence;
  Localizer l;
  OpenLocalizer localizer;
  Err err;
  LocateOptions o = {.by = by};
  session_evidence_init(&evidence, NULL, &w->suite);
  assert_true(localizer_find(method, &l));
  if (localizer_open(&localizer, &evidence, &l, &o, &err))
    fail_msg("%s", err.text);
  assert_int_equal(localizer.options.entities, want);
  localizer_close(&localizer);
  session_evidence_release(&evidence);
}

TEST(unless_told_otherwise_all_that_the_session_has_scores_a_statement) {
  World w;
  tuple_world(&w);
  expect_entities(&w, "ochiai", ENTITY_STATEMENT, ALL);
  expect_entities(&w, "ochiai", ENTITY_FUNCTION, 1u << ENTITY_FUNCTION);
  expect_entities(&w, METHOD_DEFAULT, ENTITY_FUNCTION, ALL);
  world_release(&w);
  world_figure1(&w);
  expect_entities(&w, "ochiai", ENTITY_STATEMENT, STATEMENTS);
  world_release(&w);
}

TEST(the_default_method_ranks_by_op2_then_returns_own_score_and_confidence) {
  World w;
  Ranking r;
  SessionEvidence evidence;
  Localizer l;
  OpenLocalizer localizer;
  Err err;
  LocateOptions o = {.by = ENTITY_STATEMENT};
  tuple_world(&w);
  session_evidence_init(&evidence, NULL, &w.suite);
  for (size_t i = 0; i < w.suite.nruns; i++)
    tally_add(&evidence.tally, i, &w.hits[i]);
  assert_true(localizer_find(METHOD_DEFAULT, &l));
  assert_int_equal(localizer_open(&localizer, &evidence, &l, &o, &err), 0);
  assert_int_equal(localizer_rank(&localizer, 0, &r, &err), 0);
  expect_place(&r, 0, 1, 1, 1);
  expect_near(r.suspects.items[0].score, 2);
  expect_place(&r, 1, 0, 2, 3);
  expect_near(r.suspects.items[1].score, 2 - 2.0 / 3);
  assert_int_equal(localizer_executed(&localizer), 3);
  assert_int_equal(localizer_executable(&localizer), 3);
  ranking_release(&r);
  localizer_close(&localizer);
  session_evidence_release(&evidence);
  world_release(&w);
}

// --- clusters ---------------------------------------------------------------

// Twelve statements; each letter of `shapes` is what one failing run executes:
// a the first eight, b the last eight, c the first nine, - nothing known.
static void cluster_world(World *w, const char *verdicts, const char *shapes) {
  world_init(w, verdicts);
  world_statements(w, "a.c", "f", 1, 12);
  for (uint32_t run = 0; shapes[run]; run++) {
    if (shapes[run] == 'a')
      world_covers(w, run, 0, 7);
    if (shapes[run] == 'b')
      world_covers(w, run, 4, 11);
    if (shapes[run] == 'c')
      world_covers(w, run, 0, 8);
  }
  world_close(w);
}

static void expect_group(const World *w, size_t i, const char *signature,
                         const char *runs) {
  assert_true(i < w->suite.nfailures);
  const FailureGroup *g = &w->suite.failures[i];
  char got[64] = "";
  for (size_t j = 0; j < g->nruns; j++)
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u", j ? " " : "",
             g->runs[j]);
  expect_text(g->signature, signature);
  expect_text(got, runs);
}

TEST(runs_that_executed_much_the_same_form_a_cluster) {
  World w;
  cluster_world(&w, "AAPAAA", "ba-cba");
  cluster_failures(&w.suite, &w.tally, false);
  assert_int_equal(w.suite.nfailures, 2);
  expect_group(&w, 0, "exit:A#1", "1 3 5");
  expect_group(&w, 1, "exit:A#2", "0 4");
  world_release(&w);
}

TEST(a_failure_of_one_cluster_stays_as_it_is) {
  World w;
  cluster_world(&w, "APAA", "a-ca");
  cluster_failures(&w.suite, &w.tally, false);
  assert_int_equal(w.suite.nfailures, 1);
  expect_group(&w, 0, "exit:A", "0 2 3");
  world_release(&w);
}

TEST(other_failures_are_not_mixed_unless_all_runs_are_pooled) {
  World w;
  cluster_world(&w, "APBB", "a-ab");
  cluster_failures(&w.suite, &w.tally, false);
  assert_int_equal(w.suite.nfailures, 3);
  expect_group(&w, 0, "exit:A", "0");
  expect_group(&w, 1, "exit:B#1", "2");
  expect_group(&w, 2, "exit:B#2", "3");
  world_release(&w);
  cluster_world(&w, "APBB", "a-ab");
  cluster_failures(&w.suite, &w.tally, true);
  assert_int_equal(w.suite.nfailures, 2);
  expect_group(&w, 0, "failing#1", "0 2");
  expect_group(&w, 1, "failing#2", "3");
  expect_text(w.suite.failures[0].kind, "exit");
  world_release(&w);
}

TEST(failing_runs_without_a_spectrum_stay_with_the_first_cluster) {
  World w;
  cluster_world(&w, "qAPAq", "-a-b-");
  cluster_failures(&w.suite, &w.tally, false);
  assert_int_equal(w.suite.nfailures, 2);
  expect_group(&w, 0, "exit:A#1", "0 1 4");
  expect_group(&w, 1, "exit:A#2", "3");
  world_release(&w);
  cluster_world(&w, "qP", "--");
  cluster_failures(&w.suite, &w.tally, false);
  expect_group(&w, 0, "exit:A", "0");
  world_release(&w);
}

TEST(each_cluster_is_ranked_by_its_own_runs) {
  World w;
  Ranking r;
  cluster_world(&w, "AAPA", "ba-a");
  cluster_failures(&w.suite, &w.tally, false);
  rank(&w, options("ochiai", STATEMENTS), &r);
  assert_int_equal(r.failing, 2);
  expect_near(r.suspects.items[0].score, 1);
  assert_int_equal(r.suspects.items[0].rank, 8);
  ranking_release(&r);
  world_release(&w);
}
