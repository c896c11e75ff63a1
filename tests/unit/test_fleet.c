// Unit tests of src/fleet and run/shard: how tests are shared out, and what
// becomes of sessions that are merged.
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "fleet/merge.h"
#include "run/shard.h"
#include "store/store.h"
#include "util/fs.h"
#include "util/mem.h"

// --- shards -------------------------------------------------------------------

TEST(a_shard_is_a_number_of_a_number) {
  Shard s;
  assert_true(shard_parse("3/8", &s));
  assert_int_equal(s.k, 3);
  assert_int_equal(s.n, 8);
  static const char *const wrong[] = {"",     "3",   "0/8",      "9/8",  "3/0",
                                      "/8",   "3/",  "-1/8",     "3/8x", " 3/8",
                                      "3//8", "a/b", "1/200000", "3/8/9"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (shard_parse(wrong[i], &s))
      fail_msg("'%s' is taken", wrong[i]);
}

static void assert_rest(const char *command, const char *store, unsigned k,
                        const char *expected) {
  char *rest;
  Shard s = shard_of_command(command, store, &rest);
  assert_int_equal(s.k, k);
  assert_string_equal(rest, expected);
  free(rest);
}

TEST(the_shard_of_a_command_line_is_found_and_left_out) {
  assert_rest("culprit run --shard 2/3 --tests t", NULL, 2,
              "culprit run --tests t");
  assert_rest("culprit run --shard=2/3 --store a -q", "all", 2,
              "culprit run --store all -q");
  assert_rest("culprit run --store=a", "all", 0, "culprit run --store all");
  assert_rest("culprit run -- make --shard 2/3", NULL, 0,
              "culprit run -- make --shard 2/3");
  assert_rest("culprit run --tests 'a b'", NULL, 0,
              "culprit run --tests 'a b'");
}

enum { MANY = 1000 };

static const char **many_names(Arena *arena) {
  const char **names = arena_array(arena, const char *, MANY);
  for (int i = 0; i < MANY; i++)
    names[i] = arena_printf(arena, "tests/%d.sh", i);
  return names;
}

TEST(every_test_has_one_shard_whatever_else_is_in_the_list) {
  Arena arena = {0};
  const char **names = many_names(&arena);
  unsigned all[MANY], half[MANY], of[9] = {0};
  shards_assign(NULL, names, MANY, 8, all);
  shards_assign(NULL, names, MANY / 2, 8, half);
  for (int i = 0; i < MANY; i++) {
    assert_in_range(all[i], 1, 8);
    assert_int_equal(all[i], shard_by_name(names[i], 8));
    of[all[i]]++;
  }
  assert_memory_equal(all, half, MANY / 2 * sizeof *all);
  for (int k = 1; k <= 8; k++)
    assert_in_range(of[k], MANY / 16, MANY / 4);
  arena_release(&arena);
}

TEST(known_times_balance_the_shards) {
  static const char *names[] = {"a", "b", "c", "d", "d/x", "d/y", "e"};
  static double seconds[] = {4, 3, 2, 1, 9, 9, 2};
  static const char *tests[] = {"a", "b", "c", "e", "d", "new"};
  TestTimes t = {.names = names, .seconds = seconds, .n = 7};
  unsigned shards[6];
  shards_assign(&t, tests, 6, 2, shards);
  double load[3] = {0};
  for (int i = 0; i < 5; i++)
    load[shards[i]] += test_times_of(&t, tests[i]);
  assert_true(load[1] == 6 && load[2] == 6);
  assert_int_equal(shards[5], shard_by_name("new", 2));
}

TEST(the_time_of_a_test_is_that_of_what_is_inside) {
  static const char *names[] = {"d.x", "d/x", "d/y", "d0"};
  static double seconds[] = {1, 2, 4, 8};
  TestTimes t = {.names = names, .seconds = seconds, .n = 4};
  assert_true(test_times_of(&t, "d") == 6);
  assert_true(test_times_of(&t, "d0") == 8);
  assert_true(test_times_of(&t, "c") < 0);
}

TEST(the_digest_says_whether_two_machines_agree) {
  static const char *a[] = {"x", "y"}, *b[] = {"y", "x"}, *c[] = {"x", "z"};
  unsigned one[] = {1, 2}, other[] = {2, 1};
  uint64_t digest = shards_digest(a, one, 2);
  assert_true(digest == shards_digest(b, other, 2));
  assert_true(digest != shards_digest(a, other, 2));
  assert_true(digest != shards_digest(c, one, 2));
}

// --- merging --------------------------------------------------------------------

typedef struct {
  char root[64];
  Arena arena;
  Err err;
  Places places;
} Home;

static void home_init(Home *h) {
  memset(h, 0, sizeof *h);
  const char *tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
  snprintf(h->root, sizeof h->root, "%s/fleet-XXXXXX", tmp);
  assert_non_null(mkdtemp(h->root));
}

static void home_release(Home *h) {
  fs_remove_tree(h->root);
  arena_release(&h->arena);
}

static const char *path_in(Home *h, const char *name) {
  return arena_printf(&h->arena, "%s/%s", h->root, name);
}

enum { FUNCTION, LINE2, LINE3, BLOCK, RELATION, NENTITIES };

// f() of a file, with two lines, a block, and what a closer look sees.
static void add_unit(Home *h, Store *s, int64_t session, const char *path,
                     uint64_t hash, uint32_t *ids) {
  Source source = {.path = path, .hash = hash};
  Entity e[NENTITIES] = {
      [FUNCTION] = {.kind = ENTITY_FUNCTION, .line = 1, .name = "f"},
      [LINE2] = {.kind = ENTITY_STATEMENT, .line = 2, .to = BLOCK},
      [LINE3] = {.kind = ENTITY_STATEMENT, .line = 3, .to = BLOCK},
      [BLOCK] = {.kind = ENTITY_BLOCK, .line = 2},
      [RELATION] = {.kind = ENTITY_RELATION,
                    .line = 2,
                    .to = ENTITY_NONE,
                    .text = "x > y"}};
  e[FUNCTION].to = ENTITY_NONE;
  Unit unit = {.name = "f.o",
               .sources = &source,
               .nsources = 1,
               .entities = e,
               .nentities = NENTITIES};
  unit.id.bytes[0] = (unsigned char)strlen(path);
  if (store_add_unit(s, session, &unit, ids, &h->err))
    fail_msg("%s", h->err.text);
}

// One run; a failing one executes line 3.
static void add_run(Home *h, Store *s, int64_t session, const char *test,
                    const char *message, const uint32_t *ids) {
  Run run = {.test = (char *)test,
             .command = "./f",
             .verdict = message ? VERDICT_FAIL : VERDICT_PASS,
             .status = message ? 1 : 0,
             .processes = 1};
  bitset_add(&run.hits[ENTITY_STATEMENT], ids[message ? LINE3 : LINE2]);
  bitset_add(&run.hits[ENTITY_BLOCK], ids[BLOCK]);
  Failure f = {.kind = "oracle",
               .message = (char *)message,
               .place = "",
               .signature = "Boom",
               .output = (char *)message};
  FailurePlace place = {
      .file = "/src/f.c", .line = 3, .what = "here", .excerpt = "..."};
  if (message) {
    array_push(&f.places, place);
    array_push(&run.failures, f);
  }
  if (store_add_run(s, session, &run, &h->err))
    fail_msg("%s", h->err.text);
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&run.hits[k]);
  array_release(&f.places);
  array_release(&run.failures);
}

typedef struct {
  const char *store, *key, *source, *test, *failing;
  uint64_t hash;
  bool close;
} Made;

static const char *make_store(Home *h, const Made *m) {
  Store *s;
  int64_t session;
  bool continued;
  uint32_t ids[NENTITIES];
  const char *dir = path_in(h, m->store);
  if (store_open(&s, dir, STORE_CREATE, &h->err) ||
      session_begin(s, m->key, "culprit run --shard 1/2 --tests t", "/src",
                    &session, &continued, &h->err))
    fail_msg("%s", h->err.text);
  add_unit(h, s, session, m->source, m->hash, ids);
  if (m->test)
    add_run(h, s, session, m->test, m->failing, ids);
  Bitset hits[ENTITY_KINDS] = {0};
  bitset_add(&hits[ENTITY_RELATION], ids[RELATION]);
  if (m->close && (store_add_close(s, session, m->test, CLOSE_NEAR, hits,
                                   "wrong", &h->err) ||
                   session_set_close(s, session, "all", &h->err)))
    fail_msg("%s", h->err.text);
  bitset_release(&hits[ENTITY_RELATION]);
  if (session_finish(s, session, &h->err))
    fail_msg("%s", h->err.text);
  store_close(s);
  return dir;
}

static int merge(Home *h, StoreMerge *m, const ImportArg *args, size_t n,
                 Suite *suite) {
  Store *out;
  m->inputs = (ImportArgs){args, n};
  m->places = &h->places;
  m->command = "culprit store merge";
  m->cwd = "/here";
  if (store_open(&out, path_in(h, "out"), STORE_CREATE, &h->err))
    fail_msg("%s", h->err.text);
  int rc = stores_merge(m, out, &h->err);
  if (!rc && store_load(out, m->session, suite, &h->err))
    fail_msg("%s", h->err.text);
  store_close(out);
  return rc;
}

TEST(stores_of_the_same_build_are_merged) {
  Home h;
  Suite suite;
  StoreMerge m = {0};
  home_init(&h);
  ImportArg args[] = {
      {make_store(&h, &(Made){"a", "k", "/src/f.c", "1", NULL, 7, false}),
       NULL},
      {make_store(&h, &(Made){"b", "k", "/src/f.c", "2", "two", 7, true}),
       "b"}};
  assert_int_equal(merge(&h, &m, args, 2, &suite), 0);
  assert_int_equal(suite.nentities, NENTITIES);
  assert_int_equal(suite.nruns, 2);
  assert_string_equal(suite.command, "culprit store merge");
  assert_string_equal(suite.runs[0].test, "1");
  assert_string_equal(suite.runs[1].test, "b/2");
  assert_int_equal(suite.runs[1].close, CLOSE_NEAR);
  assert_string_equal(suite.runs[1].wrong, "wrong");
  assert_string_equal(suite.close, "all");
  assert_string_equal(suite.failures[0].message, "two");
  assert_string_equal(suite.failures[0].output, "two");
  assert_int_equal(m.warnings.len, 0);
  suite_release(&suite);
  home_release(&h);
}

static void count_hits(void *ctx, size_t run, const Spectra *s) {
  size_t *n = ctx;
  n[0] += bitset_count(&s->hits[ENTITY_STATEMENT]);
  n[1] += bitset_count(&s->hits[ENTITY_RELATION]);
  assert_true(run < 2);
}

static void count_place(void *ctx, size_t run, const char *signature,
                        const FailurePlace *p) {
  *(size_t *)ctx += run == 1 && p->line == 3 && !strcmp(signature, "Boom");
}

TEST(spectra_places_and_what_a_closer_look_saw_are_copied) {
  Home h;
  Suite suite;
  StoreMerge m = {0};
  Store *out;
  size_t n[2] = {0}, places = 0;
  home_init(&h);
  ImportArg args[] = {
      {make_store(&h, &(Made){"a", "k", "/src/f.c", "1", NULL, 7, false}),
       NULL},
      {make_store(&h, &(Made){"b", "k", "/src/f.c", "2", "two", 7, true}),
       NULL}};
  assert_int_equal(merge(&h, &m, args, 2, &suite), 0);
  assert_int_equal(store_open(&out, path_in(&h, "out"), STORE_EXISTING, &h.err),
                   0);
  unsigned all = (1u << ENTITY_KINDS) - 1;
  assert_int_equal(store_each_spectra(out, &suite, all, count_hits, n, &h.err),
                   0);
  assert_int_equal(store_each_place(out, &suite, count_place, &places, &h.err),
                   0);
  assert_int_equal(n[0], 2);
  assert_int_equal(n[1], 1);
  assert_int_equal(places, 1);
  store_close(out);
  suite_release(&suite);
  home_release(&h);
}

TEST(shards_become_the_session_of_one_run) {
  Home h;
  Suite suite;
  StoreMerge m = {0};
  home_init(&h);
  ImportArg args[] = {
      {make_store(&h, &(Made){"a", "x\nshard=1/2 00000000000000ff\ny",
                              "/src/f.c", "1", NULL, 7, false}),
       NULL},
      {make_store(&h, &(Made){"b", "x\nshard=2/2 00000000000000ff\ny",
                              "/src/f.c", NULL, NULL, 7, false}),
       NULL}};
  assert_int_equal(merge(&h, &m, args, 2, &suite), 0);
  assert_string_equal(suite.command, "culprit run --tests t");
  assert_string_equal(suite.cwd, "/src");
  assert_int_equal(m.warnings.len, 0);
  suite_release(&suite);
  // One of them is not there; another had other tests.
  assert_int_equal(merge(&h, &m, args, 1, &suite), 0);
  assert_non_null(strstr(m.warnings.data, "shard 2/2 is missing"));
  suite_release(&suite);
  str_release(&m.warnings);
  args[1].path = make_store(
      &h, &(Made){"c", "x\nshard=2/2 fe\ny", "/src/f.c", "3", NULL, 7, false});
  assert_int_equal(merge(&h, &m, args, 2, &suite), 0);
  assert_non_null(strstr(m.warnings.data, "in different ways"));
  suite_release(&suite);
  str_release(&m.warnings);
  home_release(&h);
}

TEST(what_does_not_fit_together_is_refused_and_leaves_no_session) {
  Home h;
  Suite suite;
  StoreMerge m = {0};
  Store *out;
  home_init(&h);
  ImportArg args[] = {
      {make_store(&h, &(Made){"a", "k", "/src/f.c", "1", NULL, 7, false}),
       NULL},
      {make_store(&h, &(Made){"b", "k", "/src/f.c", "2", NULL, 8, false}),
       NULL},
      {make_store(&h, &(Made){"c", "k", "/src/f.c", "1", NULL, 7, false}),
       NULL}};
  assert_int_equal(merge(&h, &m, args, 2, &suite), -1);
  assert_non_null(strstr(h.err.text, "/src/f.c differs between"));
  assert_non_null(strstr(h.err.text, args[0].path));
  assert_non_null(strstr(h.err.text, args[1].path));
  args[1] = args[2];
  assert_int_equal(merge(&h, &m, args, 2, &suite), -1);
  assert_non_null(strstr(h.err.text, "test '1' is in another of these"));
  args[1].path = path_in(&h, "nowhere");
  assert_int_equal(merge(&h, &m, args, 2, &suite), -1);
  assert_non_null(strstr(h.err.text, "no runs are stored here"));
  SessionInfo *list;
  size_t n;
  assert_int_equal(store_open(&out, path_in(&h, "out"), STORE_EXISTING, &h.err),
                   0);
  assert_int_equal(store_list(out, &list, &n, &h.err), 0);
  assert_int_equal(n, 0);
  store_list_free(list, n);
  store_close(out);
  home_release(&h);
}
