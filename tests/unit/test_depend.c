// Unit tests of depend/ and of where a failure showed.
#include "depend/deciders.h"
#include "depend/steps.h"
#include "locate/failed_check.h"
#include "test.h"
#include "world.h"

// --- control dependence --------------------------------------------------------

enum { FIRST_BLOCK = 1 };

// A function with blocks 0 to n-1 and these edges; ENTITY_NONE: the end.
static void flow(World *w, uint32_t n, const uint32_t (*edges)[2], size_t m) {
  world_init(w, "PA");
  world_source(w, "a.c");
  world_entity(w, (Entity){.kind = ENTITY_FUNCTION, .name = "f"});
  for (uint32_t b = 0; b < n; b++)
    world_entity(w, (Entity){.kind = ENTITY_BLOCK, .index = b});
  world_entity(
      w, (Entity){.kind = ENTITY_EDGE, .from = ENTITY_NONE, .to = FIRST_BLOCK});
  for (size_t i = 0; i < m; i++)
    world_entity(w, (Entity){.kind = ENTITY_EDGE,
                             .from = edges[i][0] + FIRST_BLOCK,
                             .to = edges[i][1] == ENTITY_NONE
                                       ? ENTITY_NONE
                                       : edges[i][1] + FIRST_BLOCK});
}

static void expect_deciders(const Deciders *d, uint32_t block, size_t n,
                            uint32_t by) {
  assert_int_equal(d->of[block].len, n);
  if (n)
    assert_int_equal(d->of[block].items[0], by);
}

TEST(a_branch_decides_about_what_only_one_of_its_ways_executes) {
  static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {1, 2}, {2, ENTITY_NONE}};
  World w;
  Deciders d;
  flow(&w, 3, edges, 4);
  deciders_find(&d, &w.suite);
  expect_deciders(&d, 0, 0, 0);
  expect_deciders(&d, 1, 1, 0);
  expect_deciders(&d, 2, 0, 0);
  deciders_release(&d);
  world_release(&w);
}

TEST(the_condition_of_a_loop_decides_about_its_body_and_itself) {
  static const uint32_t edges[][2] = {
      {0, 1}, {1, 2}, {2, 1}, {1, 3}, {3, ENTITY_NONE}};
  World w;
  Deciders d;
  flow(&w, 4, edges, 5);
  deciders_find(&d, &w.suite);
  expect_deciders(&d, 0, 0, 0);
  expect_deciders(&d, 1, 1, 1);
  expect_deciders(&d, 2, 1, 1);
  expect_deciders(&d, 3, 0, 0);
  deciders_release(&d);
  world_release(&w);
}

TEST(an_endless_loop_has_deciders_too) {
  static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {1, 1}, {2, ENTITY_NONE}};
  World w;
  Deciders d;
  flow(&w, 3, edges, 4);
  deciders_find(&d, &w.suite);
  expect_deciders(&d, 1, 2, 0); // and itself
  expect_deciders(&d, 2, 1, 0);
  deciders_release(&d);
  world_release(&w);
}

// --- steps -------------------------------------------------------------------

// Statements 0 to 5 are lines 1 to 6; pairs 0 -> 1, 1 -> 3, 2 -> 3, 4 -> 5.
typedef struct {
  World w;
  Comparison c;
  uint32_t pair[4];
} PairWorld;

static void pair_world(PairWorld *p, const char *verdicts) {
  static const uint32_t ends[][2] = {{0, 1}, {1, 3}, {2, 3}, {4, 5}};
  world_init(&p->w, verdicts);
  world_statements(&p->w, "a.c", "f", 1, 6);
  for (int i = 0; i < 4; i++)
    p->pair[i] = world_entity(&p->w, (Entity){.kind = ENTITY_PAIR,
                                              .line = ends[i][0] + 1,
                                              .from = ends[i][0],
                                              .to = ends[i][1]});
  for (size_t i = 0; i < p->w.suite.nruns; i++)
    p->w.suite.runs[i].close = CLOSE_NEAR;
}

static void compare(PairWorld *p) {
  world_close(&p->w);
  comparison_init(&p->c, &p->w.tally, 0, false);
}

static void pair_world_release(PairWorld *p) {
  comparison_release(&p->c);
  world_release(&p->w);
}

static void find_from(PairWorld *p, uint32_t check, Steps *out) {
  NumberList checks = {0};
  Dependences d;
  array_push(&checks, check);
  dependences_find(&d, &p->w.suite);
  steps_find(out, &d, p->c.ef, &checks);
  dependences_release(&d);
  array_release(&checks);
}

TEST(steps_follow_pairs_from_the_use_to_the_definition) {
  PairWorld p;
  Steps s;
  pair_world(&p, "PA");
  world_covers(&p.w, 1, 0, 5);
  world_covers(&p.w, 1, p.pair[0], p.pair[3]);
  compare(&p);
  find_from(&p, 3, &s);
  assert_int_equal(s.count[3], 0);
  assert_int_equal(s.count[1], 1);
  assert_int_equal(s.count[2], 1);
  assert_int_equal(s.count[0], 2);
  assert_int_equal(s.next[0], 1);
  assert_int_equal(s.pair[0], p.pair[0]);
  assert_int_equal(s.count[4], STEPS_NONE);
  assert_int_equal(s.count[5], STEPS_NONE);
  steps_release(&s);
  pair_world_release(&p);
}

TEST(pairs_that_no_failing_run_covers_are_no_steps) {
  PairWorld p;
  Steps s;
  pair_world(&p, "PA");
  world_covers(&p.w, 0, 0, 5);
  world_covers(&p.w, 1, 0, 5);
  world_covers(&p.w, 0, p.pair[0], p.pair[3]); // passes
  world_covers(&p.w, 1, p.pair[2], p.pair[2]);
  compare(&p);
  find_from(&p, 3, &s);
  assert_int_equal(s.count[2], 1);
  assert_int_equal(s.count[1], STEPS_NONE);
  assert_int_equal(s.count[0], STEPS_NONE);
  steps_release(&s);
  pair_world_release(&p);
}

// --- where the failure showed ----------------------------------------------------

static void shows_at(PairWorld *p, uint32_t statement) {
  NumberList checks = {0};
  failed_checks_find(&p->c, NULL, 0, &checks);
  assert_int_equal(checks.len, statement == ENTITY_NONE ? 0 : 1);
  if (checks.len)
    assert_int_equal(checks.items[0], statement);
  array_release(&checks);
}

static void failing_world(PairWorld *p) {
  pair_world(p, "PA");
  world_covers(&p->w, 1, 0, 5);
  compare(p);
}

TEST(the_message_names_the_check) {
  PairWorld p;
  failing_world(&p);
  p.w.suite.failures[0].place = "a.c:4";
  shows_at(&p, 3);
  p.w.suite.failures[0].place = "a.c:9"; // of the statement that begins above
  shows_at(&p, 5);
  p.w.suite.failures[0].place = "b.c:4";
  shows_at(&p, ENTITY_NONE);
  pair_world_release(&p);
}

TEST(the_lines_around_the_message_name_the_check) {
  PairWorld p;
  failing_world(&p);
  p.w.suite.failures[0].excerpt = "12:30 started\n[ LINE ] --- ./a.c:2: error";
  shows_at(&p, 1);
  pair_world_release(&p);
}

TEST(a_check_that_no_failing_run_executes_is_none) {
  PairWorld p;
  pair_world(&p, "PA");
  world_covers(&p.w, 0, 0, 5);
  world_covers(&p.w, 1, 0, 0);
  compare(&p);
  p.w.suite.failures[0].place = "a.c:6";
  shows_at(&p, ENTITY_NONE);
  pair_world_release(&p);
}
