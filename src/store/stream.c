// Streaming what is too large for a Suite: spectra, counts, and where runs
// died.
#include <assert.h>
#include <stdlib.h>

#include "store/internal.h"
#include "util/hashmap.h"
#include "util/leb.h"
#include "util/mem.h"

enum { STREAM_WINDOW = 64 }; // runs that are read at a time

// The store changed between store_load and now.
static int changed(Store *s, const Suite *suite, Err *err) {
  return err_set(err,
                 "%s: another process changed session %lld while it was being "
                 "read; try again",
                 s->db.path, (long long)suite->session);
}

// --- spectra ----------------------------------------------------------------

// A spectrum of one kind may only hold entities of that kind.
static Bitset entities_of(const Suite *suite, EntityKind kind) {
  Bitset all = {0};
  for (size_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == kind)
      bitset_add(&all, (uint32_t)i);
  return all;
}

static bool is_subset(const Bitset *b, const Bitset *of) {
  size_t both = b->nwords < of->nwords ? b->nwords : of->nwords;
  uint64_t outside = 0;
  for (size_t i = 0; i < both; i++)
    outside |= b->words[i] & ~of->words[i];
  for (size_t i = both; i < b->nwords; i++)
    outside |= b->words[i];
  return !outside;
}

// What the store holds of a few runs, as it is stored.
typedef struct {
  const Suite *suite;
  size_t runs[STREAM_WINDOW], n;
  EntityKind kind; // which is being read
  struct {
    bool there; // is the run?
    Str hits[ENTITY_KINDS], counts;
  } of[STREAM_WINDOW];
} StreamWindow;

static void fill_run(void *ctx, size_t i, Value *values) {
  const StreamWindow *w = ctx;
  values[0] = v_int(w->suite->runs[w->runs[i]].store_id);
  values[1] = v_text(entity_kind_name(w->kind));
  values[2] = (Value){.type = V_END};
}

static void fill_id(void *ctx, size_t i, Value *values) {
  fill_run(ctx, i, values);
  values[1] = (Value){.type = V_END};
}

static void take_hits(void *ctx, size_t i, DbQuery *q) {
  StreamWindow *w = ctx;
  size_t size;
  w->of[i].there = true;
  if (query_null(q, 0))
    return;
  const void *blob = query_blob(q, 0, &size);
  q->bad |= !size;
  str_addn(&w->of[i].hits[w->kind], blob, size);
}

static void take_counts(void *ctx, size_t i, DbQuery *q) {
  StreamWindow *w = ctx;
  size_t size;
  const void *blob = query_blob(q, 0, &size);
  str_addn(&w->of[i].counts, blob, size);
}

static void window_clear(StreamWindow *w) {
  for (size_t i = 0; i < STREAM_WINDOW; i++) {
    w->of[i].there = false;
    for (int k = 0; k < ENTITY_KINDS; k++)
      str_clear(&w->of[i].hits[k]);
    str_clear(&w->of[i].counts);
  }
}

static void window_release(StreamWindow *w) {
  for (size_t i = 0; i < STREAM_WINDOW; i++) {
    for (int k = 0; k < ENTITY_KINDS; k++)
      str_release(&w->of[i].hits[k]);
    str_release(&w->of[i].counts);
  }
}

static int window_read(Store *s, StreamWindow *w, unsigned what, Err *err) {
  window_clear(w);
  for (int k = 0; k < ENTITY_KINDS; k++) {
    w->kind = (EntityKind)k;
    if (what & 1u << k &&
        query_each_of(&s->db,
                      "SELECT hits FROM run"
                      " LEFT JOIN spectrum ON run = run.id AND kind = ?2"
                      " WHERE run.id = ?1",
                      w->n, fill_run, "spectrum", take_hits, w, err))
      return -1;
    for (size_t i = 0; what & 1u << k && i < w->n; i++)
      if (!w->of[i].there)
        return changed(s, w->suite, err);
  }
  if (what & STORE_COUNTS)
    return query_each_of(&s->db, "SELECT counts FROM counts WHERE run = ?",
                         w->n, fill_id, "counts", take_counts, w, err);
  return 0;
}

// `hits` is reused from run to run.
static int read_spectrum(Store *s, const Suite *suite, size_t run,
                         const Str *stored, Bitset *hits, Err *err) {
  hits->nwords = 0;
  if (stored->len &&
      bitset_read(hits, stored->data, stored->len, suite->nentities, err))
    return db_corrupt(&s->db, err, "test %s: %s", suite->runs[run].test,
                      err->text);
  return 0;
}

static int checked_spectrum(Store *s, const Suite *suite, size_t run,
                            EntityKind kind, const Str *stored,
                            const Bitset *all, Bitset *hits, Err *err) {
  if (read_spectrum(s, suite, run, stored, hits, err))
    return -1;
  if (!is_subset(hits, all))
    return db_corrupt(&s->db, err,
                      "test %s covers what is not a %s of its session",
                      suite->runs[run].test, entity_kind_name(kind));
  return 0;
}

// --- counts -----------------------------------------------------------------

typedef ARRAY(EntityCount) CountList;

static int read_counts(const Suite *suite, const unsigned char *at, size_t size,
                       CountList *out) {
  const unsigned char *end = at + size;
  uint64_t entity = 0, step, count;
  out->len = 0;
  while (at < end) {
    if (!leb_get(&at, end, &step) || !leb_get(&at, end, &count) ||
        step >= suite->nentities || (entity += step) >= suite->nentities)
      return -1;
    array_push(out, (EntityCount){(uint32_t)entity, count});
  }
  return 0;
}

static int read_run_counts(Store *s, const Suite *suite, const Str *stored,
                           CountList *list, Err *err) {
  list->len = 0;
  if (!stored->len || !read_counts(suite, (const unsigned char *)stored->data,
                                   stored->len, list))
    return 0;
  return db_corrupt(&s->db, err, "impossible value in table counts");
}

// --- both at once -----------------------------------------------------------

typedef struct {
  Bitset all[ENTITY_KINDS]; // the entities of each kind that is read
  Spectra spectra;
  CountList counts;
} SpectraReader;

// The i-th run of the window.
static int read_spectra(Store *s, const StreamWindow *w, size_t i,
                        unsigned what, SpectraReader *r, Err *err) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (what & 1u << k &&
        checked_spectrum(s, w->suite, w->runs[i], (EntityKind)k,
                         &w->of[i].hits[k], &r->all[k], &r->spectra.hits[k],
                         err))
      return -1;
  if (what & STORE_COUNTS &&
      read_run_counts(s, w->suite, &w->of[i].counts, &r->counts, err))
    return -1;
  r->spectra.counts = r->counts.items;
  r->spectra.ncounts = r->counts.len;
  return 0;
}

static void reader_release(SpectraReader *r) {
  for (int k = 0; k < ENTITY_KINDS; k++) {
    bitset_release(&r->all[k]);
    bitset_release(&r->spectra.hits[k]);
  }
  array_release(&r->counts);
}

// The next runs from *run on; of those without a spectrum only if `all`.
static void window_fill(StreamWindow *w, size_t *run, bool all) {
  for (w->n = 0; w->n < STREAM_WINDOW && *run < w->suite->nruns; ++*run)
    if (all || w->suite->runs[*run].has_spectrum)
      w->runs[w->n++] = *run;
}

static int each_of_window(Store *s, StreamWindow *w, unsigned what,
                          SpectraReader *r, EachSpectra *each, void *ctx,
                          Err *err) {
  if (window_read(s, w, what, err))
    return -1;
  for (size_t i = 0; i < w->n; i++) {
    if (read_spectra(s, w, i, what, r, err))
      return -1;
    each(ctx, w->runs[i], &r->spectra);
  }
  return 0;
}

static int stream(Store *s, const Suite *suite, unsigned what, bool all,
                  EachSpectra *each, void *ctx, Err *err) {
  if (store_flush(s, err) || db_begin_read(&s->db, err))
    return -1;
  SpectraReader r = {0};
  StreamWindow *w = mem_new(StreamWindow);
  w->suite = suite;
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (what & 1u << k)
      r.all[k] = entities_of(suite, (EntityKind)k);
  int rc = 0;
  for (size_t run = 0; !rc && run < suite->nruns;) {
    window_fill(w, &run, all);
    rc = each_of_window(s, w, what, &r, each, ctx, err);
  }
  db_rollback(&s->db); // only read
  reader_release(&r);
  window_release(w);
  free(w);
  return rc;
}

int store_each_spectra(Store *s, const Suite *suite, unsigned what,
                       EachSpectra *each, void *ctx, Err *err) {
  return stream(s, suite, what, false, each, ctx, err);
}

typedef struct {
  EachCounts *each;
  void *ctx;
} CountsReader;

static void pass_counts(void *ctx, size_t run, const Spectra *spectra) {
  const CountsReader *r = ctx;
  if (spectra->ncounts)
    r->each(r->ctx, run, spectra->counts, spectra->ncounts);
}

int store_each_counts(Store *s, const Suite *suite, EachCounts *each, void *ctx,
                      Err *err) {
  CountsReader r = {each, ctx};
  return stream(s, suite, STORE_COUNTS, true, pass_counts, &r, err);
}

// --- one kind ---------------------------------------------------------------

typedef struct {
  EachSpectrum *each;
  void *ctx;
  EntityKind kind;
} KindReader;

static void pass_kind(void *ctx, size_t run, const Spectra *spectra) {
  const KindReader *r = ctx;
  r->each(r->ctx, run, &spectra->hits[r->kind]);
}

int store_each_spectrum(Store *s, const Suite *suite, EntityKind kind,
                        EachSpectrum *each, void *ctx, Err *err) {
  assert(kind < ENTITY_KINDS);
  KindReader r = {each, ctx, kind};
  return store_each_spectra(s, suite, 1u << kind, pass_kind, &r, err);
}

// --- deaths -----------------------------------------------------------------

typedef struct {
  size_t run, n; // n: as they came
  Death death;
} RunDeath;

typedef struct {
  Hashmap run_of; // store id -> run
  ARRAY(RunDeath) deaths;
} DeathReader;

static void index_runs(const Suite *suite, Hashmap *run_of) {
  for (size_t i = 0; i < suite->nruns; i++)
    hashmap_put(run_of, &suite->runs[i].store_id,
                sizeof suite->runs[i].store_id, i);
}

static void read_death(void *ctx, DbQuery *q) {
  DeathReader *r = ctx;
  uint64_t run;
  int64_t id = query_int(q, 7);
  if (!hashmap_get(&r->run_of, &id, sizeof id, &run))
    return; // it came since the suite was loaded
  Death death = {.file = mem_strdup(query_text(q, 0)),
                 .line = query_u32(q, 1),
                 .function = mem_strdup(query_text(q, 2)),
                 .how = mem_strdup(query_text(q, 3)),
                 .exact = query_bool(q, 4),
                 .callers = mem_strdup(query_text(q, 5)),
                 .turns = mem_strdup(query_text(q, 6))};
  array_push(&r->deaths, (RunDeath){run, r->deaths.len, death});
}

// In the order of the suite, which does not depend on which run came first.
static int by_run(const void *a, const void *b) {
  const RunDeath *x = a, *y = b;
  if (x->run != y->run)
    return x->run < y->run ? -1 : 1;
  return x->n < y->n ? -1 : 1;
}

int store_each_death(Store *s, const Suite *suite, EachDeath *each, void *ctx,
                     Err *err) {
  DeathReader r = {0};
  if (store_flush(s, err))
    return -1;
  index_runs(suite, &r.run_of);
  int rc =
      query_each(&s->db,
                 "SELECT file, line, function, how, exact, callers, turns,"
                 " run.id FROM run JOIN death ON death.run = run.id"
                 " WHERE session = ? ORDER BY run.id, n",
                 VALUES(v_int(suite->session)), "death", read_death, &r, err);
  if (r.deaths.len)
    qsort(r.deaths.items, r.deaths.len, sizeof *r.deaths.items, by_run);
  for (size_t i = 0; i < r.deaths.len; i++) {
    if (!rc)
      each(ctx, r.deaths.items[i].run, &r.deaths.items[i].death);
    death_release(&r.deaths.items[i].death);
  }
  array_release(&r.deaths);
  hashmap_release(&r.run_of);
  return rc;
}

// --- failures ---------------------------------------------------------------

typedef struct {
  EachFailure *each;
  void *ctx;
  size_t run;
} FailureReader;

static void read_failure(void *ctx, DbQuery *q) {
  FailureReader *r = ctx;
  Failure f = {.signature = mem_strdup(query_text(q, 0)),
               .kind = mem_strdup(query_text(q, 1)),
               .message = mem_strdup(query_text(q, 2)),
               .place = mem_strdup(query_text(q, 3)),
               .excerpt = mem_strdup(query_text(q, 4)),
               .output = mem_strdup(query_text(q, 5))};
  if (!q->bad)
    r->each(r->ctx, r->run, &f);
  failure_release(&f);
}

int store_each_failure(Store *s, const Suite *suite, EachFailure *each,
                       void *ctx, Err *err) {
  if (store_flush(s, err) || db_begin_read(&s->db, err))
    return -1;
  FailureReader r = {each, ctx, 0};
  int rc = 0;
  for (; !rc && r.run < suite->nruns; r.run++)
    rc = query_each(&s->db,
                    "SELECT signature, kind, message, place,"
                    " run_failure.excerpt, run_failure.output"
                    " FROM run_failure"
                    " JOIN failure ON failure.id = run_failure.failure"
                    " WHERE run_failure.run = ? ORDER BY n",
                    VALUES(v_int(suite->runs[r.run].store_id)), "run_failure",
                    read_failure, &r, err);
  db_rollback(&s->db); // only read
  return rc;
}

// --- places in the output ---------------------------------------------------

typedef struct {
  const Suite *suite;
  EachPlace *each;
  void *ctx;
  Hashmap run_of; // store id -> run
} PlaceReader;

static void read_place(void *ctx, DbQuery *q) {
  PlaceReader *r = ctx;
  if (!r->run_of.len)
    index_runs(r->suite, &r->run_of);
  int64_t id = query_int(q, 0);
  FailurePlace place = {.file = mem_strdup(query_text(q, 2)),
                        .line = query_u32(q, 3),
                        .statement = query_u32(q, 6),
                        .what = mem_strdup(query_text(q, 4)),
                        .excerpt = mem_strdup(query_text(q, 5))};
  uint64_t run;
  int role = place_role_parse(query_text(q, 7));
  q->bad |= role < 0;
  place.role = role < 0 ? PLACE_OUTPUT : (PlaceRole)role;
  q->bad |= !hashmap_get(&r->run_of, &id, sizeof id, &run);
  if (!q->bad)
    r->each(r->ctx, run, query_text(q, 1), &place);
  failure_place_release(&place);
}

int store_each_place(Store *s, const Suite *suite, EachPlace *each, void *ctx,
                     Err *err) {
  PlaceReader r = {.suite = suite, .each = each, .ctx = ctx};
  if (store_flush(s, err))
    return -1;
  int rc = query_each(&s->db,
                      "SELECT p.run, signature, file, line, what, p.excerpt,"
                      " statement, role"
                      " FROM run JOIN failure_place p ON p.run = run.id"
                      " JOIN run_failure r ON r.run = p.run AND r.n = p.failure"
                      " JOIN failure ON failure.id = r.failure"
                      " WHERE run.session = ? ORDER BY p.run, p.failure, p.n",
                      VALUES(v_int(suite->session)), "failure_place",
                      read_place, &r, err);
  hashmap_release(&r.run_of);
  return rc;
}
