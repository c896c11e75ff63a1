// Unit tests of CP and Branch: src/locate/propagate.h, cfg.h, solve.h.
#include "test.h"

#include <unistd.h>

#include "locate/linear_system.h"
#include "locate/propagate.h"
#include "spectra.h"
#include "util/fs.h"

enum { MAX_BLOCKS = 40, MAX_EDGES = 120 };

// A function whose block b holds the one statement of line b, and edges that
// are written down; runs are paths through its blocks.
typedef struct {
  World w;
  uint32_t nblocks, nedges;
  uint32_t statement[MAX_BLOCKS], block[MAX_BLOCKS];
  uint32_t edge[MAX_EDGES], from[MAX_EDGES], to[MAX_EDGES];
  Standing standings[4 * MAX_BLOCKS];
  Propagation p;
} Graph;

#define NOWHERE ENTITY_NONE

static void graph_init(Graph *g, const char *verdicts, uint32_t nblocks) {
  memset(g, 0, sizeof *g);
  world_init(&g->w, verdicts);
  world_statements(&g->w, "a.c", "f", 0, nblocks - 1);
  g->nblocks = nblocks;
  for (uint32_t b = 0; b < nblocks; b++) {
    g->statement[b] = b;
    g->block[b] = world_entity(&g->w, (Entity){.kind = ENTITY_BLOCK,
                                               .line = b,
                                               .function = nblocks,
                                               .index = b});
    g->standings[b] = (Standing){g->statement[b], g->block[b]};
  }
  g->w.suite.standings = g->standings;
  g->w.suite.nstandings = nblocks;
}

static uint32_t add_edge(Graph *g, uint32_t from, uint32_t to) {
  uint32_t i = g->nedges++;
  g->from[i] = from;
  g->to[i] = to;
  g->edge[i] = world_entity(
      &g->w, (Entity){.kind = ENTITY_EDGE,
                      .function = g->nblocks,
                      .index = i,
                      .from = from == NOWHERE ? NOWHERE : g->block[from],
                      .to = to == NOWHERE ? NOWHERE : g->block[to]});
  return i;
}

static uint32_t find_edge(Graph *g, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < g->nedges; i++)
    if (g->from[i] == from && g->to[i] == to)
      return i;
  fail_msg("no edge from %u to %u", from, to);
  return 0;
}

static void hit(Graph *g, uint32_t run, uint32_t entity) {
  world_covers(&g->w, run, entity, entity);
}

// The run enters, goes through these blocks, and ends in the last one.
static void walk(Graph *g, uint32_t run, const char *path) {
  uint32_t last = NOWHERE;
  for (; *path; path++) {
    uint32_t b = (uint32_t)(*path - '0');
    hit(g, run, g->edge[find_edge(g, last, b)]);
    hit(g, run, g->block[b]);
    hit(g, run, g->statement[b]);
    last = b;
  }
}

static void graph_close(Graph *g) {
  propagation_init(&g->p, &g->w.suite);
  for (size_t run = 0; run < g->w.suite.nruns; run++) {
    if (!g->w.suite.runs[run].has_spectrum)
      continue;
    Spectra s = world_spectra(&g->w, run);
    propagation_add_run(&g->p, run, &s);
    spectra_release(&s);
  }
}

static void graph_release(Graph *g) {
  propagation_release(&g->p);
  world_release(&g->w);
}

static Ranking cp_by(Graph *g, EntityKind by, const char *exit_score) {
  Ranking r;
  Err err;
  LocateOptions o = {.by = by, .explain = SIZE_MAX};
  if (exit_score)
    o.exit_score = formula_find(exit_score)->score;
  if (world_rank(&g->w, "cp", &g->p, o, &r, &err))
    fail_msg("%s", err.text);
  expect_finite(&r);
  return r;
}

static void expect_block(Graph *g, uint32_t b, double want) {
  Ranking r = cp_by(g, ENTITY_BLOCK, NULL);
  double size = fmax(fabs(want), 1);
  expect_near(suspect_of(&r, g->block[b])->score, want, 1e-9 * size);
  ranking_release(&r);
}

static void expect_edge(Graph *g, uint32_t i, double want) {
  Ranking r = cp_by(g, ENTITY_EDGE, NULL);
  expect_near(suspect_of(&r, g->edge[i])->score, want, 1e-12);
  ranking_release(&r);
}

// --- worked example 1
// ---------------------------------------------------------

// Zhang et al., ESEC/FSE 2009, Figure 1: edges e1 to e6 are 0 to 5.
static void figure1(Graph *g) {
  static const uint8_t of[9] = {0, 1, 1, 1, 1, 2, 2, 2, 3};
  memset(g, 0, sizeof *g);
  world_figure1(&g->w);
  g->nblocks = 9; // the function is entity 9
  for (uint32_t b = 0; b < 4; b++)
    g->block[b] = world_entity(&g->w, (Entity){.kind = ENTITY_BLOCK,
                                               .line = b + 1,
                                               .function = 9,
                                               .index = b});
  for (uint32_t s = 0; s < 9; s++)
    g->standings[s] = (Standing){s, g->block[of[s]]};
  g->w.suite.standings = g->standings;
  g->w.suite.nstandings = 9;
  add_edge(g, NOWHERE, 0);
  add_edge(g, 0, 1);
  add_edge(g, 0, 3);
  add_edge(g, 1, 2);
  add_edge(g, 1, 3);
  add_edge(g, 2, 3);
  static const char *const paths[7] = {"013", "03",  "0123", "03",
                                       "013", "013", "03"};
  for (uint32_t run = 0; run < 7; run++) {
    uint32_t last = NOWHERE;
    for (const char *c = paths[run]; *c; c++) {
      uint32_t b = (uint32_t)(*c - '0');
      hit(g, run, g->edge[find_edge(g, last, b)]);
      hit(g, run, g->block[b]);
      last = b;
    }
  }
  graph_close(g);
}

static void expect_statements(const Ranking *r, uint32_t from, uint32_t to,
                              double want, uint32_t rank) {
  for (uint32_t s = from; s <= to; s++) {
    const Suspect *x = suspect_of(r, s - 1);
    expect_near(x->score, want, 5e-3);
    assert_int_equal(x->rank, rank);
  }
}

TEST(cp_ranks_figure_1_as_printed) {
  Graph g;
  figure1(&g);
  Ranking r = cp_by(&g, ENTITY_STATEMENT, NULL);
  assert_int_equal(r.failing, 2);
  assert_int_equal(r.passing, 5);
  assert_int_equal(r.suspects.len, 9);
  expect_statements(&r, 1, 1, 0.11, 9);
  expect_statements(&r, 2, 5, 1.11, 4);
  expect_statements(&r, 6, 8, 1.00, 7);
  expect_statements(&r, 9, 9, 0.11, 9);
  assert_int_equal(suspect_of(&r, 1)->ef, 2);
  assert_int_equal(suspect_of(&r, 1)->ep, 2);
  expect_near(suspect_of(&r, 5)->confidence, 0.5, 1e-12);
  assert_int_equal(r.notes.len, 0);
  ranking_release(&r);
  graph_release(&g);
}

TEST(cp_edge_scores_of_figure_1_are_as_printed) {
  const double want[] = {0, 0.43, -1, 1, 0.11, 1};
  const char *const probability[] = {"0.286", "0.5",   "probability 0",
                                     "1",     "0.333", "1"};
  Graph g;
  figure1(&g);
  Ranking r = cp_by(&g, ENTITY_EDGE, NULL);
  assert_int_equal(r.suspects.len, 6);
  for (uint32_t i = 0; i < 6; i++) {
    const Suspect *s = suspect_of(&r, g.edge[i]);
    expect_near(s->score, want[i], 5e-3);
    assert_true(says(s, "edge", probability[i]));
  }
  ranking_release(&r);
  graph_release(&g);
}

TEST(cp_block_scores_of_figure_1_are_as_printed) {
  Graph g;
  figure1(&g);
  expect_block(&g, 0, 1.0 / 9);
  expect_block(&g, 1, 10.0 / 9);
  expect_block(&g, 2, 1);
  expect_block(&g, 3, 1.0 / 9);
  graph_release(&g);
}

TEST(cp_says_from_where_a_score_flows_back) {
  Graph g;
  figure1(&g);
  Ranking r = cp_by(&g, ENTITY_STATEMENT, NULL);
  const Suspect *s2 = suspect_of(&r, 1);
  assert_true(says(s2, "propagation", "1 of its block's score"));
  assert_true(says(s2, "propagation", ":3")); // b3 is at line 3 here
  assert_true(says(s2, "edge", "1 of 2 failing, 0 of 5 passing"));
  assert_true(says(suspect_of(&r, 8), "exit", "0.111"));
  ranking_release(&r);
  graph_release(&g);
}

TEST(evidence_is_made_for_as_many_as_asked) {
  Graph g;
  Ranking r;
  Err err;
  figure1(&g);
  LocateOptions o = {.explain = 2};
  assert_int_equal(world_rank(&g.w, "cp", &g.p, o, &r, &err), 0);
  for (size_t i = 0; i < r.suspects.len; i++)
    assert_int_equal(r.suspects.items[i].evidence.len > 0, i < 2);
  ranking_release(&r);
  graph_release(&g);
}

TEST(a_function_takes_the_best_of_its_statements) {
  Graph g;
  figure1(&g);
  Ranking r = cp_by(&g, ENTITY_FUNCTION, NULL);
  assert_int_equal(r.suspects.len, 1);
  expect_near(r.suspects.items[0].score, 10.0 / 9, 1e-9);
  assert_true(says(&r.suspects.items[0], "propagation", "flows back"));
  ranking_release(&r);
  graph_release(&g);
}

TEST(branch_gives_all_of_figure_1_the_same) {
  Graph g;
  Ranking r;
  Err err;
  figure1(&g);
  LocateOptions o = {.explain = SIZE_MAX};
  assert_int_equal(world_rank(&g.w, "branch", &g.p, o, &r, &err), 0);
  assert_int_equal(r.suspects.len, 9);
  expect_statements(&r, 1, 9, 0.71, 9);
  const Suspect *s9 = suspect_of(&r, 8);
  assert_true(s9->carried && s9->carrier == g.edge[5]);
  assert_true(says(s9, "edge", "1 of 2 failing, 0 of 5 passing"));
  ranking_release(&r);
  graph_release(&g);
}

TEST(exit_scores_may_come_from_any_formula) {
  Graph g;
  figure1(&g);
  Ranking r = cp_by(&g, ENTITY_BLOCK, "sbi");
  double b4 = 2.0 / 7; // two of seven runs that come there fail
  expect_near(suspect_of(&r, g.block[3])->score, b4, 1e-12);
  expect_near(suspect_of(&r, g.block[2])->score, 9 * b4, 1e-9);
  expect_near(suspect_of(&r, g.block[1])->score, 10 * b4, 1e-9);
  ranking_release(&r);
  graph_release(&g);
}

// --- sums that are nothing
// ----------------------------------------------------

// 0 -> 1 -> 3, 0 -> 2 -> 3 -> 4: one failing run goes left, one passing right.
static void diamond(Graph *g, bool tail) {
  graph_init(g, "AP", tail ? 5 : 4);
  add_edge(g, NOWHERE, 0);
  add_edge(g, 0, 1);
  add_edge(g, 0, 2);
  add_edge(g, 1, 3);
  add_edge(g, 2, 3);
  if (tail)
    add_edge(g, 3, 4);
  walk(g, 0, tail ? "0134" : "013");
  walk(g, 1, tail ? "0234" : "023");
  graph_close(g);
}

TEST(an_exit_whose_edges_cancel_scores_nothing_and_passes_on_nothing) {
  Graph g;
  diamond(&g, false);
  for (uint32_t b = 0; b < 4; b++)
    expect_block(&g, b, 0);
  graph_release(&g);
}

TEST(a_sum_of_zero_below_the_line_is_a_ten_billionth) {
  Graph g;
  Ranking r;
  Err err;
  diamond(&g, true);
  // d of 3 -> 4 is 0 as all runs take it: nothing flows back over it.
  expect_block(&g, 3, 0);
  // With another exit score something does: sbi of block 4 is 1/2; nothing is
  // in d(3->4) = 0, so still 0 at block 3.
  LocateOptions o = {.by = ENTITY_BLOCK,
                     .exit_score = formula_find("sbi")->score};
  assert_int_equal(world_rank(&g.w, "cp", &g.p, o, &r, &err), 0);
  expect_near(suspect_of(&r, g.block[4])->score, 0.5, 1e-12);
  expect_near(suspect_of(&r, g.block[3])->score, 0, 1e-12);
  ranking_release(&r);
  graph_release(&g);
  diamond(&g, false);
  assert_int_equal(world_rank(&g.w, "cp", &g.p, o, &r, &err), 0);
  // W(1,3) = 1 / 1e-10, W(2,3) = -1 / 1e-10
  expect_near(suspect_of(&r, g.block[1])->score, 0.5e10, 10);
  expect_near(suspect_of(&r, g.block[2])->score, -0.5e10, 10);
  ranking_release(&r);
  graph_release(&g);
}

TEST(thirds_that_cancel_are_nothing_however_they_are_rounded) {
  // Into the exit: d = 1/3, 1/3 and -2/3 or so: 2:1, 2:1 and 1:5 of runs.
  Graph g;
  graph_init(&g, "AAAAAPPPPP", 5);
  add_edge(&g, NOWHERE, 0);
  for (uint32_t b = 1; b < 4; b++) {
    add_edge(&g, 0, b);
    add_edge(&g, b, 4);
  }
  const char *const paths[] = {"014", "014", "024", "024", "034",
                               "014", "024", "034", "034", "034"};
  for (uint32_t run = 0; run < 10; run++)
    walk(&g, run, paths[run]);
  hit(&g, 5, g.edge[find_edge(&g, 0, 3)]); // 1:5 needs all to come by
  hit(&g, 5, g.edge[find_edge(&g, 3, 4)]);
  hit(&g, 6, g.edge[find_edge(&g, 0, 3)]);
  hit(&g, 6, g.edge[find_edge(&g, 3, 4)]);
  graph_close(&g);
  expect_edge(&g, find_edge(&g, 1, 4), 1.0 / 3);
  expect_edge(&g, find_edge(&g, 3, 4), -2.0 / 3);
  expect_block(&g, 4, 0);
  expect_block(&g, 1, 0);
  graph_release(&g);
}

// --- loops
// --------------------------------------------------------------------

// 0 enters a loop 1 <-> 2 that is left to 3, or goes around it to 3.
static void loop(Graph *g, const char *verdicts) {
  graph_init(g, verdicts, 4);
  add_edge(g, NOWHERE, 0);
  add_edge(g, 0, 1);
  add_edge(g, 1, 2);
  add_edge(g, 2, 1);
  add_edge(g, 1, 3);
  add_edge(g, 0, 3);
}

TEST(a_loop_is_solved_as_by_hand) {
  // Failing: once through the loop. Passing: one past it, one without a turn.
  Graph g;
  loop(&g, "APP");
  walk(&g, 0, "01213");
  walk(&g, 1, "03");
  walk(&g, 2, "013");
  graph_close(&g);
  // d: 0->1 1/3, 1->2 1, 2->1 1, 1->3 1/3, 0->3 -1; D1 4/3, D2 1, D3 -2/3
  expect_edge(&g, 1, 1.0 / 3);
  expect_edge(&g, 4, 1.0 / 3);
  expect_block(&g, 3, -2.0 / 3);
  // y3 = 1, y2 = y1, 4/3 y1 = y2 + 1/3: y1 = 1
  expect_block(&g, 1, 4.0 / 3);
  expect_block(&g, 2, 1);
  expect_block(&g, 0, 1.0 / 3 - 1);
  graph_release(&g);
}

TEST(a_loop_entered_by_all_runs_has_no_answer_and_says_so) {
  Graph g;
  loop(&g, "AP");
  walk(&g, 0, "01213");
  walk(&g, 1, "013");
  graph_close(&g);
  // D1 = 0 + 1, D2 = 1: y1 = y2 = anything.
  Ranking r = cp_by(&g, ENTITY_STATEMENT, NULL);
  for (uint32_t b = 1; b < 3; b++) {
    assert_true(says(suspect_of(&r, g.statement[b]), "loop", "no single"));
    expect_near(suspect_of(&r, g.statement[b])->score, 1, 1e-9);
  }
  assert_true(notes(&r, "loop", "2 blocks"));
  assert_false(says(suspect_of(&r, g.statement[0]), "loop", ""));
  ranking_release(&r);
  graph_release(&g);
}

TEST(a_block_that_only_jumps_to_itself_has_no_answer_either) {
  Graph g;
  graph_init(&g, "AP", 3);
  add_edge(&g, NOWHERE, 0);
  add_edge(&g, 0, 1);
  add_edge(&g, 1, 1);
  add_edge(&g, 1, 2);
  walk(&g, 0, "0112");
  walk(&g, 1, "012");
  graph_close(&g);
  Ranking r = cp_by(&g, ENTITY_BLOCK, NULL);
  expect_near(suspect_of(&r, g.block[1])->score, 1, 1e-9);
  assert_true(says(suspect_of(&r, g.block[1]), "loop", "exits"));
  ranking_release(&r);
  graph_release(&g);
}

TEST(a_loop_without_exit_scores_nothing) {
  // The failing run turns for ever, and was killed; the passing one does not
  // come there.
  Graph g;
  loop(&g, "AP");
  walk(&g, 0, "0121");
  walk(&g, 1, "03");
  g.w.suite.runs[0].status = -9;
  graph_close(&g);
  // D1 = d(0->1) + d(2->1) = 2, D2 = 1, nothing leaves: 2 y1 = y2 = y1.
  expect_block(&g, 1, 0);
  expect_block(&g, 2, 0);
  expect_block(&g, 3, -1);
  Ranking r = cp_by(&g, ENTITY_BLOCK, NULL);
  assert_true(notes(&r, "end", "1 of 1 failing runs"));
  ranking_release(&r);
  graph_release(&g);
}

TEST(edges_that_share_both_ends_add_up) {
  // Two cases of a switch that go to the same block, in a loop.
  Graph g;
  graph_init(&g, "APP", 3);
  add_edge(&g, NOWHERE, 0);
  uint32_t first = add_edge(&g, 0, 1);
  uint32_t second = add_edge(&g, 0, 1);
  add_edge(&g, 1, 0);
  add_edge(&g, 0, 2);
  walk(&g, 0, "0102");
  walk(&g, 1, "02");
  walk(&g, 2, "02");
  hit(&g, 0, g.edge[second]);
  hit(&g, 1, g.edge[first]);
  hit(&g, 1, g.edge[find_edge(&g, 1, 0)]);
  hit(&g, 1, g.block[1]);
  graph_close(&g);
  // d: first 1/3, second 1, 1->0 1/3, 0->2 0; the loop is entered by all.
  expect_edge(&g, first, 1.0 / 3);
  expect_edge(&g, second, 1);
  expect_block(&g, 1, 4.0 / 3);
  graph_release(&g);
}

// --- runs that end inside a block
// -----------------------------------------------

// 0 -> 1 -> 2, 0 -> 2
static void straight(Graph *g, const char *verdicts) {
  graph_init(g, verdicts, 3);
  add_edge(g, NOWHERE, 0);
  add_edge(g, 0, 1);
  add_edge(g, 1, 2);
  add_edge(g, 0, 2);
}

TEST(a_run_that_ends_inside_a_block_leaves_by_an_edge_of_its_own) {
  Graph g;
  straight(&g, "APP");
  walk(&g, 0, "01"); // died, or called exit, in block 1
  walk(&g, 1, "012");
  walk(&g, 2, "02");
  graph_close(&g);
  // d: 0->1 1/3, 1->2 -1, 0->2 -1, 1->its exit 1; D2 = -2
  expect_block(&g, 2, -2);
  expect_block(&g, 1, -1 + 1);
  Ranking r = cp_by(&g, ENTITY_BLOCK, NULL);
  assert_true(says(suspect_of(&r, g.block[1]), "end", "1 failing and 0"));
  assert_int_equal(r.notes.len, 0);
  ranking_release(&r);
  graph_release(&g);
}

TEST(a_block_that_every_run_ends_inside_is_scored_by_its_ends) {
  Graph g;
  straight(&g, "APP");
  walk(&g, 0, "01");
  walk(&g, 1, "01");
  walk(&g, 2, "02");
  graph_close(&g);
  expect_block(&g, 1, 1.0 / 3); // (1 - 1/2) / (1 + 1/2)
  Ranking r = cp_by(&g, ENTITY_BLOCK, "sbi");
  expect_near(suspect_of(&r, g.block[1])->score, 0.5, 1e-12);
  ranking_release(&r);
  graph_release(&g);
}

TEST(a_call_that_the_compiler_knows_never_to_return_makes_an_exit_block) {
  Graph g;
  graph_init(&g, "AP", 3);
  add_edge(&g, NOWHERE, 0);
  add_edge(&g, 0, 1); // abort()
  add_edge(&g, 0, 2);
  walk(&g, 0, "01");
  walk(&g, 1, "02");
  g.w.suite.runs[0].status = -6;
  graph_close(&g);
  expect_block(&g, 1, 1);
  expect_block(&g, 2, -1);
  expect_block(&g, 0, 0);
  graph_release(&g);
}

static void die(Graph *g, const char *file, uint32_t line) {
  char path[64], function[] = "f", how[] = "SIGSEGV";
  snprintf(path, sizeof path, "%s", file);
  Death d = {path, line, function, how, true};
  propagation_add_death(&g->p, 0, &d);
}

// The failing run left block 1 once and died in it the second time.
static void died_later(Graph *g, const char *file, uint32_t line) {
  loop(g, "APP");
  walk(g, 0, "0121");
  walk(g, 1, "03");
  walk(g, 2, "013");
  propagation_init(&g->p, &g->w.suite);
  die(g, file, line);
  for (size_t run = 0; run < 3; run++) {
    Spectra s = world_spectra(&g->w, run);
    propagation_add_run(&g->p, run, &s);
    spectra_release(&s);
  }
}

TEST(the_record_of_a_death_tells_the_block_that_the_spectrum_hides) {
  Graph g;
  died_later(&g, "/proj/a.c", 1);
  Ranking r = cp_by(&g, ENTITY_BLOCK, NULL);
  assert_true(says(suspect_of(&r, g.block[1]), "end", "1 failing and 0"));
  assert_int_equal(r.notes.len, 0);
  ranking_release(&r);
  graph_release(&g);
}

TEST(a_death_at_an_unknown_place_is_noted) {
  const struct {
    const char *file;
    uint32_t line;
  } unknown[] = {{"", 0}, {"/proj/a.c", 77}, {"/other.c", 1}};
  for (size_t i = 0; i < 3; i++) {
    Graph g;
    died_later(&g, unknown[i].file, unknown[i].line);
    Ranking r = cp_by(&g, ENTITY_STATEMENT, NULL);
    assert_true(notes(&r, "end", "1 of 1 failing runs ended where"));
    ranking_release(&r);
    graph_release(&g);
  }
}

TEST(an_edge_that_leaves_the_function_is_an_exit_of_its_own) {
  // 0 returns or goes on to 1, which returns.
  Graph g;
  graph_init(&g, "APP", 2);
  add_edge(&g, NOWHERE, 0);
  add_edge(&g, 0, 1);
  uint32_t early = add_edge(&g, 0, NOWHERE);
  uint32_t late = add_edge(&g, 1, NOWHERE);
  walk(&g, 0, "0");
  hit(&g, 0, g.edge[early]);
  walk(&g, 1, "01");
  hit(&g, 1, g.edge[late]);
  walk(&g, 2, "01");
  hit(&g, 2, g.edge[late]);
  graph_close(&g);
  expect_block(&g, 1, -1);
  expect_block(&g, 0, 1 - 1);
  Ranking r = cp_by(&g, ENTITY_BLOCK, NULL);
  assert_false(says(suspect_of(&r, g.block[0]), "end", ""));
  ranking_release(&r);
  graph_release(&g);
}

// --- from blocks to statements
// --------------------------------------------------

TEST(a_statement_in_two_blocks_takes_the_better_one) {
  Graph g;
  graph_init(&g, "AP", 3);
  add_edge(&g, NOWHERE, 0);
  add_edge(&g, 0, 1);
  add_edge(&g, 0, 2);
  walk(&g, 0, "01");
  walk(&g, 1, "02");
  g.standings[1] = (Standing){g.statement[0], g.block[1]};
  g.standings[2] = (Standing){g.statement[0], g.block[2]};
  g.standings[3] = (Standing){g.statement[1], g.block[1]};
  g.standings[4] = (Standing){g.statement[2], g.block[2]};
  g.w.suite.nstandings = 5;
  graph_close(&g);
  Ranking r = cp_by(&g, ENTITY_STATEMENT, NULL);
  expect_near(suspect_of(&r, g.statement[0])->score, 1, 1e-12);
  assert_int_equal(suspect_of(&r, g.statement[0])->rank, 2);
  assert_int_equal(suspect_of(&r, g.statement[2])->rank, 3);
  ranking_release(&r);
  graph_release(&g);
}

TEST(statements_in_no_block_come_below_every_scored_block) {
  Graph g;
  straight(&g, "APP");
  walk(&g, 0, "02");
  walk(&g, 1, "012");
  walk(&g, 2, "02");
  g.w.suite.nstandings = 2; // statement 2 stands nowhere
  graph_close(&g);
  Ranking r = cp_by(&g, ENTITY_STATEMENT, NULL);
  const Suspect *last = &r.suspects.items[2];
  assert_int_equal(last->entity, g.statement[2]);
  assert_int_equal(last->rank_best, 3);
  assert_true(says(last, "block", "no block"));
  ranking_release(&r);
  LocateOptions o = {0};
  Err err;
  assert_int_equal(world_rank(&g.w, "branch", &g.p, o, &r, &err), 0);
  assert_int_equal(r.suspects.items[2].entity, g.statement[2]);
  assert_int_equal(r.suspects.items[2].rank_best, 3);
  ranking_release(&r);
  graph_release(&g);
}

TEST(what_only_uncompared_runs_executed_carries_no_evidence) {
  Graph g;
  straight(&g, "APx");
  walk(&g, 0, "02");
  walk(&g, 1, "02");
  walk(&g, 2, "012"); // flaky
  graph_close(&g);
  Ranking r = cp_by(&g, ENTITY_STATEMENT, NULL);
  assert_int_equal(r.suspects.len, 3);
  assert_int_equal(r.suspects.items[2].entity, g.statement[1]);
  assert_int_equal(r.suspects.items[2].rank_best, 3);
  ranking_release(&r);
  graph_release(&g);
}

TEST(without_passing_runs_nothing_is_ranked) {
  Graph g;
  Ranking r;
  Err err;
  straight(&g, "Ap");
  walk(&g, 0, "02");
  graph_close(&g);
  LocateOptions o = {0};
  assert_int_equal(world_rank(&g.w, "cp", &g.p, o, &r, &err), 0);
  assert_int_equal(r.suspects.len, 0);
  assert_int_equal(r.failing, 1);
  ranking_release(&r);
  graph_release(&g);
}

TEST(other_failures_stand_in_where_nothing_passes) {
  Graph g;
  Ranking r;
  Err err;
  straight(&g, "AB");
  walk(&g, 0, "02");
  walk(&g, 1, "012");
  graph_close(&g);
  LocateOptions o = {.by = ENTITY_EDGE};
  assert_int_equal(world_rank(&g.w, "cp", &g.p, o, &r, &err), 0);
  assert_true(r.stand_in);
  expect_near(suspect_of(&r, g.edge[3])->score, 1, 1e-12);
  ranking_release(&r);
  graph_release(&g);
}

// --- any graph
// ----------------------------------------------------------------

static void random_graph(Graph *g, uint64_t *state) {
  static const char *const verdicts[] = {"APAPAPPP", "APPPPPPPPPPP", "AAAAP",
                                         "ABPPABP"};
  const char *v = verdicts[draw(state, 4)];
  uint32_t n = 2 + draw(state, 12);
  graph_init(g, v, n);
  add_edge(g, NOWHERE, 0);
  uint32_t nedges = n + draw(state, 2 * n);
  for (uint32_t i = 0; i < nedges; i++) {
    uint32_t from = draw(state, n);
    // Mostly forward, as programs go.
    uint32_t to = draw(state, 3) ? from + draw(state, 4) : draw(state, n);
    add_edge(g, from, to < n ? to : n - 1);
  }
  for (uint32_t run = 0; run < strlen(v); run++) {
    uint32_t at = 0, steps = draw(state, 60);
    hit(g, run, g->edge[0]);
    for (;;) {
      hit(g, run, g->block[at]);
      hit(g, run, g->statement[at]);
      uint32_t out[MAX_EDGES], nout = 0;
      for (uint32_t i = 0; i < g->nedges; i++)
        if (g->from[i] == at)
          out[nout++] = i;
      if (!nout || !steps--)
        break;
      uint32_t e = out[draw(state, nout)];
      hit(g, run, g->edge[e]);
      at = g->to[e];
    }
  }
  graph_close(g);
}

static double score_of(const Ranking *r, uint32_t entity) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (r->suspects.items[i].entity == entity &&
        (r->suspects.items[i].ef || r->suspects.items[i].ep))
      return r->suspects.items[i].score;
  return 0; // no compared run took it
}

// BR(j) against the sum over its edges, straight from the paper.
static void expect_equation(const Graph *g, const Ranking *blocks,
                            const Ranking *edges, uint32_t j) {
  double sum = 0, size = 0;
  for (uint32_t i = 0; i < g->nedges; i++) {
    if (g->from[i] != j)
      continue;
    uint32_t k = g->to[i];
    double into = 0, all = 0;
    for (uint32_t e = 0; e < g->nedges; e++)
      if (g->to[e] == k) {
        into += score_of(edges, g->edge[e]);
        all += fabs(score_of(edges, g->edge[e]));
      }
    if (fabs(into) <= 1e-12 * all)
      into = 1e-10;
    double share = score_of(edges, g->edge[i]) / into;
    sum += score_of(blocks, g->block[k]) * share;
    // A score next to 0 is right to 1e-13 or so, and blown up by 1 / 1e-10.
    size += fabs(share) * (fabs(score_of(blocks, g->block[k])) + 1e-7);
  }
  const Suspect *s = suspect_of(blocks, g->block[j]);
  expect_near(s->score, sum, 1e-6 * fmax(size, 1));
}

TEST(scores_of_any_graph_are_finite_and_solve_the_equations) {
  uint64_t state = 1;
  size_t checked = 0;
  for (int round = 0; round < 3000; round++) {
    Graph g;
    random_graph(&g, &state);
    Ranking blocks = cp_by(&g, ENTITY_BLOCK, NULL);
    Ranking edges = cp_by(&g, ENTITY_EDGE, NULL);
    Ranking statements = cp_by(&g, ENTITY_STATEMENT, NULL);
    for (uint32_t j = 0; j < g.nblocks; j++) {
      if (!bitset_has(&g.p.tally.executed, g.block[j]))
        continue;
      const Suspect *s = suspect_of(&blocks, g.block[j]);
      if (!says(s, "propagation", "") || says(s, "end", ""))
        continue;
      expect_equation(&g, &blocks, &edges, j);
      checked++;
    }
    ranking_release(&blocks);
    ranking_release(&edges);
    ranking_release(&statements);
    graph_release(&g);
  }
  assert_true(checked > 5000);
}

// --- the solver by itself
// -------------------------------------------------------

TEST(a_chain_that_grows_without_end_is_cut_off) {
  enum { N = 60 };
  uint32_t first[N + 1], to[N];
  double weight[N], own[N], given[N] = {0}, instead[N] = {0}, y[N];
  bool solved[N];
  for (uint32_t j = 0; j < N; j++) {
    first[j] = j;
    to[j] = j + 1;
    weight[j] = j % 2 ? -1 : 1;
    own[j] = 1e-10;
  }
  first[N - 1] = first[N] = N - 1; // the last one has no edge
  given[N - 1] = 1;
  graph_solve(&(GraphSystem){N, first, to, weight, own, given, instead}, y,
              solved);
  for (uint32_t j = 0; j < N; j++) {
    assert_true(solved[j]);
    assert_true(fabs(y[j]) <= 1e100);
  }
  assert_true(fabs(y[0]) == 1e100);
}

TEST(a_singular_component_takes_what_is_offered_and_others_do_not) {
  // 0 -> {1 <-> 2} -> 3; y1 = y2, and y2 = y1 + 1
  const uint32_t first[] = {0, 1, 2, 4, 4}, to[] = {1, 2, 1, 3};
  const double weight[] = {2, 1, 1, 1}, own[] = {1, 1, 1, 1};
  const double given[] = {0, 0, 0, 1}, instead[] = {-1, 5, 6, -1};
  double y[4];
  bool solved[4];
  graph_solve(&(GraphSystem){4, first, to, weight, own, given, instead}, y,
              solved);
  assert_true(solved[0] && !solved[1] && !solved[2] && solved[3]);
  expect_near(y[1], 5, 0);
  expect_near(y[2], 6, 0);
  expect_near(y[0], 10, 1e-12);
}

TEST(edges_without_weight_make_no_cycle) {
  const uint32_t first[] = {0, 1, 2}, to[] = {1, 0};
  const double weight[] = {1, 0}, own[] = {2, 1};
  const double given[] = {0, 3}, instead[] = {0, 0};
  double y[2];
  bool solved[2];
  graph_solve(&(GraphSystem){2, first, to, weight, own, given, instead}, y,
              solved);
  assert_true(solved[0] && solved[1]);
  expect_near(y[0], 1.5, 1e-12);
  expect_near(y[1], 3, 1e-12);
}
