// Unit tests of src/store: what goes in comes out again, whoever else is
// writing, whoever was killed, and whatever happened to the file.
//
// With CULPRIT_TEST_SERVER, an address that ends in a parameter, the stores are
// schemas of that PostgreSQL server (tests/e2e/postgres does this).
#include "test.h"

#include <errno.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/db_dialect.h"
#include "store/store.h"
#include "util/fs.h"
#include "util/mem.h"

// --- a store in a directory of its own ---------------------------------------

typedef struct {
  char root[64], dir[80], db[96];
  char where[512], shown[512]; // for store_open; in messages
  Store *store;
  Err err;
} Fixture;

static const char *server(void) { return getenv("CULPRIT_TEST_SERVER"); }

// What only a file can show: garbage, permissions, a disk that is full.
static void needs_file(void) {
  if (server())
    skip();
}

static void place(Fixture *f) {
  static int n;
  snprintf(f->where, sizeof f->where, "%s", f->dir);
  if (server()) {
    assert_int_equal(chdir(f->root), 0); // for what lies beside the store
    snprintf(f->where, sizeof f->where, "%s&options=-csearch_path%%3Dt%d_%d",
             server(), (int)getpid(), n++);
  }
  snprintf(f->shown, sizeof f->shown, "%s", f->where);
}

static void fixture_init(Fixture *f) {
  memset(f, 0, sizeof *f);
  // In memory if possible: hundreds of stores are made and synced.
  const char *tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
  snprintf(f->root, sizeof f->root, "%s/store-XXXXXX", tmp);
  assert_non_null(mkdtemp(f->root));
  snprintf(f->dir, sizeof f->dir, "%s/.culprit", f->root);
  snprintf(f->db, sizeof f->db, "%s/store.db", f->dir);
  place(f);
}

#define check(f, call)                                                         \
  do {                                                                         \
    if (call)                                                                  \
      fail_msg("%s: %s", #call, (f)->err.text);                                \
  } while (0)

static void open_store(Fixture *f) {
  check(f, store_open(&f->store, f->where, STORE_CREATE, &f->err));
}

static void close_store(Fixture *f) {
  store_close(f->store);
  f->store = NULL;
}

static void be_silent(void *ctx, const char *message) {
  (void)ctx;
  (void)message;
}

#define ZEROBLOB                                                               \
  "CREATE OR REPLACE FUNCTION zeroblob(n int) RETURNS bytea LANGUAGE sql"      \
  " AS $$ SELECT decode(repeat('00', n), 'hex') $$"

static void server_sql(const Fixture *f, const char *sql) {
  PGconn *conn = PQconnectdb(f->where);
  PQsetNoticeProcessor(conn, be_silent, NULL);
  if (strstr(sql, "zeroblob"))
    PQclear(PQexec(conn, ZEROBLOB));
  char *text = dialect_postgres(sql);
  PGresult *r = PQexec(conn, text);
  if (PQresultStatus(r) != PGRES_COMMAND_OK)
    fail_msg("%s: %s", text, PQerrorMessage(conn));
  PQclear(r);
  free(text);
  PQfinish(conn);
}

static void drop_schema(const Fixture *f) {
  char sql[600];
  const char *name = strstr(f->where, "path%3D");
  snprintf(sql, sizeof sql, "DROP SCHEMA IF EXISTS %s CASCADE",
           name ? name + 7 : "none");
  server_sql(f, sql);
}

static void fixture_release(Fixture *f) {
  close_store(f);
  assert_int_equal(chdir("/"), 0);
  fs_remove_tree(f->root);
  if (server())
    drop_schema(f);
}

static void start(Fixture *f) {
  fixture_init(f);
  open_store(f);
}

static void assert_says(const Fixture *f, const char *part) {
  if (!strstr(f->err.text, part))
    fail_msg("'%s' does not say '%s'", f->err.text, part);
}

static int64_t begin(Fixture *f, const char *key) {
  int64_t session;
  bool continued;
  check(f, session_begin(f->store, key, "culprit run", "/src", &session,
                         &continued, &f->err));
  return session;
}

static void finish(Fixture *f, int64_t session) {
  check(f, session_finish(f->store, session, &f->err));
}

// Behind the store's back.
static void run_sql(const Fixture *f, const char *sql) {
  if (server()) {
    server_sql(f, sql);
    return;
  }
  sqlite3 *db;
  assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
  char *message = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
    fail_msg("%s: %s", sql, message);
  sqlite3_close(db);
}

// --- units and runs
// -----------------------------------------------------------

enum {
  FUNCTION,
  LINE2,
  LINE3,
  BLOCK0,
  BLOCK1,
  ENTRY,
  EDGE,
  FALSE,
  TRUE,
  CALL,
  NENTITIES
};

// f() { line 2: if (g()) line 3 }, compiled from `path`.
typedef struct {
  Unit unit;
  Source sources[2];
  Entity entities[NENTITIES];
} SmallUnit;

static Entity entity(EntityKind kind, uint32_t line, uint32_t from,
                     uint32_t to) {
  return (Entity){.kind = kind,
                  .line = line,
                  .col_lo = 3,
                  .col_hi = 9,
                  .function = FUNCTION,
                  .from = from,
                  .to = to};
}

static void small_unit(SmallUnit *u, int id, const char *path, uint64_t hash) {
  const uint32_t none = ENTITY_NONE;
  *u = (SmallUnit){
      .unit = {.name = path, .nsources = 2, .nentities = NENTITIES}};
  memset(u->unit.id.bytes, id, sizeof u->unit.id.bytes);
  u->sources[0] = (Source){"/src/a.h", 77};
  u->sources[1] = (Source){path, hash};
  Entity *e = u->entities;
  e[FUNCTION] = entity(ENTITY_FUNCTION, 1, none, none);
  e[FUNCTION].name = "f";
  e[LINE2] = entity(ENTITY_STATEMENT, 2, none, BLOCK0);
  e[LINE3] = entity(ENTITY_STATEMENT, 3, none, BLOCK1);
  e[BLOCK0] = entity(ENTITY_BLOCK, 2, none, none);
  e[BLOCK1] = entity(ENTITY_BLOCK, 3, none, none);
  e[BLOCK1].index = 1;
  e[ENTRY] = entity(ENTITY_EDGE, 1, none, BLOCK0);
  e[EDGE] = entity(ENTITY_EDGE, 2, BLOCK0, BLOCK1);
  e[EDGE].index = 1;
  e[FALSE] = entity(ENTITY_CONDITION, 2, 0, BLOCK0);
  e[TRUE] = entity(ENTITY_CONDITION, 2, 1, BLOCK0);
  e[FALSE].name = e[TRUE].name = "if";
  e[CALL] = entity(ENTITY_RETURN, 2, 3, BLOCK0);
  e[CALL].name = "g";
  for (int i = 0; i < NENTITIES; i++)
    e[i].source = 1;
  u->unit.sources = u->sources;
  u->unit.entities = u->entities;
}

static void add_unit(Fixture *f, int64_t session, SmallUnit *u, uint32_t *ids) {
  check(f, store_add_unit(f->store, session, &u->unit, ids, &f->err));
}

static Run make_run(const char *test, Verdict verdict) {
  return (Run){.test = mem_strdup(test),
               .command = mem_strdup("./prog 1"),
               .verdict = verdict,
               .status = verdict == VERDICT_FAIL,
               .seconds = 0.25,
               .processes = 1};
}

static void add_failure(Run *run, const char *signature, const char *message) {
  array_push(&run->failures, (Failure){mem_strdup("exit"), mem_strdup(message),
                                       mem_strdup(""), mem_strdup(signature)});
}

static void add_run(Fixture *f, int64_t session, Run *run) {
  check(f, store_add_run(f->store, session, run, &f->err));
  run_release(run);
}

static void add_simple_run(Fixture *f, int64_t session, const char *test,
                           Verdict verdict, uint32_t hit) {
  Run run = make_run(test, verdict);
  if (verdict == VERDICT_FAIL)
    add_failure(&run, "exit 1", "exit status 1");
  bitset_add(&run.hits[ENTITY_STATEMENT], hit);
  add_run(f, session, &run);
}

static void load(Fixture *f, int64_t session, Suite *suite) {
  check(f, store_load(f->store, session, suite, &f->err));
}

typedef struct {
  Bitset hits[300];
  size_t calls;
} Collected;

static void collect(void *ctx, size_t run, const Bitset *hits) {
  Collected *c = ctx;
  if (run < 300)
    bitset_union(&c->hits[run], hits);
  c->calls++;
}

static void collect_kind(Fixture *f, const Suite *suite, EntityKind kind,
                         Collected *c) {
  memset(c, 0, sizeof *c);
  check(f, store_each_spectrum(f->store, suite, kind, collect, c, &f->err));
}

static void release_collected(Collected *c) {
  for (int i = 0; i < 300; i++)
    bitset_release(&c->hits[i]);
}

// --- round trip
// ---------------------------------------------------------------

TEST(what_a_unit_says_is_loaded_again_in_the_numbers_of_the_suite) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u;
  uint32_t id[NENTITIES];
  small_unit(&u, 1, "/src/a.c", UINT64_MAX);
  add_unit(&f, session, &u, id);
  Suite suite;
  load(&f, session, &suite);
  assert_int_equal(suite.nentities, NENTITIES);
  assert_int_equal(suite.nsources, 2);
  assert_string_equal(suite.command, "culprit run");
  assert_string_equal(suite.cwd, "/src");
  const Entity *e = &suite.entities[id[EDGE]];
  assert_int_equal(e->kind, ENTITY_EDGE);
  assert_int_equal(e->from, id[BLOCK0]);
  assert_int_equal(e->to, id[BLOCK1]);
  assert_int_equal(e->index, 1);
  assert_int_equal(suite.entities[id[ENTRY]].from, ENTITY_NONE);
  e = &suite.entities[id[TRUE]];
  assert_int_equal(e->from, 1); // an outcome, not an entity
  assert_int_equal(e->to, id[BLOCK0]);
  assert_string_equal(e->name, "if");
  e = &suite.entities[id[LINE3]];
  assert_int_equal(e->line, 3);
  assert_int_equal(e->col_lo, 3);
  assert_int_equal(e->col_hi, 9);
  assert_int_equal(e->function, id[FUNCTION]);
  assert_int_equal(e->to, id[BLOCK1]);
  assert_null(e->name);
  assert_string_equal(suite.sources[e->source].path, "/src/a.c");
  assert_true(suite.sources[e->source].hash == UINT64_MAX);
  suite_release(&suite);
  fixture_release(&f);
}

TEST(a_run_is_loaded_again_with_all_it_says) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  Run run = make_run("tests/foo.sh", VERDICT_ERROR);
  run.status = -11;
  run.processes = 0;
  run.imprecise = true;
  run.note = mem_strdup("no spectrum: disk full");
  add_run(&f, session, &run);
  Suite suite;
  load(&f, 0, &suite);
  assert_int_equal(suite.nruns, 1);
  const RunInfo *r = &suite.runs[0];
  assert_string_equal(r->test, "tests/foo.sh");
  assert_string_equal(r->command, "./prog 1");
  assert_string_equal(r->note, "no spectrum: disk full");
  assert_int_equal(r->verdict, VERDICT_ERROR);
  assert_int_equal(r->status, -11);
  assert_true(r->seconds == 0.25);
  assert_true(r->imprecise);
  assert_false(r->has_spectrum);
  suite_release(&suite);
  fixture_release(&f);
}

TEST(spectra_come_kind_by_kind_in_the_order_of_the_runs) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u;
  uint32_t id[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  add_unit(&f, session, &u, id);
  Run run = make_run("10", VERDICT_PASS);
  bitset_add(&run.hits[ENTITY_STATEMENT], id[LINE2]);
  bitset_add(&run.hits[ENTITY_EDGE], id[ENTRY]);
  add_run(&f, session, &run);
  run = make_run("9", VERDICT_PASS);
  bitset_add(&run.hits[ENTITY_STATEMENT], id[LINE3]);
  add_run(&f, session, &run);
  run = make_run("1", VERDICT_SKIP);
  run.processes = 0;
  add_run(&f, session, &run);
  Suite suite;
  load(&f, session, &suite);
  assert_string_equal(suite.runs[0].test, "1");
  assert_string_equal(suite.runs[1].test, "9");
  assert_string_equal(suite.runs[2].test, "10");
  Collected c;
  collect_kind(&f, &suite, ENTITY_STATEMENT, &c);
  assert_int_equal(c.calls, 2);
  assert_true(bitset_has(&c.hits[1], id[LINE3]));
  assert_int_equal(bitset_count(&c.hits[1]), 1);
  assert_true(bitset_has(&c.hits[2], id[LINE2]));
  release_collected(&c);
  collect_kind(&f, &suite, ENTITY_EDGE, &c);
  assert_int_equal(c.calls, 2); // also the run that took no edge
  assert_int_equal(bitset_count(&c.hits[1]), 0);
  assert_true(bitset_has(&c.hits[2], id[ENTRY]));
  release_collected(&c);
  suite_release(&suite);
  fixture_release(&f);
}

typedef struct {
  const uint32_t *id;
  size_t calls;
} Seen;

static void check_spectra(void *ctx, size_t run, const Spectra *s) {
  Seen *seen = ctx;
  assert_int_equal(bitset_count(&s->hits[ENTITY_STATEMENT]), 1);
  assert_int_equal(bitset_count(&s->hits[ENTITY_BLOCK]), 0);
  assert_int_equal(bitset_count(&s->hits[ENTITY_CONDITION]), 0); // not asked
  assert_int_equal(bitset_count(&s->hits[ENTITY_EDGE]), run == 0);
  assert_int_equal(s->ncounts, run == 1 ? 2 : 0);
  if (run == 1) {
    assert_int_equal(s->counts[0].entity, seen->id[FALSE]);
    assert_int_equal(s->counts[1].count, 7);
  }
  seen->calls++;
}

TEST(several_kinds_and_the_counts_of_a_run_come_together) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u;
  uint32_t id[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  add_unit(&f, session, &u, id);
  Run run = make_run("1", VERDICT_PASS);
  bitset_add(&run.hits[ENTITY_STATEMENT], id[LINE2]);
  bitset_add(&run.hits[ENTITY_EDGE], id[ENTRY]);
  bitset_add(&run.hits[ENTITY_CONDITION], id[TRUE]);
  add_run(&f, session, &run);
  run = make_run("2", VERDICT_PASS);
  bitset_add(&run.hits[ENTITY_STATEMENT], id[LINE3]);
  array_push(&run.counts, (EntityCount){id[FALSE], 3});
  array_push(&run.counts, (EntityCount){id[TRUE], 7});
  add_run(&f, session, &run);
  run = make_run("3", VERDICT_SKIP);
  run.processes = 0;
  add_run(&f, session, &run);
  run = make_run("4", VERDICT_PASS);
  bitset_add(&run.hits[ENTITY_STATEMENT], id[LINE3]);
  add_run(&f, session, &run);
  Suite suite;
  load(&f, session, &suite);
  unsigned what = 1u << ENTITY_STATEMENT | 1u << ENTITY_BLOCK |
                  1u << ENTITY_EDGE | STORE_COUNTS;
  Seen seen = {.id = id};
  check(&f, store_each_spectra(f.store, &suite, what, check_spectra, &seen,
                               &f.err));
  assert_int_equal(seen.calls, 3);
  suite_release(&suite);
  fixture_release(&f);
}

static void collect_death(void *ctx, size_t run, const Death *d) {
  assert_int_equal(run, 0);
  assert_string_equal(d->file, "/src/a.c");
  assert_int_equal(d->line, 3);
  assert_string_equal(d->function, "f");
  assert_string_equal(d->how, "SIGSEGV");
  assert_true(d->exact);
  ++*(int *)ctx;
}

TEST(where_a_run_died_is_kept) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  Run run = make_run("1", VERDICT_FAIL);
  Death death = {.file = mem_strdup("/src/a.c"),
                 .line = 3,
                 .function = mem_strdup("f"),
                 .how = mem_strdup("SIGSEGV"),
                 .exact = true};
  array_push(&run.deaths, death);
  add_run(&f, session, &run);
  Suite suite;
  load(&f, session, &suite);
  int calls = 0;
  check(&f, store_each_death(f.store, &suite, collect_death, &calls, &f.err));
  assert_int_equal(calls, 1);
  suite_release(&suite);
  fixture_release(&f);
}

static void collect_place(void *ctx, size_t run, const char *signature,
                          const FailurePlace *p) {
  assert_int_equal(run, 0);
  assert_string_equal(signature, "exit:1");
  assert_string_equal(p->file, "/src/a.php");
  assert_int_equal(p->line, 18 + *(int *)ctx);
  assert_int_equal(p->statement, 17);
  assert_int_equal(p->role, PLACE_TEXT);
  assert_string_equal(p->what, "opened here");
  assert_string_equal(p->excerpt, "<h2>");
  ++*(int *)ctx;
}

static void add_place(Failure *f, uint32_t line) {
  FailurePlace place = {.file = mem_strdup("/src/a.php"),
                        .line = line,
                        .statement = 17,
                        .role = PLACE_TEXT,
                        .what = mem_strdup("opened here"),
                        .excerpt = mem_strdup("<h2>")};
  array_push(&f->places, place);
}

// One failing run whose failure shows in two places of its output.
static void add_placed_run(Fixture *f, int64_t session) {
  Run run = make_run("1", VERDICT_FAIL);
  Failure failure = {.kind = mem_strdup("exit"),
                     .message = mem_strdup("exit status 1"),
                     .place = mem_strdup(""),
                     .signature = mem_strdup("exit:1")};
  add_place(&failure, 18);
  add_place(&failure, 19);
  array_push(&run.failures, failure);
  add_run(f, session, &run);
}

TEST(where_a_failure_shows_in_the_output_is_kept) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  add_placed_run(&f, session);
  Suite suite;
  load(&f, session, &suite);
  int calls = 0;
  check(&f, store_each_place(f.store, &suite, collect_place, &calls, &f.err));
  assert_int_equal(calls, 2);
  suite_release(&suite);
  fixture_release(&f);
}

TEST(text_that_is_not_utf8_survives) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  Run run = make_run("caf\xe9 \xff'; DROP TABLE run", VERDICT_PASS);
  add_run(&f, session, &run);
  Suite suite;
  load(&f, session, &suite);
  assert_string_equal(suite.runs[0].test, "caf\xe9 \xff'; DROP TABLE run");
  suite_release(&suite);
  fixture_release(&f);
}

// --- failures
// -----------------------------------------------------------------

TEST(the_first_run_in_test_order_says_where_a_crash_is) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  static const char *const tests[] = {"11", "3"};
  for (size_t i = 0; i < 2; i++) {
    Run run = make_run(tests[i], VERDICT_FAIL);
    add_failure(&run, "s", tests[i]);
    free(run.failures.items[0].kind);
    run.failures.items[0].kind = mem_strdup("signal");
    add_run(&f, session, &run);
  }
  Suite suite;
  load(&f, session, &suite);
  assert_string_equal(suite.failures[0].message, "3");
  suite_release(&suite);
  fixture_release(&f);
}

TEST(failing_runs_are_grouped_by_signature_largest_group_first) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  static const struct {
    const char *test, *first, *second;
    Verdict verdict;
  } runs[] = {{"11", "b", NULL, VERDICT_FAIL}, {"3", "b", "b", VERDICT_FAIL},
              {"4", "c", "b", VERDICT_FAIL},   {"5", "a", NULL, VERDICT_FAIL},
              {"6", "d", NULL, VERDICT_FLAKY}, {"7", NULL, NULL, VERDICT_PASS}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    Run run = make_run(runs[i].test, runs[i].verdict);
    if (runs[i].first)
      add_failure(&run, runs[i].first, runs[i].test);
    if (runs[i].second)
      add_failure(&run, runs[i].second, "again");
    add_run(&f, session, &run);
  }
  Suite suite;
  load(&f, session, &suite);
  assert_int_equal(suite.nfailures, 3);
  const FailureGroup *g = suite.failures;
  assert_string_equal(g[0].signature, "b");
  assert_string_equal(g[0].kind, "exit");
  assert_string_equal(g[0].message, "b"); // its runs say different things
  assert_int_equal(g[0].nruns, 3);
  assert_string_equal(suite.runs[g[0].runs[0]].test, "3");
  assert_string_equal(suite.runs[g[0].runs[1]].test, "4");
  assert_string_equal(suite.runs[g[0].runs[2]].test, "11");
  assert_string_equal(g[1].signature, "a");
  assert_string_equal(g[1].message, "5");
  assert_string_equal(g[2].signature, "c");
  suite_release(&suite);
  fixture_release(&f);
}

static uint32_t pseudo_random(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

// Forty tests, each many times, with other verdicts and hits.
static void add_changing_runs(Fixture *f, int64_t session,
                              const uint32_t *ids) {
  uint32_t seed = 20260101;
  for (int i = 0; i < 900; i++) {
    char test[16], signature[16];
    snprintf(test, sizeof test, "%u", pseudo_random(&seed) % 80);
    snprintf(signature, sizeof signature, "exit %u", pseudo_random(&seed) % 3);
    Run run = make_run(test, pseudo_random(&seed) % VERDICTS);
    run.processes = pseudo_random(&seed) % 8 > 0;
    if (run.verdict == VERDICT_FAIL)
      add_failure(&run, signature, "exit status");
    bitset_add(&run.hits[ENTITY_STATEMENT],
               ids[pseudo_random(&seed) % 2 ? LINE2 : LINE3]);
    if (pseudo_random(&seed) % 2)
      bitset_add(&run.hits[ENTITY_EDGE], ids[EDGE]);
    add_run(f, session, &run);
    if (i % 3 == 0) // many batches, to be folded
      check(f, store_flush(f->store, &f->err));
  }
  check(f, store_flush(f->store, &f->err));
}

typedef struct {
  const Suite *suite;
  Verdict verdict; // VERDICTS: of `group`
  const FailureGroup *group;
  uint32_t counts[NENTITIES];
} Summed;

static bool is_meant(const Summed *s, size_t run) {
  Verdict v = s->suite->runs[run].verdict;
  if (!s->group)
    return s->verdict == VERDICT_ERROR ? v != VERDICT_PASS && v != VERDICT_FAIL
                                       : v == s->verdict;
  for (size_t i = 0; i < s->group->nruns; i++)
    if (s->group->runs[i] == run)
      return true;
  return false;
}

static void sum_up(void *ctx, size_t run, const Bitset *hits) {
  Summed *s = ctx;
  if (is_meant(s, run))
    bitset_tally(hits, s->counts, NENTITIES);
}

static void assert_kept(Fixture *f, const Suite *suite, EntityKind kind,
                        Verdict verdict, const FailureGroup *group) {
  Summed wanted = {suite, verdict, group, {0}};
  uint32_t got[NENTITIES] = {0};
  check(f,
        store_each_spectrum(f->store, suite, kind, sum_up, &wanted, &f->err));
  for (size_t i = 0; i < suite->nkept; i++) {
    const KeptSum *k = &suite->kept[i];
    bool same = !k->signature == !group &&
                (!group || !strcmp(k->signature, group->signature));
    if (k->kind == kind && k->verdict == verdict && same)
      check(f, store_kept_sum(f->store, suite, k, got, &f->err));
  }
  assert_memory_equal(got, wanted.counts, sizeof got);
}

TEST(the_counts_that_a_server_keeps_are_those_of_the_spectra) {
  Fixture f;
  if (!server())
    skip();
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  add_unit(&f, session, &u, ids);
  add_changing_runs(&f, session, ids);
  Suite suite;
  load(&f, session, &suite);
  assert_int_equal(suite.nruns, 80);
  assert_true(suite.nkept > 0);
  assert_true(suite.nkept < 300); // of 300 batches with eight sums each
  static const EntityKind kinds[] = {ENTITY_STATEMENT, ENTITY_EDGE};
  for (int k = 0; k < 2; k++) {
    assert_kept(&f, &suite, kinds[k], VERDICT_PASS, NULL);
    assert_kept(&f, &suite, kinds[k], VERDICT_FAIL, NULL);
    assert_kept(&f, &suite, kinds[k], VERDICT_ERROR, NULL);
    for (size_t i = 0; i < suite.nfailures; i++)
      assert_kept(&f, &suite, kinds[k], VERDICT_FAIL, &suite.failures[i]);
  }
  suite_release(&suite);
  fixture_release(&f);
}

TEST(a_run_replaces_the_earlier_one_of_its_test) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u;
  uint32_t id[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  add_unit(&f, session, &u, id);
  add_simple_run(&f, session, "1", VERDICT_FAIL, id[LINE2]);
  check(&f, store_flush(f.store, &f.err));
  add_simple_run(&f, session, "1", VERDICT_PASS, id[LINE3]);
  add_simple_run(&f, session, "1", VERDICT_PASS, id[LINE3]); // same batch
  Suite suite;
  load(&f, session, &suite);
  assert_int_equal(suite.nruns, 1);
  assert_int_equal(suite.runs[0].verdict, VERDICT_PASS);
  assert_int_equal(suite.nfailures, 0);
  Collected c;
  collect_kind(&f, &suite, ENTITY_STATEMENT, &c);
  assert_true(bitset_has(&c.hits[0], id[LINE3]));
  assert_false(bitset_has(&c.hits[0], id[LINE2]));
  release_collected(&c);
  suite_release(&suite);
  fixture_release(&f);
}

TEST(a_run_is_known_before_and_after_it_is_committed) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  Run run = make_run("1", VERDICT_PASS);
  add_run(&f, session, &run);
  assert_true(store_has_run(f.store, session, "1"));
  check(&f, store_flush(f.store, &f.err));
  assert_true(store_has_run(f.store, session, "1"));
  assert_false(store_has_run(f.store, session, "2"));
  assert_false(store_has_run(f.store, session + 1, "1"));
  fixture_release(&f);
}

// --- ids
// ----------------------------------------------------------------------

TEST(a_line_has_one_id_in_all_units_and_a_block_has_one_per_unit) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u, v, w;
  uint32_t a[NENTITIES], b[NENTITIES], c[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  small_unit(&v, 2, "/src/a.c", 5);
  small_unit(&w, 3, "/src/w.c", 6);
  add_unit(&f, session, &u, a);
  add_unit(&f, session, &v, b);
  add_unit(&f, session, &w, c);
  assert_int_equal(a[LINE2], b[LINE2]);
  assert_int_equal(a[FUNCTION], b[FUNCTION]);
  assert_int_not_equal(a[BLOCK0], b[BLOCK0]);
  assert_int_not_equal(a[TRUE], b[TRUE]);
  assert_int_not_equal(a[LINE2], c[LINE2]);
  Suite suite;
  load(&f, session, &suite);
  assert_int_equal(suite.nentities, 3 * NENTITIES - 3);
  assert_int_equal(suite.entities[b[EDGE]].from, b[BLOCK0]);
  assert_int_equal(suite.entities[b[EDGE]].function, a[FUNCTION]);
  assert_int_equal(suite.entities[b[LINE3]].to, a[BLOCK1]); // the first unit's
  suite_release(&suite);
  fixture_release(&f);
}

TEST(two_functions_of_different_name_on_one_line_are_two) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u, v;
  uint32_t a[NENTITIES], b[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  small_unit(&v, 2, "/src/a.c", 5);
  v.entities[FUNCTION].name = "other";
  add_unit(&f, session, &u, a);
  add_unit(&f, session, &v, b);
  assert_int_not_equal(a[FUNCTION], b[FUNCTION]);
  fixture_release(&f);
}

TEST(ids_stay_the_same_for_whoever_asks_again) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u, v;
  uint32_t a[NENTITIES], b[NENTITIES], again[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  small_unit(&v, 2, "/src/a.c", 5);
  add_unit(&f, session, &u, a);
  Store *other; // adds a unit behind the first one's back
  check(&f, store_open(&other, f.where, STORE_CREATE, &f.err));
  check(&f, store_add_unit(other, session, &v.unit, b, &f.err));
  store_close(other);
  add_unit(&f, session, &u, again);
  assert_memory_equal(a, again, sizeof a);
  add_unit(&f, session, &v, again);
  assert_memory_equal(b, again, sizeof b);
  close_store(&f);
  open_store(&f);
  add_unit(&f, session, &v, again);
  assert_memory_equal(b, again, sizeof b);
  fixture_release(&f);
}

TEST(a_session_holds_only_the_entities_of_its_own_units) {
  Fixture f;
  start(&f);
  SmallUnit u, v;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  small_unit(&v, 2, "/src/a.c", 6);
  int64_t first = begin(&f, "k");
  add_unit(&f, first, &u, ids);
  add_simple_run(&f, first, "1", VERDICT_PASS, ids[LINE2]);
  finish(&f, first);
  int64_t second = begin(&f, "k"); // a.c was edited: no matter, a new session
  add_unit(&f, second, &v, ids);
  Suite suite;
  load(&f, second, &suite);
  assert_int_equal(suite.nentities, NENTITIES);
  assert_true(suite.sources[1].hash == 6);
  suite_release(&suite);
  load(&f, 0, &suite); // the newest that has runs
  assert_int_equal(suite.session, first);
  assert_true(suite.sources[1].hash == 5);
  suite_release(&suite);
  fixture_release(&f);
}

TEST(a_unit_that_says_something_else_under_its_old_id_is_another_unit) {
  Fixture f;
  start(&f);
  SmallUnit u;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  int64_t session = begin(&f, "k");
  add_unit(&f, session, &u, ids);
  finish(&f, session);
  u.entities[LINE3].line = 4; // another culprit-cc, which counts otherwise
  session = begin(&f, "k");
  add_unit(&f, session, &u, ids);
  Suite suite;
  load(&f, session, &suite);
  assert_int_equal(suite.entities[ids[LINE3]].line, 4);
  suite_release(&suite);
  fixture_release(&f);
}

TEST(a_unit_that_points_outside_itself_is_refused) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  u.entities[EDGE].to = NENTITIES;
  assert_int_equal(store_add_unit(f.store, session, &u.unit, ids, &f.err), -1);
  assert_says(&f, "/src/a.c");
  small_unit(&u, 1, "/src/a.c", 5);
  u.entities[LINE2].source = 2;
  assert_int_equal(store_add_unit(f.store, session, &u.unit, ids, &f.err), -1);
  fixture_release(&f);
}

// --- one session, one build
// -----------------------------------------------------

TEST(two_texts_of_one_source_are_refused_and_leave_no_trace) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u, v;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  small_unit(&v, 2, "/src/a.c", 6);
  add_unit(&f, session, &u, ids);
  assert_int_equal(store_add_unit(f.store, session, &v.unit, ids, &f.err), -1);
  assert_says(&f, "/src/a.c differs between two builds");
  Suite suite;
  load(&f, session, &suite);
  assert_int_equal(suite.nentities, NENTITIES);
  suite_release(&suite);
  small_unit(&v, 1, "/src/a.c", 6); // also if the unit itself is the same
  assert_int_equal(store_add_unit(f.store, session, &v.unit, ids, &f.err), -1);
  fixture_release(&f);
}

TEST(a_source_that_could_not_be_read_mixes_with_any) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  SmallUnit u;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 0);
  add_unit(&f, session, &u, ids);
  small_unit(&u, 2, "/src/a.c", 6);
  add_unit(&f, session, &u, ids);
  small_unit(&u, 3, "/src/a.c", 0);
  add_unit(&f, session, &u, ids);
  small_unit(&u, 4, "/src/a.c", 7);
  assert_int_equal(store_add_unit(f.store, session, &u.unit, ids, &f.err), -1);
  Suite suite;
  load(&f, session, &suite);
  assert_true(suite.sources[1].hash == 6);
  suite_release(&suite);
  fixture_release(&f);
}

// --- sessions
// -------------------------------------------------------------------

static int64_t begin_or_continue(Fixture *f, const char *key, bool expected) {
  int64_t session;
  bool continued;
  check(f, session_begin(f->store, key, "culprit run", "/", &session,
                         &continued, &f->err));
  assert_int_equal(continued, expected);
  return session;
}

TEST(an_unfinished_session_with_the_same_key_is_continued) {
  Fixture f;
  start(&f);
  int64_t first = begin_or_continue(&f, "k", false);
  Run run = make_run("1", VERDICT_PASS);
  add_run(&f, first, &run);
  close_store(&f); // commits what is left
  open_store(&f);
  assert_int_equal(begin_or_continue(&f, "k", true), first);
  assert_true(store_has_run(f.store, first, "1"));
  finish(&f, first);
  int64_t second = begin_or_continue(&f, "k", false);
  assert_int_not_equal(second, first);
  close_store(&f);
  open_store(&f);
  begin_or_continue(&f, "other work", false);
  begin_or_continue(&f, "k", false); // not the newest any more
  fixture_release(&f);
}

TEST(a_session_that_somebody_is_at_work_on_is_not_continued) {
  Fixture f;
  start(&f);
  int64_t mine = begin(&f, "k");
  Fixture g = f;
  check(&g, store_open(&g.store, g.where, STORE_CREATE, &g.err));
  int64_t theirs = begin_or_continue(&g, "k", false);
  assert_int_not_equal(mine, theirs);
  size_t removed;
  check(&g, store_prune(g.store, 0, &removed, &g.err));
  assert_int_equal(removed, 1); // its own, but not mine
  close_store(&g);
  Run run = make_run("1", VERDICT_PASS);
  add_run(&f, mine, &run);
  finish(&f, mine);
  fixture_release(&f);
}

TEST(the_newest_session_is_reopened_whatever_its_key) {
  Fixture f;
  start(&f);
  int64_t session;
  assert_int_equal(session_reopen(f.store, &session, &f.err), -1);
  assert_says(&f, "culprit run");
  int64_t first = begin(&f, "k");
  Run run = make_run("1", VERDICT_FAIL);
  add_run(&f, first, &run);
  finish(&f, first);
  check(&f, session_reopen(f.store, &session, &f.err));
  assert_int_equal(session, first);
  fixture_release(&f);
}

TEST(finishing_keeps_the_newest_sessions_only) {
  setenv("CULPRIT_KEEP", "2", 1);
  Fixture f;
  start(&f);
  unsetenv("CULPRIT_KEEP");
  for (int i = 0; i < 5; i++)
    finish(&f, begin(&f, "k"));
  SessionInfo *list;
  size_t n;
  check(&f, store_list(f.store, &list, &n, &f.err));
  assert_int_equal(n, 2);
  assert_int_equal(list[0].id, 5); // newest first; numbers are not reused
  assert_int_equal(list[1].id, 4);
  store_list_free(list, n);
  fixture_release(&f);
}

TEST(a_wrong_CULPRIT_KEEP_is_said_before_anything_runs) {
  static const char *const wrong[] = {"ten", "0", "-1", "3x"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("CULPRIT_KEEP", wrong[i], 1);
    Fixture f;
    fixture_init(&f);
    assert_int_equal(store_open(&f.store, f.where, STORE_CREATE, &f.err), -1);
    assert_says(&f, "CULPRIT_KEEP");
    fixture_release(&f);
  }
  unsetenv("CULPRIT_KEEP");
}

TEST(sessions_are_listed_with_their_numbers_of_runs) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  Run run = make_run("1", VERDICT_FAIL);
  add_run(&f, session, &run);
  run = make_run("2", VERDICT_PASS);
  add_run(&f, session, &run);
  SessionInfo *list;
  size_t n;
  check(&f, store_list(f.store, &list, &n, &f.err));
  assert_int_equal(n, 1);
  assert_int_equal(list[0].runs, 2);
  assert_int_equal(list[0].failing, 1);
  assert_false(list[0].finished);
  assert_string_equal(list[0].command, "culprit run");
  assert_int_equal(strlen(list[0].started), strlen("2024-01-02T03:04:05Z"));
  assert_int_equal(list[0].started[10], 'T');
  store_list_free(list, n);
  fixture_release(&f);
}

TEST(pruning_removes_old_sessions_and_what_only_they_used) {
  Fixture f;
  start(&f);
  SmallUnit u, v;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  small_unit(&v, 2, "/src/a.c", 6);
  int64_t first = begin(&f, "k");
  add_unit(&f, first, &u, ids);
  for (int i = 0; i < 200; i++) {
    char test[16];
    snprintf(test, sizeof test, "%d", i);
    add_simple_run(&f, first, test, VERDICT_FAIL, ids[LINE2]);
  }
  finish(&f, first);
  int64_t second = begin(&f, "k");
  add_unit(&f, second, &v, ids);
  add_simple_run(&f, second, "1", VERDICT_FAIL, ids[LINE3]);
  finish(&f, second);
  int64_t before, after;
  size_t removed;
  check(&f, store_size(f.store, &before, &f.err));
  check(&f, store_prune(f.store, 1, &removed, &f.err));
  check(&f, store_size(f.store, &after, &f.err));
  assert_int_equal(removed, 1);
  assert_true(server() || after < before);
  Suite suite;
  assert_int_equal(store_load(f.store, first, &suite, &f.err), -1);
  assert_says(&f, "no session 1");
  load(&f, second, &suite);
  Collected c;
  collect_kind(&f, &suite, ENTITY_STATEMENT, &c);
  assert_true(bitset_has(&c.hits[0], ids[LINE3]));
  release_collected(&c);
  suite_release(&suite);
  close_store(&f);
  run_sql(&f, "CREATE TABLE x (n INTEGER CHECK (n = 1));"
              "INSERT INTO x SELECT count(*) FROM unit;"
              "INSERT INTO x SELECT count(*) FROM run;"
              "INSERT INTO x SELECT count(*) FROM failure;"
              "INSERT INTO x SELECT count(DISTINCT unit) FROM entity;"
              "INSERT INTO x SELECT count(*) FROM spectrum;"
              "INSERT INTO x SELECT count(DISTINCT session) FROM session_unit");
  fixture_release(&f);
}

TEST(reading_a_session_that_was_pruned_meanwhile_says_so) {
  Fixture f;
  start(&f);
  SmallUnit u;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  int64_t session = begin(&f, "k");
  add_unit(&f, session, &u, ids);
  add_simple_run(&f, session, "1", VERDICT_PASS, ids[LINE2]);
  Suite suite;
  load(&f, session, &suite);
  size_t removed;
  check(&f, store_prune(f.store, 0, &removed, &f.err));
  assert_int_equal(store_each_spectrum(f.store, &suite, ENTITY_STATEMENT,
                                       collect, NULL, &f.err),
                   -1);
  assert_says(&f, "try again");
  Run run = make_run("2", VERDICT_PASS);
  check(&f, store_add_run(f.store, session, &run, &f.err));
  run_release(&run);
  assert_int_equal(store_flush(f.store, &f.err), -1);
  assert_says(&f, "removed while");
  suite_release(&suite);
  fixture_release(&f);
}

// --- several processes
// ----------------------------------------------------------

static void in_child(const Fixture *f, void (*work)(Fixture *, int), int n) {
  Fixture mine = *f;
  mine.store = NULL;
  if (store_open(&mine.store, mine.where, STORE_CREATE, &mine.err)) {
    fprintf(stderr, "%s\n", mine.err.text);
    _exit(1);
  }
  work(&mine, n);
  store_close(mine.store);
  _exit(0);
}

static pid_t fork_child(const Fixture *f, void (*work)(Fixture *, int), int n) {
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0)
    in_child(f, work, n);
  return pid;
}

static void assert_ends_well(pid_t pid) {
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

// cmocka's checks are of no use in a child: it says what is wrong and ends.
#define demand(f, call)                                                        \
  do {                                                                         \
    if (call) {                                                                \
      fprintf(stderr, "%s: %s\n", #call, (f)->err.text);                       \
      _exit(1);                                                                \
    }                                                                          \
  } while (0)

static void write_two_hundred_runs(Fixture *f, int n) {
  int64_t session;
  bool continued;
  demand(f, session_begin(f->store, n ? "a" : "b", "c", "/", &session,
                          &continued, &f->err));
  for (int i = 0; i < 200; i++) {
    SmallUnit u;
    uint32_t ids[NENTITIES];
    small_unit(&u, i % 20, "/src/a.c", 5);
    demand(f, store_add_unit(f->store, session, &u.unit, ids, &f->err));
    char test[16];
    snprintf(test, sizeof test, "%d", i);
    Run run = make_run(test, VERDICT_PASS);
    bitset_add(&run.hits[ENTITY_BLOCK], ids[BLOCK1]);
    demand(f, store_add_run(f->store, session, &run, &f->err));
    if (i % 7 == 0) // many small transactions
      demand(f, store_flush(f->store, &f->err));
    run_release(&run);
  }
  demand(f, session_finish(f->store, session, &f->err));
}

TEST(two_processes_write_at_once_into_a_store_that_was_not_there) {
  Fixture f;
  fixture_init(&f);
  pid_t a = fork_child(&f, write_two_hundred_runs, 0);
  pid_t b = fork_child(&f, write_two_hundred_runs, 1);
  assert_ends_well(a);
  assert_ends_well(b);
  open_store(&f);
  for (int64_t session = 1; session <= 2; session++) {
    Suite suite;
    load(&f, session, &suite);
    assert_int_equal(suite.nruns, 200);
    assert_int_equal(suite.nentities, 20 * (NENTITIES - 3) + 3);
    Collected c;
    collect_kind(&f, &suite, ENTITY_BLOCK, &c);
    for (int i = 0; i < 200; i++)
      assert_int_equal(bitset_count(&c.hits[i]), 1);
    release_collected(&c);
    suite_release(&suite);
  }
  fixture_release(&f);
}

static void share_session_one(Fixture *f, int n) {
  for (int i = 0; i < 100; i++) {
    SmallUnit u;
    uint32_t ids[NENTITIES];
    small_unit(&u, 100 * n + i, "/src/a.c", 5);
    demand(f, store_add_unit(f->store, 1, &u.unit, ids, &f->err));
    char test[16];
    snprintf(test, sizeof test, "%d", 100 * n + i);
    Run run = make_run(test, VERDICT_PASS);
    bitset_add(&run.hits[ENTITY_STATEMENT], ids[LINE3]);
    bitset_add(&run.hits[ENTITY_BLOCK], ids[BLOCK1]);
    demand(f, store_add_run(f->store, 1, &run, &f->err));
    run_release(&run);
  }
  demand(f, store_flush(f->store, &f->err));
}

TEST(two_processes_may_add_to_one_session) {
  Fixture f;
  start(&f);
  begin(&f, "k");
  close_store(&f);
  pid_t a = fork_child(&f, share_session_one, 0);
  pid_t b = fork_child(&f, share_session_one, 1);
  assert_ends_well(a);
  assert_ends_well(b);
  open_store(&f);
  Suite suite;
  load(&f, 1, &suite);
  assert_int_equal(suite.nruns, 200);
  assert_int_equal(suite.nentities, 200 * (NENTITIES - 3) + 3);
  Collected c;
  Bitset blocks = {0};
  collect_kind(&f, &suite, ENTITY_BLOCK, &c);
  for (int i = 0; i < 200; i++)
    bitset_union(&blocks, &c.hits[i]);
  assert_int_equal(bitset_count(&blocks), 200); // no id was given twice
  bitset_release(&blocks);
  release_collected(&c);
  suite_release(&suite);
  fixture_release(&f);
}

static void write_for_ever(Fixture *f, int fd) {
  int64_t session;
  bool continued;
  demand(f,
         session_begin(f->store, "k", "c", "/", &session, &continued, &f->err));
  SmallUnit u;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  demand(f, store_add_unit(f->store, session, &u.unit, ids, &f->err));
  for (int i = 0;; i++) {
    char test[16];
    snprintf(test, sizeof test, "%d", i);
    Run run = make_run(test, VERDICT_PASS);
    bitset_add(&run.hits[ENTITY_STATEMENT], ids[LINE3]);
    demand(f, store_add_run(f->store, session, &run, &f->err));
    run_release(&run);
    if (i % 5 == 0)
      demand(f, store_flush(f->store, &f->err));
    if (write(fd, "x", 1) != 1)
      _exit(1);
  }
}

static void kill_after(const Fixture *f, int runs) {
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  pid_t pid = fork_child(f, write_for_ever, fds[1]);
  char byte;
  for (int i = 0; i < runs; i++)
    assert_int_equal(read(fds[0], &byte, 1), 1);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  close(fds[0]);
  close(fds[1]);
}

TEST(a_killed_writer_leaves_a_store_that_can_be_read_and_continued) {
  Fixture f;
  fixture_init(&f);
  size_t before = 0;
  for (int round = 1; round <= 5; round++) {
    kill_after(&f, 23 * round);
    open_store(&f);
    assert_int_equal(begin_or_continue(&f, "k", true), 1);
    Suite suite;
    load(&f, 1, &suite);
    assert_true(suite.nruns >= before);
    assert_true(suite.nruns >= 23u * (unsigned)round - 5);
    Collected c;
    collect_kind(&f, &suite, ENTITY_STATEMENT, &c);
    assert_int_equal(c.calls, suite.nruns);
    release_collected(&c);
    before = suite.nruns;
    suite_release(&suite);
    close_store(&f);
  }
  fixture_release(&f);
}

// --- no space
// -------------------------------------------------------------------

static void fill_up(Fixture *f, int n) {
  (void)n;
  struct rlimit limit = {1 << 20, 1 << 20};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  int64_t session;
  bool continued;
  demand(f,
         session_begin(f->store, "k", "c", "/", &session, &continued, &f->err));
  SmallUnit u;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  demand(f, store_add_unit(f->store, session, &u.unit, ids, &f->err));
  for (int i = 0; i < 2000; i++) {
    char test[16];
    snprintf(test, sizeof test, "%d", i);
    Run run = make_run(test, VERDICT_PASS);
    run.note = mem_alloc(10001);
    memset(run.note, 'x', 10000);
    bitset_add(&run.hits[ENTITY_STATEMENT], ids[LINE2]);
    int rc = store_add_run(f->store, session, &run, &f->err);
    run_release(&run);
    if (rc)
      _exit(strstr(f->err.text, "stored so far are kept") ? 0 : 1);
  }
  _exit(2);
}

TEST(a_full_disk_is_said_and_what_was_committed_stays) {
  needs_file();
  Fixture f;
  fixture_init(&f);
  assert_ends_well(fork_child(&f, fill_up, 0));
  open_store(&f);
  Suite suite;
  load(&f, 1, &suite);
  assert_true(suite.nruns > 0);
  assert_int_equal(suite.nruns % 64, 0);
  Collected c;
  collect_kind(&f, &suite, ENTITY_STATEMENT, &c);
  assert_int_equal(c.calls, suite.nruns);
  release_collected(&c);
  suite_release(&suite);
  fixture_release(&f);
}

// --- files that are no good
// -----------------------------------------------------

static int open_existing(Fixture *f) {
  return store_open(&f->store, f->where, STORE_EXISTING, &f->err);
}

TEST(a_store_that_is_not_there_is_asked_for_in_vain) {
  Fixture f;
  fixture_init(&f);
  assert_int_equal(open_existing(&f), -1);
  assert_says(&f, f.shown);
  assert_says(&f, "culprit run");
  assert_false(fs_exists(f.dir));
  assert_int_equal(store_open(&f.store, "", STORE_CREATE, &f.err), -1);
  fixture_release(&f);
}

TEST(a_directory_that_cannot_be_made_is_named) {
  needs_file();
  Fixture f;
  fixture_init(&f);
  check(&f, fs_write(f.dir, "x", 1, &f.err)); // a file in its place
  assert_int_equal(store_open(&f.store, f.where, STORE_CREATE, &f.err), -1);
  assert_says(&f, f.dir);
  fixture_release(&f);
}

static void bytes_of(Fixture *f, Str *out) {
  str_clear(out);
  if (!server())
    check(f, fs_read(f->db, 0, out, &f->err));
}

TEST(a_store_of_a_newer_version_is_refused_and_left_as_it_is) {
  Fixture f;
  start(&f);
  close_store(&f);
  run_sql(&f, "UPDATE meta SET version = 1000");
  Str before = {0}, after = {0};
  bytes_of(&f, &before);
  assert_int_equal(open_existing(&f), -1);
  assert_says(&f, f.shown);
  assert_says(&f, "newer culprit (store version 1000");
  bytes_of(&f, &after);
  assert_int_equal(before.len, after.len);
  assert_string_equal(str_text(&before), str_text(&after));
  str_release(&before);
  str_release(&after);
  fixture_release(&f);
}

TEST(a_store_of_the_first_version_is_brought_up_to_date) {
  Fixture f;
  start(&f);
  int64_t session = begin(&f, "k");
  Run run = make_run("2", VERDICT_PASS);
  add_run(&f, session, &run);
  close_store(&f);
  run_sql(&f, "DROP TABLE failure_place; DROP TABLE kept; DROP TABLE beside;"
              " ALTER TABLE entity DROP COLUMN text;"
              " ALTER TABLE run_failure DROP COLUMN excerpt;"
              " ALTER TABLE run_failure DROP COLUMN output;"
              " ALTER TABLE death DROP COLUMN callers;"
              " ALTER TABLE death DROP COLUMN turns;"
              " ALTER TABLE session DROP COLUMN close;"
              " ALTER TABLE session DROP COLUMN project;"
              " ALTER TABLE session DROP COLUMN root;"
              " ALTER TABLE run DROP COLUMN close;"
              " ALTER TABLE run DROP COLUMN wrong;"
              " UPDATE meta SET version = 1");
  check(&f, open_existing(&f));
  add_placed_run(&f, session);
  Suite suite;
  load(&f, session, &suite);
  assert_int_equal(suite.nruns, 2);
  suite_release(&suite);
  fixture_release(&f);
}

static void drop_tables(const Fixture *f) {
  run_sql(f, "DROP TABLE beside, counts, death, entity, failure, "
             "failure_place, kept, meta,"
             " run, run_failure, session, session_source, session_unit,"
             " spectrum, unit, unit_source");
}

TEST(a_database_of_somebody_else_is_refused) {
  Fixture f;
  fixture_init(&f);
  check(&f, fs_mkdirs(f.dir, &f.err));
  if (server()) {
    start(&f); // makes the schema
    close_store(&f);
    drop_tables(&f);
  }
  run_sql(&f, "CREATE TABLE bookmarks (url TEXT)");
  assert_int_equal(store_open(&f.store, f.where, STORE_CREATE, &f.err), -1);
  assert_says(&f, "is not a culprit store");
  fixture_release(&f);
}

TEST(a_file_of_garbage_is_refused_with_the_remedy) {
  needs_file();
  Fixture f;
  fixture_init(&f);
  check(&f, fs_mkdirs(f.dir, &f.err));
  char garbage[10000];
  for (size_t i = 0; i < sizeof garbage; i++)
    garbage[i] = (char)(i * 7 % 251);
  check(&f, fs_write(f.db, garbage, sizeof garbage, &f.err));
  assert_int_equal(open_existing(&f), -1);
  assert_says(&f, f.db);
  assert_says(&f, "move it away and run the tests again");
  assert_int_equal(store_open(&f.store, f.where, STORE_CREATE, &f.err), -1);
  assert_says(&f, "move it away");
  fixture_release(&f);
}

// A store with something in every table, as bytes.
static void sample(Fixture *f) {
  start(f);
  for (int n = 0; n < 2; n++) {
    int64_t session = begin(f, "k");
    SmallUnit u, v;
    uint32_t a[NENTITIES], b[NENTITIES];
    small_unit(&u, 1, "/src/a.c", 5);
    small_unit(&v, 2, "/src/b.c", 6);
    add_unit(f, session, &u, a);
    add_unit(f, session, &v, b);
    for (int i = 0; i < 40; i++) {
      char test[16];
      snprintf(test, sizeof test, "%d", i);
      Run run = make_run(test, i % 3 ? VERDICT_PASS : VERDICT_FAIL);
      run.note = i % 4 ? NULL : mem_strdup("a note");
      add_failure(&run, i % 2 ? "exit 1" : "exit 2", "exit status");
      for (int k = 0; k < NENTITIES; k++)
        bitset_add(&run.hits[u.entities[k].kind], i % 2 ? a[k] : b[k]);
      Death d = {mem_strdup("/src/a.c"), 3, mem_strdup("f"), mem_strdup("SIG"),
                 false};
      array_push(&run.deaths, d);
      add_run(f, session, &run);
    }
    finish(f, session);
  }
  close_store(f);
}

static void count_death(void *ctx, size_t run, const Death *d) {
  *(size_t *)ctx += run + strlen(d->file) + strlen(d->function) + d->line;
}

static void count_spectra(void *ctx, size_t run, const Spectra *s) {
  *(size_t *)ctx += run + s->ncounts;
}

static int read_all(Fixture *f) {
  Suite suite;
  if (store_load(f->store, 0, &suite, &f->err))
    return -1;
  int rc = 0;
  for (EntityKind k = 0; k < ENTITY_KINDS && !rc; k++) {
    Collected c = {0};
    rc = store_each_spectrum(f->store, &suite, k, collect, &c, &f->err);
    release_collected(&c);
  }
  size_t sum = 0;
  unsigned everything = STORE_COUNTS | (STORE_COUNTS - 1);
  if (!rc)
    rc = store_each_spectra(f->store, &suite, everything, count_spectra, &sum,
                            &f->err);
  if (!rc)
    rc = store_each_death(f->store, &suite, count_death, &sum, &f->err);
  suite_release(&suite);
  SessionInfo *list;
  size_t n;
  if (!rc && !(rc = store_list(f->store, &list, &n, &f->err)))
    store_list_free(list, n);
  return rc;
}

static int write_more(Fixture *f) {
  int64_t session;
  bool continued;
  SmallUnit u;
  uint32_t ids[NENTITIES];
  small_unit(&u, 1, "/src/a.c", 5);
  if (session_reopen(f->store, &session, &f->err) ||
      store_add_unit(f->store, session, &u.unit, ids, &f->err) ||
      session_begin(f->store, "k2", "c", "/", &session, &continued, &f->err) ||
      store_add_unit(f->store, session, &u.unit, ids, &f->err))
    return -1;
  Run run = make_run("1", VERDICT_FAIL);
  add_failure(&run, "exit 1", "exit status 1");
  int rc = store_add_run(f->store, session, &run, &f->err);
  run_release(&run);
  size_t removed;
  return rc || session_finish(f->store, session, &f->err) ||
         store_prune(f->store, 1, &removed, &f->err);
}

// Puts `bytes` in the place of the store and does everything with it. True if
// it was usable; if not, there is a message that names the file.
static bool survives(Fixture *f, const char *bytes, size_t n) {
  fs_remove_tree(f->dir);
  check(f, fs_mkdirs(f->dir, &f->err));
  check(f, fs_write(f->db, bytes, n, &f->err));
  f->err.text[0] = '\0';
  bool good = !open_existing(f) && !read_all(f);
  if (!good && !strstr(f->err.text, f->dir))
    fail_msg("the message does not name the store: %s", f->err.text);
  if (f->store)
    write_more(f);
  close_store(f);
  return good;
}

TEST(a_truncated_store_is_refused_wherever_it_was_cut) {
  needs_file();
  Fixture f;
  Str bytes = {0};
  sample(&f);
  bytes_of(&f, &bytes);
  assert_true(survives(&f, bytes.data, bytes.len));
  for (size_t n = 0; n < bytes.len; n += n < 200 ? 13 : 1531)
    if (survives(&f, bytes.data, n))
      fail_msg("%zu of %zu bytes were taken for a store", n, bytes.len);
  str_release(&bytes);
  fixture_release(&f);
}

TEST(flipped_bytes_never_crash_the_reader_or_the_writer) {
  needs_file();
  Fixture f;
  Str bytes = {0};
  sample(&f);
  bytes_of(&f, &bytes);
  uint32_t seed = 20240607;
  size_t refused = 0;
  for (int i = 0; i < 400; i++) {
    char *bad = mem_dup(bytes.data, bytes.len);
    uint32_t flips = 1 + pseudo_random(&seed) % 8;
    for (uint32_t k = 0; k < flips; k++)
      bad[pseudo_random(&seed) % bytes.len] ^=
          (char)(1 + pseudo_random(&seed) % 255);
    refused += !survives(&f, bad, bytes.len);
    free(bad);
  }
  assert_true(refused > 0);
  str_release(&bytes);
  fixture_release(&f);
}

static void assert_refused_after(const char *sql) {
  Fixture f;
  sample(&f);
  run_sql(&f, sql);
  check(&f, open_existing(&f));
  if (!read_all(&f))
    fail_msg("nobody minds: %s", sql);
  assert_says(&f, "is damaged");
  fixture_release(&f);
}

TEST(values_that_this_program_never_writes_are_refused) {
  assert_refused_after("UPDATE entity SET kind = 'lambda' WHERE n = 3");
  assert_refused_after("UPDATE entity SET to_ = 99 WHERE n = 6");
  assert_refused_after("UPDATE entity SET source = 2 WHERE n = 1");
  assert_refused_after("UPDATE entity SET line = -1 WHERE n = 1");
  assert_refused_after("DELETE FROM entity WHERE n = 4");
  assert_refused_after("UPDATE session_unit SET ids = zeroblob(40)");
  assert_refused_after("UPDATE session_unit SET ids = zeroblob(7)");
  assert_refused_after("UPDATE session SET entities = 4000000000");
  assert_refused_after("UPDATE session_source SET path = path || 'x'");
  assert_refused_after("UPDATE run SET verdict = 'perhaps' WHERE test = '7'");
  assert_refused_after(
      "UPDATE run SET status = 1099511627776 WHERE test = '7'");
  assert_refused_after(
      server() ? "UPDATE run SET seconds = 'infinity' WHERE test = '7'"
               : "UPDATE run SET seconds = 9e999 WHERE test = '7'");
  assert_refused_after(
      "UPDATE spectrum SET hits = zeroblob(1) WHERE kind = 'edge'");
  assert_refused_after(server() ? "UPDATE spectrum SET hits = '\\xffffffff00'"
                                : "UPDATE spectrum SET hits = x'ffffffff00'");
  assert_refused_after( // a statement's bits are no edge's
      "UPDATE spectrum SET hits = (SELECT hits FROM spectrum s"
      " WHERE kind = 'statement' AND s.run = spectrum.run)"
      " WHERE kind = 'edge'");
  assert_refused_after("UPDATE death SET exact = 2");
}

// --- where it lies
// --------------------------------------------------------------

TEST(the_option_goes_before_the_environment) {
  unsetenv("CULPRIT_STORE");
  char *dir = store_find(NULL);
  assert_string_equal(dir, ".culprit");
  free(dir);
  setenv("CULPRIT_STORE", "/elsewhere", 1);
  dir = store_find(NULL);
  assert_string_equal(dir, "/elsewhere");
  free(dir);
  dir = store_find("here");
  assert_string_equal(dir, "here");
  free(dir);
  unsetenv("CULPRIT_STORE");
}
