// Unit tests of src/look: which runs are looked at, and what is stored of them.
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "look/close_sample.h"
#include "look/found_unit.h"
#include "look/related_tests.h"
#include "util/fs.h"
#include "util/mem.h"

// --- the sample --------------------------------------------------------------

enum { RUNS = 400 };

typedef struct {
  Suite suite;
  RunInfo runs[RUNS];
  FailureGroup failures[2];
  uint32_t failing[2][RUNS];
  double nearness[RUNS];
  char names[RUNS][8];
} MadeSession;

// The first `failing` runs fail in the one or, if odd, the other way.
static void session_init(MadeSession *s, size_t nruns, size_t failing) {
  memset(s, 0, sizeof *s);
  s->suite.runs = s->runs;
  s->suite.nruns = nruns;
  s->suite.failures = s->failures;
  s->suite.nfailures = 2;
  for (size_t i = 0; i < nruns; i++) {
    snprintf(s->names[i], sizeof s->names[i], "%zu", i + 1);
    s->runs[i] =
        (RunInfo){.test = s->names[i],
                  .has_spectrum = true,
                  .verdict = i < failing ? VERDICT_FAIL : VERDICT_PASS};
    FailureGroup *g = &s->failures[i & 1];
    g->runs = s->failing[i & 1];
    if (i < failing)
      g->runs[g->nruns++] = (uint32_t)i;
    s->nearness[i] = (double)i;
  }
}

static size_t count(const MadeSession *s, const CloseSample *sample, Verdict v,
                    CloseStratum stratum) {
  size_t n = 0;
  for (size_t i = 0; i < sample->len; i++)
    n += s->runs[sample->items[i].run].verdict == v &&
         sample->items[i].stratum == stratum;
  return n;
}

TEST(every_run_of_a_small_session_is_in_its_sample_once) {
  MadeSession s;
  CloseSample sample = {0};
  bool had[RUNS] = {0};
  session_init(&s, 40, 5);
  close_sample_order(&s.suite, s.nearness, &sample);
  assert_int_equal(sample.len, 40);
  for (size_t i = 0; i < sample.len; i++) {
    assert_false(had[sample.items[i].run]);
    had[sample.items[i].run] = true;
  }
  assert_int_equal(count(&s, &sample, VERDICT_FAIL, CLOSE_NEAR), 5);
  assert_int_equal(count(&s, &sample, VERDICT_PASS, CLOSE_NEAR), 18);
  assert_int_equal(count(&s, &sample, VERDICT_PASS, CLOSE_RANDOM), 17);
  array_release(&sample);
}

TEST(failing_and_passing_runs_take_turns_and_the_nearest_comes_first) {
  MadeSession s;
  CloseSample sample = {0};
  session_init(&s, 40, 5);
  close_sample_order(&s.suite, s.nearness, &sample);
  for (size_t i = 0; i < 10; i++)
    assert_int_equal(s.runs[sample.items[i].run].verdict,
                     i % 2 ? VERDICT_PASS : VERDICT_FAIL);
  assert_int_equal(sample.items[1].run, 39);
  assert_int_equal(sample.items[1].stratum, CLOSE_NEAR);
  assert_int_equal(sample.items[3].stratum, CLOSE_RANDOM);
  array_release(&sample);
}

TEST(of_many_failing_runs_some_of_each_failure_are_taken_evenly) {
  MadeSession s;
  CloseSample sample = {0};
  session_init(&s, 400, 300);
  close_sample_order(&s.suite, s.nearness, &sample);
  size_t odd = 0, late = 0;
  for (size_t i = 0; i < sample.len; i++) {
    bool fails = sample.items[i].run < 300;
    odd += fails && sample.items[i].run % 2;
    late += fails && sample.items[i].run >= 150;
  }
  assert_int_equal(sample.len, 2 * FAILING_MOST + 100);
  assert_int_equal(odd, FAILING_MOST);
  assert_int_equal(late, FAILING_MOST);
  array_release(&sample);
}

TEST(runs_without_a_spectrum_or_a_verdict_are_not_in_the_sample) {
  MadeSession s;
  CloseSample sample = {0};
  session_init(&s, 20, 4);
  s.runs[1].has_spectrum = s.runs[10].has_spectrum = false;
  s.runs[11].verdict = VERDICT_SKIP;
  s.runs[12].verdict = VERDICT_FLAKY;
  close_sample_order(&s.suite, s.nearness, &sample);
  assert_int_equal(sample.len, 16);
  array_release(&sample);
}

// --- tests that are apart -----------------------------------------------------

// Runs 1 to 4 fail; all up to 10 run "main", and all from 8 on "other". From 20 on
// they have little in common with those that fail.
typedef struct {
  MadeSession session;
  CloseSample sample, apart;
  SeenModule modules[2];
} TwoPrograms;

static void two_programs_init(TwoPrograms *t) {
  session_init(&t->session, 40, 4);
  t->sample = t->apart = (CloseSample){0};
  close_sample_order(&t->session.suite, t->session.nearness, &t->sample);
  t->modules[0] = (SeenModule){.path = "main", .runs = 10, .failing = 4};
  t->modules[1] = (SeenModule){.path = "other", .runs = 33};
  for (size_t i = 0; i < 40; i++) {
    if (i < 10)
      array_push(&t->modules[0].tests, t->session.names[i]);
    if (i >= 7)
      array_push(&t->modules[1].tests, t->session.names[i]);
  }
  for (size_t i = 0; i < t->sample.len; i++)
    t->sample.items[i].little = t->sample.items[i].run + 1 >= 20;
}

static void two_programs_release(TwoPrograms *t) {
  for (int i = 0; i < 2; i++)
    array_release(&t->modules[i].tests);
  array_release(&t->sample);
  array_release(&t->apart);
}

static void part(TwoPrograms *t) {
  related_tests_part(&t->session.suite, t->modules, 2, &t->sample, &t->apart);
}

static size_t needed(TwoPrograms *t) {
  NeededModules out = {0};
  related_tests_modules(&t->session.suite, t->modules, 2, &t->sample, &out);
  size_t n = out.len;
  array_release(&out);
  return n;
}

TEST(tests_of_other_programs_with_little_in_common_are_not_looked_at) {
  TwoPrograms t;
  two_programs_init(&t);
  CloseSample before = {0};
  for (size_t i = 0; i < t.sample.len; i++)
    if (t.sample.items[i].run + 1 < 20)
      array_push(&before, t.sample.items[i]);
  part(&t);
  assert_int_equal(t.sample.len, 19);
  assert_int_equal(t.apart.len, 21);
  assert_memory_equal(t.sample.items, before.items,
                      before.len * sizeof *before.items);
  assert_int_equal(needed(&t), 2); // tests 8 to 19 are looked at
  array_release(&before);
  two_programs_release(&t);
}

TEST(a_test_of_a_program_that_fails_is_looked_at_whatever_it_executes) {
  TwoPrograms t;
  two_programs_init(&t);
  for (size_t i = 0; i < t.sample.len; i++)
    t.sample.items[i].little = t.sample.items[i].run >= 4;
  part(&t);
  assert_int_equal(t.sample.len, 10);
  two_programs_release(&t);
}

TEST(programs_that_no_sampled_test_ran_are_not_built) {
  TwoPrograms t;
  two_programs_init(&t);
  for (size_t i = 0; i < t.sample.len; i++)
    t.sample.items[i].little = t.sample.items[i].run >= 4;
  t.modules[1].tests.items += 3; // runs 8, 9, 10 ran nothing else
  t.modules[1].tests.len -= 3;
  part(&t);
  assert_int_equal(needed(&t), 1);
  t.modules[1].tests.items -= 3;
  two_programs_release(&t);
}

TEST(a_segment_ran_what_its_whole_test_ran) {
  TwoPrograms t;
  two_programs_init(&t);
  strcpy(t.session.names[30], "m/a/b");
  strcpy(t.session.names[31], "ma/b");
  array_push(&t.modules[0].tests, "m");
  part(&t);
  assert_int_equal(t.sample.len, 20);
  two_programs_release(&t);
}

TEST(where_no_tests_of_modules_are_known_nothing_is_apart) {
  TwoPrograms t;
  two_programs_init(&t);
  t.modules[0].tests.len = t.modules[1].tests.len = 0;
  part(&t);
  assert_int_equal(t.sample.len, 40);
  assert_int_equal(needed(&t), 2);
  two_programs_release(&t);
}

TEST(tests_with_names_of_their_own_keep_the_program_they_are_in) {
  TwoPrograms t;
  two_programs_init(&t);
  t.modules[0].tests.len = 0;
  array_push(&t.modules[0].tests, "./prog"); // whose tests are named otherwise
  part(&t);
  assert_int_equal(t.sample.len, 40);
  assert_int_equal(needed(&t), 2);
  two_programs_release(&t);
}

TEST(the_same_session_gives_the_same_sample_and_other_tests_another_one) {
  MadeSession s;
  CloseSample a = {0}, b = {0}, c = {0};
  session_init(&s, 200, 4);
  close_sample_order(&s.suite, s.nearness, &a);
  close_sample_order(&s.suite, s.nearness, &b);
  assert_int_equal(a.len, b.len);
  assert_memory_equal(a.items, b.items, a.len * sizeof *a.items);
  strcpy(s.names[199], "other");
  close_sample_order(&s.suite, s.nearness, &c);
  assert_int_equal(a.len, c.len);
  assert_true(memcmp(a.items, c.items, a.len * sizeof *a.items) != 0);
  array_release(&a);
  array_release(&b);
  array_release(&c);
}

// --- what was found ----------------------------------------------------------

typedef struct {
  char root[64];
  Store *store;
  int64_t session;
  Err err;
} LookStore;

#define check(w, call)                                                         \
  do {                                                                         \
    if (call)                                                                  \
      fail_msg("%s: %s", #call, (w)->err.text);                                \
  } while (0)

static Source source = {.path = "/src/a.c", .hash = 7};

enum { FUNCTION, LINE_1, LINE_2, LESS, EQUAL, ENTITIES };

// Of the close build: a function with two lines and a comparison.
static Entity entities[ENTITIES] = {
    {ENTITY_FUNCTION, .line = 1, .from = ENTITY_NONE, .to = ENTITY_NONE,
     .name = "f"},
    {ENTITY_STATEMENT, .line = 2, .from = ENTITY_NONE, .to = ENTITY_NONE},
    {ENTITY_STATEMENT, .line = 3, .from = ENTITY_NONE, .to = ENTITY_NONE},
    {ENTITY_RELATION, .line = 3, .from = RELATION_LESS, .to = ENTITY_NONE,
     .name = "compare", .text = "`a` is less than `b`"},
    {ENTITY_RELATION, .line = 3, .from = RELATION_EQUAL, .to = ENTITY_NONE,
     .name = "compare", .text = "`a` equals `b`"},
};

static void look_open(LookStore *w) {
  bool continued;
  memset(w, 0, sizeof *w);
  strcpy(w->root, "/tmp/look-XXXXXX");
  assert_non_null(mkdtemp(w->root));
  check(w, store_open(&w->store, w->root, STORE_CREATE, &w->err));
  check(w, session_begin(w->store, "key", "culprit run", "/src", &w->session,
                         &continued, &w->err));
  Unit unit = {.name = "a.c",
               .sources = &source,
               .nsources = 1,
               .entities = entities,
               .nentities = LESS};
  uint32_t ids[ENTITIES];
  check(w, store_add_unit(w->store, w->session, &unit, ids, &w->err));
  for (int i = 0; i < 3; i++) {
    Run run = {.test = mem_printf("%d", i + 1),
               .command = mem_strdup(""),
               .processes = 1};
    bitset_add(&run.hits[ENTITY_STATEMENT], ids[LINE_1]);
    check(w, store_add_run(w->store, w->session, &run, &w->err));
    run_release(&run);
  }
  check(w, session_finish(w->store, w->session, &w->err));
}

static void look_close(LookStore *w) {
  store_close(w->store);
  fs_remove_tree(w->root);
}

// Two programs that have the same unit.
static void number(FoundUnit *f, const Unit *unit, uint32_t *ids) {
  Err err;
  for (int i = 0; i < 2; i++)
    assert_int_equal(found_assign(f, unit, ids + i * ENTITIES, &err), 0);
}

static void keep_name(void *ctx, size_t run, const Bitset *hits) {
  Str *out = ctx;
  if (bitset_count(hits))
    str_addf(out, "%zu:%zu ", run, bitset_count(hits));
}

static char *describe(LookStore *w, const Suite *suite, EntityKind kind) {
  Str out = {0};
  check(w,
        store_each_spectrum(w->store, suite, kind, keep_name, &out, &w->err));
  return str_take(&out);
}

static void expect_hits(LookStore *w, const Suite *suite, EntityKind kind,
                        const char *want) {
  char *got = describe(w, suite, kind);
  assert_string_equal(got, want);
  free(got);
}

static size_t count_kind(const Suite *suite, EntityKind kind) {
  size_t n = 0;
  for (size_t i = 0; i < suite->nentities; i++)
    n += suite->entities[i].kind == kind;
  return n;
}

TEST(what_runs_showed_is_stored_once_whichever_program_it_is_in) {
  LookStore w;
  look_open(&w);
  Unit unit = {.name = "a.c",
               .sources = &source,
               .nsources = 1,
               .entities = entities,
               .nentities = ENTITIES};
  uint32_t ids[2 * ENTITIES];
  FoundUnit *f = found_new();
  number(f, &unit, ids);
  FoundRun runs[2] = {{.test = mem_strdup("1"), .stratum = CLOSE_NEAR},
                      {.test = mem_strdup("3"), .stratum = CLOSE_RANDOM}};
  bitset_add(&runs[0].hits[ENTITY_RELATION], ids[EQUAL]);
  bitset_add(&runs[1].hits[ENTITY_RELATION], ids[ENTITIES + EQUAL]);
  bitset_add(&runs[1].hits[ENTITY_PAIR],
             found_pair(f, ids[LINE_1], ids[ENTITIES + LINE_2]));
  check(&w, found_store(f, w.store, w.session, runs, 2, "all", &w.err));
  Suite suite = {0};
  check(&w, store_load(w.store, w.session, &suite, &w.err));
  assert_string_equal(suite.close, "all");
  assert_int_equal(suite.runs[0].close, CLOSE_NEAR);
  assert_int_equal(suite.runs[1].close, CLOSE_NONE);
  assert_int_equal(suite.runs[2].close, CLOSE_RANDOM);
  assert_int_equal(count_kind(&suite, ENTITY_STATEMENT), 2);
  assert_int_equal(count_kind(&suite, ENTITY_FUNCTION), 1);
  assert_int_equal(count_kind(&suite, ENTITY_RELATION), 1);
  assert_int_equal(count_kind(&suite, ENTITY_PAIR), 1);
  expect_hits(&w, &suite, ENTITY_RELATION, "0:1 2:1 ");
  expect_hits(&w, &suite, ENTITY_PAIR, "2:1 ");
  expect_hits(&w, &suite, ENTITY_STATEMENT, "0:1 1:1 2:1 ");
  suite_release(&suite);
  for (int i = 0; i < 2; i++)
    found_run_release(&runs[i]);
  found_free(f);
  look_close(&w);
}

TEST(a_second_look_replaces_the_first) {
  LookStore w;
  look_open(&w);
  Unit unit = {.name = "a.c",
               .sources = &source,
               .nsources = 1,
               .entities = entities,
               .nentities = ENTITIES};
  for (int look = 0; look < 2; look++) {
    uint32_t ids[2 * ENTITIES];
    FoundUnit *f = found_new();
    number(f, &unit, ids);
    FoundRun run = {.test = mem_strdup(look ? "2" : "1"),
                    .stratum = CLOSE_NEAR};
    bitset_add(&run.hits[ENTITY_RELATION], ids[look ? LESS : EQUAL]);
    check(&w, found_store(f, w.store, w.session, &run, 1,
                          look ? "budget" : "all", &w.err));
    found_run_release(&run);
    found_free(f);
  }
  Suite suite = {0};
  check(&w, store_load(w.store, w.session, &suite, &w.err));
  assert_string_equal(suite.close, "budget");
  assert_int_equal(suite.runs[0].close, CLOSE_NONE);
  assert_int_equal(suite.runs[1].close, CLOSE_NEAR);
  expect_hits(&w, &suite, ENTITY_RELATION, "1:1 ");
  suite_release(&suite);
  look_close(&w);
}

TEST(a_look_that_cannot_be_stored_leaves_the_session_as_it_was) {
  LookStore w;
  look_open(&w);
  Unit unit = {.name = "a.c",
               .sources = &source,
               .nsources = 1,
               .entities = entities,
               .nentities = ENTITIES};
  uint32_t ids[2 * ENTITIES];
  FoundUnit *f = found_new();
  number(f, &unit, ids);
  FoundRun runs[2] = {{.test = mem_strdup("1"), .stratum = CLOSE_NEAR},
                      {.test = mem_strdup("none"), .stratum = CLOSE_NEAR}};
  bitset_add(&runs[0].hits[ENTITY_RELATION], ids[EQUAL]);
  assert_int_equal(found_store(f, w.store, w.session, runs, 2, "all", &w.err),
                   -1);
  assert_non_null(strstr(w.err.text, "no longer there"));
  Suite suite = {0};
  check(&w, store_load(w.store, w.session, &suite, &w.err));
  assert_string_equal(suite.close, "");
  assert_int_equal(suite.runs[0].close, CLOSE_NONE);
  assert_int_equal(count_kind(&suite, ENTITY_RELATION), 0);
  suite_release(&suite);
  for (int i = 0; i < 2; i++)
    found_run_release(&runs[i]);
  found_free(f);
  look_close(&w);
}
