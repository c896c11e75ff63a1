// Loading a session as a Suite, and streaming its spectra.
//
// Everything in the file is checked on its way in: a Suite that was loaded has
// no index that points nowhere, whatever the disk did to the store.
//
// Memory: the Suite's arena, plus one spectrum at a time.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/generated.h"
#include "model/place_group.h"
#include "model/testcode.h"
#include "store/internal.h"
#include "store/kept.h"
#include "util/fs.h"
#include "util/mem.h"

typedef struct {
  Store *store;
  Suite *suite;
  uint32_t nentities; // what the session says it has
  ARRAY(Source) sources;
  Hashmap source_of;      // path -> index into sources
  ARRAY(Entity) entities; // kind ENTITY_KINDS: not seen yet
  ARRAY(Standing) standings;
  ARRAY(RunInfo) runs;
  Hashmap run_of; // store_id -> index into suite->runs
} Loader;

// The items of a growing array, as an array of the suite's.
static void *settle(Suite *suite, const void *items, size_t n, size_t size) {
  void *copy = arena_alloc_array(&suite->arena, n, size);
  if (n)
    memcpy(copy, items, n * size);
  return copy;
}

static const char *keep_text(Suite *suite, const char *s) {
  return s ? arena_strdup(&suite->arena, s) : NULL;
}

// --- session and sources ---------------------------------------------------

static int load_session(Loader *l, int64_t session, Err *err) {
  Suite *suite = l->suite;
  DbQuery q;
  if (query_start(&q, &l->store->db,
                  "SELECT command, cwd, entities, close, project, root"
                  " FROM session"
                  " WHERE id = ?",
                  VALUES(v_int(session)), err))
    return -1;
  int rc = query_next(&q, err);
  if (rc > 0) {
    suite->session = session;
    suite->command = keep_text(suite, query_text(&q, 0));
    suite->cwd = keep_text(suite, query_text(&q, 1));
    l->nentities = query_u32(&q, 2);
    suite->close = keep_text(suite, query_text(&q, 3));
    suite->project = keep_text(suite, query_text(&q, 4));
    suite->root = keep_text(suite, query_text(&q, 5));
    rc = q.bad ? query_corrupt(&q, "session", err) : 0;
  } else if (rc == 0) {
    rc = err_set(err, "%s: no session %lld; see `culprit store list`",
                 l->store->db.path, (long long)session);
  }
  query_end(&q);
  return rc;
}

// A project is of no use if all its files are in the session's directory.
static void choose_shown(Suite *suite) {
  for (size_t i = 0; i < suite->nsources; i++) {
    const char *path = suite->sources[i].path;
    if (path_lies_in(path, suite->project) && !path_lies_in(path, suite->cwd))
      return;
  }
  suite->project = "";
}

static void load_source(void *ctx, const char *path, uint64_t hash) {
  Loader *l = ctx;
  Source source = {.path = keep_text(l->suite, path), .hash = hash};
  hashmap_put(&l->source_of, path, strlen(path), l->sources.len);
  array_push(&l->sources, source);
}

static int load_sources(Loader *l, Err *err) {
  Suite *suite = l->suite;
  if (session_each_source(l->store, suite->session, load_source, l, err))
    return -1;
  suite->nsources = l->sources.len;
  suite->sources =
      settle(suite, l->sources.items, l->sources.len, sizeof(Source));
  choose_shown(suite);
  for (size_t i = 0; *suite->root && i < suite->nsources; i++)
    suite->sources[i].outside =
        !path_lies_in(suite->sources[i].path, suite->root);
  return 0;
}

// --- entities --------------------------------------------------------------

static uint32_t suite_ref(uint32_t ref, const uint32_t *ids) {
  return ref == ENTITY_NONE ? ENTITY_NONE : ids[ref];
}

// From the unit's numbers to the suite's.
static Entity suite_entity(const Entity *e, const uint32_t *ids,
                           uint32_t source) {
  Entity out = *e;
  out.source = source;
  out.function = suite_ref(e->function, ids);
  if (e->kind == ENTITY_EDGE || e->kind == ENTITY_PAIR ||
      e->kind == ENTITY_SLICE)
    out.from = suite_ref(e->from, ids);
  if (e->kind != ENTITY_FUNCTION && e->kind != ENTITY_BLOCK)
    out.to = suite_ref(e->to, ids);
  return out;
}

static int load_unit(void *ctx, const Unit *unit, const uint32_t *ids,
                     Err *err) {
  Loader *l = ctx;
  for (size_t i = 0; i < unit->nentities; i++)
    while (l->entities.len <= ids[i])
      array_push(&l->entities, (Entity){.kind = ENTITY_KINDS});
  for (size_t i = 0; i < unit->nentities; i++) {
    const Entity *e = &unit->entities[i];
    const char *path = unit->sources[e->source].path;
    uint64_t source;
    if (!hashmap_get(&l->source_of, path, strlen(path), &source))
      return db_corrupt(&l->store->db, err,
                        "a source of session %lld is missing",
                        (long long)l->suite->session);
    Entity *known = &l->entities.items[ids[i]];
    if (known->kind == ENTITY_KINDS)
      *known = suite_entity(e, ids, (uint32_t)source);
  }
  for (size_t i = 0; i < unit->nstandings; i++)
    array_push(&l->standings, (Standing){ids[unit->standings[i].statement],
                                         ids[unit->standings[i].block]});
  return 0;
}

static int by_standing(const void *a, const void *b) {
  const Standing *x = a, *y = b;
  if (x->statement != y->statement)
    return x->statement < y->statement ? -1 : 1;
  return (x->block > y->block) - (x->block < y->block);
}

static int load_entities(Loader *l, Err *err) {
  Suite *suite = l->suite;
  if (session_each_unit(l->store, suite->session, &suite->arena, load_unit, l,
                        err))
    return -1;
  bool holes = l->entities.len != l->nentities;
  for (size_t i = 0; i < l->entities.len; i++)
    holes |= l->entities.items[i].kind == ENTITY_KINDS;
  if (holes)
    return db_corrupt(&l->store->db, err,
                      "entities of session %lld are missing",
                      (long long)suite->session);
  suite->nentities = l->entities.len;
  suite->entities =
      settle(suite, l->entities.items, l->entities.len, sizeof(Entity));
  suite->nstandings = l->standings.len;
  suite->standings =
      settle(suite, l->standings.items, l->standings.len, sizeof(Standing));
  qsort(suite->standings, suite->nstandings, sizeof(Standing), by_standing);
  return 0;
}

// --- runs ------------------------------------------------------------------

static void read_run(void *ctx, DbQuery *q) {
  Loader *l = ctx;
  Suite *suite = l->suite;
  int verdict = verdict_parse(query_text(q, 3));
  int64_t status = query_int(q, 4);
  if (verdict < 0 || status < INT32_MIN || status > INT32_MAX)
    q->bad = true;
  RunInfo run = {
      .store_id = query_int(q, 0),
      .test = keep_text(suite, query_text(q, 1)),
      .command = keep_text(suite, query_text(q, 2)),
      .verdict = verdict < 0 ? VERDICT_ERROR : (Verdict)verdict,
      .status = (int)status,
      .seconds = query_real(q, 5),
      .has_spectrum = query_u32(q, 6) > 0,
      .imprecise = query_bool(q, 7),
      .note = keep_text(suite, query_text_null(q, 8)),
      .close = (CloseStratum)query_u32(q, 9),
      .wrong = keep_text(suite, query_text(q, 10)),
  };
  q->bad |= run.close >= CLOSE_STRATA;
  uint64_t n = l->runs.len;
  q->bad |=
      hashmap_intern(&l->run_of, &run.store_id, sizeof run.store_id, n) != n;
  array_push(&l->runs, run);
}

// Numbers in names by their value: test 2 before test 10.
static int by_test(const void *a, const void *b) {
  return strverscmp(((const RunInfo *)a)->test, ((const RunInfo *)b)->test);
}

static int load_runs(Loader *l, Err *err) {
  Suite *suite = l->suite;
  if (query_each(&l->store->db,
                 "SELECT id, test, command, verdict, status, seconds,"
                 " processes, imprecise, note, close, wrong"
                 " FROM run WHERE session = ?",
                 VALUES(v_int(suite->session)), "run", read_run, l, err))
    return -1;
  suite->nruns = l->runs.len;
  suite->runs = settle(suite, l->runs.items, l->runs.len, sizeof(RunInfo));
  qsort(suite->runs, suite->nruns, sizeof(RunInfo), by_test);
  for (size_t i = 0; i < suite->nruns; i++)
    hashmap_put(&l->run_of, &suite->runs[i].store_id, sizeof(int64_t), i);
  return 0;
}

// --- failures --------------------------------------------------------------

// One line of run_failure: run `run` shows failure `group`.
typedef struct {
  uint64_t group;
  uint32_t run, n;
  const char *message, *place, *excerpt, *output;
} ShownFailure;

typedef struct {
  Loader *loader;
  ARRAY(FailureGroup) groups;
  Hashmap group_of; // signature -> index into groups
  ARRAY(ShownFailure) showings;
} Grouping;

static void read_showing(void *ctx, DbQuery *q) {
  Grouping *g = ctx;
  Loader *l = g->loader;
  int64_t id = query_int(q, 0);
  const char *signature = query_text(q, 2);
  uint64_t run;
  if (!hashmap_get(&l->run_of, &id, sizeof id, &run)) {
    q->bad = true;
    return;
  }
  if (l->suite->runs[run].verdict != VERDICT_FAIL)
    return;
  uint64_t group =
      hashmap_intern(&g->group_of, signature, strlen(signature), g->groups.len);
  if (group == g->groups.len)
    array_push(&g->groups,
               (FailureGroup){.signature = keep_text(l->suite, signature),
                              .kind = keep_text(l->suite, query_text(q, 3))});
  array_push(&g->showings,
             (ShownFailure){.group = group,
                            .run = (uint32_t)run,
                            .n = query_u32(q, 1),
                            .message = keep_text(l->suite, query_text(q, 4)),
                            .place = keep_text(l->suite, query_text(q, 5)),
                            .excerpt = keep_text(l->suite, query_text(q, 6)),
                            .output = keep_text(l->suite, query_text(q, 7))});
}

static int read_showings(Grouping *g, Err *err) {
  return query_each(&g->loader->store->db,
                    "SELECT run.id, n, signature, kind, message, place,"
                    " run_failure.excerpt, run_failure.output"
                    " FROM run JOIN run_failure ON run_failure.run = run.id"
                    " JOIN failure ON failure.id = run_failure.failure"
                    " WHERE run.session = ?",
                    VALUES(v_int(g->loader->suite->session)), "run_failure",
                    read_showing, g, err);
}

static int by_group(const void *a, const void *b) {
  const ShownFailure *x = a, *y = b;
  if (x->group != y->group)
    return x->group < y->group ? -1 : 1;
  if (x->run != y->run)
    return x->run < y->run ? -1 : 1;
  return (x->n > y->n) - (x->n < y->n);
}

static int by_size(const void *a, const void *b) {
  const FailureGroup *x = a, *y = b;
  if (x->nruns != y->nruns)
    return x->nruns > y->nruns ? -1 : 1;
  return strcmp(x->signature, y->signature);
}

// Exit statuses may differ where the failure is the same one.
static bool says_otherwise(const FailureGroup *g, const ShownFailure *s) {
  return !strcmp(g->kind, "exit") && strcmp(g->message, s->message) != 0;
}

// Deals the showings, sorted by group, out to their groups. The first run of a
// group says its message and place.
static void fill_groups(Suite *suite, Grouping *g) {
  uint32_t *runs = arena_array(&suite->arena, uint32_t, g->showings.len);
  for (size_t i = 0; i < g->showings.len; i++) {
    const ShownFailure *s = &g->showings.items[i];
    FailureGroup *group = &g->groups.items[s->group];
    if (!group->runs) {
      group->runs = runs;
      group->message = s->message;
      group->place = s->place;
      group->excerpt = s->excerpt;
      group->output = s->output;
    } else if (runs[-1] == s->run) {
      continue; // the same failure twice in one run
    } else if (says_otherwise(group, s)) {
      group->message = group->signature;
    }
    *runs++ = s->run;
    group->nruns++;
  }
}

static int load_failures(Loader *l, Err *err) {
  Suite *suite = l->suite;
  Grouping g = {.loader = l};
  int rc = read_showings(&g, err);
  if (!rc && g.groups.len) {
    qsort(g.showings.items, g.showings.len, sizeof(ShownFailure), by_group);
    fill_groups(suite, &g);
    qsort(g.groups.items, g.groups.len, sizeof(FailureGroup), by_size);
    suite->nfailures = g.groups.len;
    suite->failures =
        settle(suite, g.groups.items, g.groups.len, sizeof(FailureGroup));
  }
  array_release(&g.groups);
  hashmap_release(&g.group_of);
  array_release(&g.showings);
  if (!rc && is_web_session(suite))
    suite_sort_by_place(suite);
  return rc;
}

// --- all of it -------------------------------------------------------------

static int load_all(Loader *l, int64_t session, Err *err) {
  if (!session && session_newest(l->store, &session, err))
    return -1;
  if (!session)
    return err_set(err, "%s holds no session yet; `culprit run` makes one",
                   l->store->db.path);
  if (load_session(l, session, err) || load_sources(l, err) ||
      load_entities(l, err) || load_runs(l, err))
    return -1;
  if (load_failures(l, err) || kept_load(l->store, l->suite, err))
    return -1;
  testcode_mark(l->suite);
  generated_mark(l->suite);
  return 0;
}

typedef struct {
  Store *store;
  int64_t session;
  Suite *suite;
} Loading;

static int load(void *ctx, Err *err) {
  const Loading *loading = ctx;
  Loader l = {.store = loading->store, .suite = loading->suite};
  suite_release(l.suite);
  int rc = load_all(&l, loading->session, err);
  array_release(&l.sources);
  hashmap_release(&l.source_of);
  array_release(&l.entities);
  array_release(&l.standings);
  array_release(&l.runs);
  hashmap_release(&l.run_of);
  return rc;
}

int store_load(Store *s, int64_t session, Suite *out, Err *err) {
  *out = (Suite){0};
  Loading loading = {s, session, out};
  int rc = store_flush(s, err) || db_read(&s->db, load, &loading, err) ? -1 : 0;
  if (rc)
    suite_release(out);
  return rc;
}
