// Adding runs to a session.
//
// Runs wait in memory and are written many at a time, in one short transaction:
// so a thousand tests a second are no trouble, and the write lock is never held
// while a test is running. What waits is written after BATCH_RUNS runs,
// BATCH_BYTES of spectra or BATCH_SECONDS, whichever comes first, and when
// anything is read through the same Store.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/internal.h"
#include "store/kept.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/leb.h"
#include "util/mem.h"

enum { BATCH_RUNS = 64, BATCH_BYTES = 16 << 20 };
static const double BATCH_SECONDS = 0.5;

// --- waiting ---------------------------------------------------------------

void pending_release(PendingRun *p) {
  run_release(&p->run);
  for (int k = 0; k < ENTITY_KINDS; k++)
    str_release(&p->hits[k]);
  str_release(&p->counts);
}

static char *copy_text(const char *s) { return mem_strdup(s ? s : ""); }

// One line of valid UTF-8, whatever a file of the tested program said.
static char *shown_text(const char *s) {
  Str text = {0};
  escape_add(&text, s);
  char *made = mem_strdup(str_text(&text));
  str_release(&text);
  return made;
}

static FailurePlace copy_place(const FailurePlace *p) {
  return (FailurePlace){.file = copy_text(p->file),
                        .line = p->line,
                        .statement = p->statement,
                        .role = p->role,
                        .what = copy_text(p->what),
                        .excerpt = copy_text(p->excerpt)};
}

static Failure copy_failure(const Failure *f) {
  Failure copy = {.kind = copy_text(f->kind),
                  .message = copy_text(f->message),
                  .place = copy_text(f->place),
                  .signature = copy_text(f->signature),
                  .excerpt = copy_text(f->excerpt ? f->excerpt : ""),
                  .output = copy_text(f->output ? f->output : "")};
  for (size_t i = 0; i < f->places.len; i++)
    array_push(&copy.places, copy_place(&f->places.items[i]));
  return copy;
}

static Death copy_death(const Death *d) {
  return (Death){.file = copy_text(d->file),
                 .line = d->line,
                 .function = copy_text(d->function),
                 .how = copy_text(d->how),
                 .exact = d->exact,
                 .callers = copy_text(d->callers ? d->callers : ""),
                 .turns = copy_text(d->turns ? d->turns : "")};
}

static Run copy_run(const Run *run) {
  Run copy = {.test = copy_text(run->test),
              .command = copy_text(run->command),
              .verdict = run->verdict,
              .status = run->status,
              .seconds = isfinite(run->seconds) ? run->seconds : 0,
              .processes = run->processes,
              .imprecise = run->imprecise,
              .note = run->note ? shown_text(run->note) : NULL};
  for (size_t i = 0; i < run->failures.len; i++)
    array_push(&copy.failures, copy_failure(&run->failures.items[i]));
  for (size_t i = 0; i < run->deaths.len; i++)
    array_push(&copy.deaths, copy_death(&run->deaths.items[i]));
  return copy;
}

// Entities ascending, as differences, each with its count.
static void write_counts(const Run *run, Str *out) {
  uint32_t last = 0;
  for (size_t i = 0; i < run->counts.len; i++) {
    const EntityCount *c = &run->counts.items[i];
    assert(c->entity >= last);
    leb_put(out, c->entity - last);
    leb_put(out, c->count);
    last = c->entity;
  }
}

int store_add_run(Store *s, int64_t session, const Run *run, Err *err) {
  assert(session > 0 && run->test && run->verdict < VERDICTS);
  PendingRun p = {.session = session, .run = copy_run(run)};
  for (int k = 0; k < ENTITY_KINDS && run->processes; k++) {
    if (bitset_count(&run->hits[k]))
      bitset_write(&run->hits[k], &p.hits[k]);
    s->pending_bytes += p.hits[k].len;
  }
  write_counts(run, &p.counts);
  s->pending_bytes += p.counts.len;
  if (!s->pending.len)
    s->pending_since = clock_now();
  array_push(&s->pending, p);
  if (s->pending.len < BATCH_RUNS && s->pending_bytes < BATCH_BYTES &&
      clock_now() - s->pending_since < BATCH_SECONDS)
    return 0;
  return store_flush(s, err);
}

// --- writing ---------------------------------------------------------------

static int write_places(Store *s, int64_t run, size_t n, const Failure *f,
                        Err *err) {
  for (size_t i = 0; i < f->places.len; i++) {
    const FailurePlace *p = &f->places.items[i];
    if (db_queue(&s->db,
                 "INSERT INTO failure_place VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 VALUES(v_int(run), v_int((int64_t)n), v_int((int64_t)i),
                        v_text(p->file), v_int(p->line), v_text(p->what),
                        v_text(p->excerpt), v_int(p->statement),
                        v_text(place_role_name(p->role))),
                 err))
      return -1;
  }
  return 0;
}

static int write_failure(Store *s, const PendingRun *p, int64_t run, size_t n,
                         Err *err) {
  const Failure *f = &p->run.failures.items[n];
  if (db_queue(&s->db,
               "INSERT INTO failure (session, signature, kind) VALUES (?, ?, ?)"
               " ON CONFLICT DO NOTHING",
               VALUES(v_int(p->session), v_text(f->signature), v_text(f->kind)),
               err) ||
      db_queue(
          &s->db,
          "INSERT INTO run_failure SELECT ?, ?, id, ?, ?, ?, ? FROM failure"
          " WHERE session = ? AND signature = ?",
          VALUES(v_int(run), v_int((int64_t)n), v_text(f->message),
                 v_text(f->place), v_text(f->excerpt), v_text(f->output),
                 v_int(p->session), v_text(f->signature)),
          err))
    return -1;
  return write_places(s, run, n, f, err);
}

static int write_death(Store *s, int64_t run, size_t n, const Death *d,
                       Err *err) {
  return db_queue(&s->db,
                  "INSERT INTO death VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  VALUES(v_int(run), v_int((int64_t)n), v_text(d->file),
                         v_int(d->line), v_text(d->function), v_text(d->how),
                         v_int(d->exact), v_text(d->callers), v_text(d->turns)),
                  err);
}

static int write_hits(Store *s, int64_t run, EntityKind kind, const Str *hits,
                      Err *err) {
  if (!hits->len)
    return 0;
  return db_queue(&s->db, "INSERT INTO spectrum VALUES (?, ?, ?)",
                  VALUES(v_int(run), v_text(entity_kind_name(kind)),
                         v_blob(hits->data, hits->len)),
                  err);
}

static int insert_row(Store *s, const PendingRun *p, int64_t id, Err *err) {
  const Run *r = &p->run;
  return db_queue(&s->db,
                  "INSERT INTO run (id, session, test, command, verdict,"
                  " status, seconds, processes, imprecise, note)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  VALUES(v_int(id), v_int(p->session), v_text(r->test),
                         v_text(r->command), v_text(verdict_name(r->verdict)),
                         v_int(r->status), v_real(r->seconds),
                         v_int(r->processes), v_int(r->imprecise),
                         v_text(r->note)),
                  err);
}

static int write_run(Store *s, const PendingRun *p, int64_t id, Err *err) {
  if (insert_row(s, p, id, err))
    return -1;
  for (size_t i = 0; i < p->run.failures.len; i++)
    if (write_failure(s, p, id, i, err))
      return -1;
  for (size_t i = 0; i < p->run.deaths.len; i++)
    if (write_death(s, id, i, &p->run.deaths.items[i], err))
      return -1;
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    if (write_hits(s, id, k, &p->hits[k], err))
      return -1;
  if (p->counts.len)
    return db_queue(&s->db, "INSERT INTO counts VALUES (?, ?)",
                    VALUES(v_int(id), v_blob(p->counts.data, p->counts.len)),
                    err);
  return 0;
}

// --- what was there before -------------------------------------------------

static void read_yes(void *ctx, DbQuery *q) { *(bool *)ctx = query_bool(q, 0); }

int store_may_remove(Store *s, bool *may, Err *err) {
  *may = s->may_replace >= 0;
  if (s->may_replace)
    return 0;
  if (db_is_server(&s->db) &&
      query_each(&s->db, "SELECT has_table_privilege('run', 'DELETE')", NULL,
                 "run", read_yes, may, err))
    return -1;
  s->may_replace = *may ? 1 : -1;
  return 0;
}

typedef struct {
  const Store *store;
  int64_t *ids; // by pending run
} OldRuns;

static void read_old(void *ctx, size_t i, DbQuery *q) {
  const OldRuns *o = ctx;
  o->ids[i] = query_int(q, 0);
}

static void fill_test(void *ctx, size_t i, Value *values) {
  const OldRuns *o = ctx;
  const PendingRun *p = &o->store->pending.items[i];
  values[0] = v_int(p->session);
  values[1] = v_text(p->run.test);
  values[2] = (Value){.type = V_END};
}

// The runs of the same tests, by pending run; 0: there is none. Nobody else
// replaces them until the transaction ends.
static int find_old(Store *s, int64_t *old, Err *err) {
  const char *sql = s->may_replace > 0
                        ? "SELECT id FROM run WHERE session = ? AND test = ?"
                          " /* FOR UPDATE */"
                        : "SELECT id FROM run WHERE session = ? AND test = ?";
  OldRuns o = {s, old};
  return query_each_of(&s->db, sql, s->pending.len, fill_test, "run", read_old,
                       &o, err);
}

// A later pending run of the same test.
static bool is_superseded(const Store *s, size_t i, const Hashmap *last) {
  const PendingRun *p = &s->pending.items[i];
  uint64_t n;
  char *key = mem_printf("%lld %s", (long long)p->session, p->run.test);
  bool found = hashmap_get(last, key, strlen(key), &n);
  free(key);
  return found && n != i;
}

static void index_pending(const Store *s, Hashmap *last) {
  for (size_t i = 0; i < s->pending.len; i++) {
    const PendingRun *p = &s->pending.items[i];
    char *key = mem_printf("%lld %s", (long long)p->session, p->run.test);
    hashmap_put(last, key, strlen(key), i);
    free(key);
  }
}

// --- a batch ---------------------------------------------------------------

typedef struct {
  Store *store;
  BatchSums sums; // of a server
  Arena names;
} RunBatch;

static int remove_old(RunBatch *b, int64_t session, int64_t id, Err *err) {
  Store *s = b->store;
  if (db_is_server(&s->db) &&
      kept_forget_run(s, session, id, &b->sums, &b->names, err))
    return -1;
  return db_queue(&s->db, "DELETE FROM run WHERE id = ?", VALUES(v_int(id)),
                  err);
}

static int count_run(RunBatch *b, const PendingRun *p, Err *err) {
  if (!db_is_server(&b->store->db) || !p->run.processes)
    return 0;
  Bitset hits[ENTITY_KINDS] = {0};
  Texts signatures = {0};
  int rc = 0;
  for (int k = 0; !rc && k < ENTITY_KINDS; k++)
    if (p->hits[k].len)
      rc = bitset_read(&hits[k], p->hits[k].data, p->hits[k].len, ENTITY_NONE,
                       err);
  for (size_t i = 0; i < p->run.failures.len; i++)
    array_push(&signatures, p->run.failures.items[i].signature);
  if (!rc)
    kept_count(&b->sums, p->session, p->run.verdict, &signatures, hits, 1);
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&hits[k]);
  array_release(&signatures);
  return rc;
}

static int write_one(RunBatch *b, size_t i, int64_t old, int64_t id, Err *err) {
  Store *s = b->store;
  const PendingRun *p = &s->pending.items[i];
  if (old && s->may_replace < 0)
    return 0;
  if (old && remove_old(b, p->session, old, err))
    return -1;
  return write_run(s, p, id, err) || count_run(b, p, err) ? -1 : 0;
}

static int write_all(RunBatch *b, const int64_t *old, const int64_t *ids,
                     Err *err) {
  Store *s = b->store;
  Hashmap last = {0};
  index_pending(s, &last);
  int rc = 0;
  for (size_t i = 0; !rc && i < s->pending.len; i++)
    if (!is_superseded(s, i, &last))
      rc = write_one(b, i, old[i], ids[i], err);
  hashmap_release(&last);
  return rc ? -1 : kept_write(s, &b->sums, err);
}

static int write_pending(void *ctx, Err *err) {
  RunBatch b = {.store = ctx};
  size_t n = b.store->pending.len;
  int64_t *ids = mem_array(int64_t, n), *old = mem_array(int64_t, n);
  int rc = db_new_ids(&b.store->db, "run", n, ids, err) ||
                   find_old(b.store, old, err) || write_all(&b, old, ids, err)
               ? -1
               : 0;
  free(ids);
  free(old);
  kept_release(&b.sums);
  arena_release(&b.names);
  return rc;
}

// Folding is worth a moment now and then. If it fails, the next one does it.
static void tidy_up(Store *s, int64_t session) {
  Err ignored;
  if (db_is_server(&s->db) && !s->db.bulk && s->may_replace > 0 &&
      ++s->flushes % 8 == 0)
    kept_fold(s, session, &ignored);
}

// After a failure the runs keep waiting: there may be room the next time.
int store_flush(Store *s, Err *err) {
  if (!s->pending.len)
    return 0;
  bool may; // whoever may only add runs leaves those that are there
  if (store_may_remove(s, &may, err) ||
      db_write(&s->db, DB_ADD_RUNS, write_pending, s, err))
    return -1;
  tidy_up(s, array_last(&s->pending).session);
  for (size_t i = 0; i < s->pending.len; i++)
    pending_release(&s->pending.items[i]);
  s->pending.len = 0;
  s->pending_bytes = 0;
  return 0;
}

bool store_has_run(Store *s, int64_t session, const char *test) {
  for (size_t i = 0; i < s->pending.len; i++)
    if (s->pending.items[i].session == session &&
        !strcmp(s->pending.items[i].run.test, test))
      return true;
  Err ignored;
  DbQuery q;
  if (query_start(&q, &s->db,
                  "SELECT 1 FROM run WHERE session = ? AND test = ?",
                  VALUES(v_int(session), v_text(test)), &ignored))
    return false;
  bool has = query_next(&q, &ignored) > 0;
  query_end(&q);
  return has;
}
