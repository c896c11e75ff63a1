// Streaming what is too large for a Suite: spectra, counts, and where runs
// died.
#include <assert.h>
#include <stdlib.h>

#include "store/internal.h"
#include "util/hashmap.h"
#include "util/leb.h"
#include "util/mem.h"

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

// `hits` is reused from run to run.
static int read_spectrum(Store *s, const Suite *suite, size_t run,
                         EntityKind kind, Bitset *hits, Err *err) {
  DbQuery q;
  if (query_start(&q, &s->db,
                  "SELECT hits FROM run"
                  " LEFT JOIN spectrum ON run = run.id AND kind = ?2"
                  " WHERE run.id = ?1",
                  VALUES(v_int(suite->runs[run].store_id),
                         v_text(entity_kind_name(kind))),
                  err))
    return -1;
  int rc = query_next(&q, err);
  if (rc == 0)
    rc = changed(s, suite, err);
  hits->nwords = 0;
  if (rc > 0 && !query_null(&q, 0)) {
    size_t size;
    const void *blob = query_blob(&q, 0, &size);
    if (q.bad)
      rc = query_corrupt(&q, "spectrum", err);
    else if (bitset_read(hits, blob, size, suite->nentities, err))
      rc = db_corrupt(&s->db, err, "test %s: %s", suite->runs[run].test,
                      err->text);
  }
  query_end(&q);
  return rc < 0 ? -1 : 0;
}

static int checked_spectrum(Store *s, const Suite *suite, size_t run,
                            EntityKind kind, const Bitset *all, Bitset *hits,
                            Err *err) {
  if (read_spectrum(s, suite, run, kind, hits, err))
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

// Returns 1 with the counts of a run, 0 if it has none.
static int read_run_counts(Store *s, const Suite *suite, size_t run,
                           CountList *list, Err *err) {
  DbQuery q;
  list->len = 0;
  if (query_start(&q, &s->db, "SELECT counts FROM counts WHERE run = ?",
                  VALUES(v_int(suite->runs[run].store_id)), err))
    return -1;
  int rc = query_next(&q, err);
  if (rc > 0) {
    size_t size;
    const void *blob = query_blob(&q, 0, &size);
    if (q.bad || read_counts(suite, blob, size, list))
      rc = query_corrupt(&q, "counts", err);
  }
  query_end(&q);
  return rc;
}

int store_each_counts(Store *s, const Suite *suite, EachCounts *each, void *ctx,
                      Err *err) {
  if (store_flush(s, err) || db_begin_read(&s->db, err))
    return -1;
  CountList list = {0};
  int rc = 0;
  for (size_t run = 0; rc >= 0 && run < suite->nruns; run++) {
    rc = read_run_counts(s, suite, run, &list, err);
    if (rc > 0)
      each(ctx, run, list.items, list.len);
  }
  db_rollback(&s->db); // only read
  array_release(&list);
  return rc < 0 ? -1 : 0;
}

// --- both at once -----------------------------------------------------------

typedef struct {
  Bitset all[ENTITY_KINDS]; // the entities of each kind that is read
  Spectra spectra;
  CountList counts;
} SpectraReader;

static int read_spectra(Store *s, const Suite *suite, size_t run, unsigned what,
                        SpectraReader *r, Err *err) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (what & 1u << k &&
        checked_spectrum(s, suite, run, (EntityKind)k, &r->all[k],
                         &r->spectra.hits[k], err))
      return -1;
  if (what & STORE_COUNTS &&
      read_run_counts(s, suite, run, &r->counts, err) < 0)
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

int store_each_spectra(Store *s, const Suite *suite, unsigned what,
                       EachSpectra *each, void *ctx, Err *err) {
  if (store_flush(s, err) || db_begin_read(&s->db, err))
    return -1;
  SpectraReader r = {0};
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (what & 1u << k)
      r.all[k] = entities_of(suite, (EntityKind)k);
  int rc = 0;
  for (size_t run = 0; !rc && run < suite->nruns; run++) {
    if (!suite->runs[run].has_spectrum)
      continue;
    rc = read_spectra(s, suite, run, what, &r, err);
    if (!rc)
      each(ctx, run, &r.spectra);
  }
  db_rollback(&s->db); // only read
  reader_release(&r);
  return rc;
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
  EachDeath *each;
  void *ctx;
  size_t run;
} DeathReader;

static void read_death(void *ctx, DbQuery *q) {
  DeathReader *r = ctx;
  Death death = {.file = mem_strdup(query_text(q, 0)),
                 .line = query_u32(q, 1),
                 .function = mem_strdup(query_text(q, 2)),
                 .how = mem_strdup(query_text(q, 3)),
                 .exact = query_bool(q, 4),
                 .callers = mem_strdup(query_text(q, 5)),
                 .turns = mem_strdup(query_text(q, 6))};
  if (!q->bad)
    r->each(r->ctx, r->run, &death);
  death_release(&death);
}

int store_each_death(Store *s, const Suite *suite, EachDeath *each, void *ctx,
                     Err *err) {
  if (store_flush(s, err) || db_begin_read(&s->db, err))
    return -1;
  DeathReader r = {each, ctx, 0};
  int rc = 0;
  for (; !rc && r.run < suite->nruns; r.run++)
    rc = query_each(&s->db,
                    "SELECT file, line, function, how, exact, callers, turns"
                    " FROM death WHERE run = ? ORDER BY n",
                    VALUES(v_int(suite->runs[r.run].store_id)), "death",
                    read_death, &r, err);
  db_rollback(&s->db); // only read
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

static void index_runs(PlaceReader *r) {
  for (size_t i = 0; i < r->suite->nruns; i++)
    hashmap_put(&r->run_of, &r->suite->runs[i].store_id,
                sizeof r->suite->runs[i].store_id, i);
}

static void read_place(void *ctx, DbQuery *q) {
  PlaceReader *r = ctx;
  if (!r->run_of.len)
    index_runs(r);
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
