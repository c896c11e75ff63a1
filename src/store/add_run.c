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

static int write_row(Store *s, const PendingRun *p, int64_t id, Err *err) {
  const Run *r = &p->run;
  if (db_queue(&s->db, "DELETE FROM run WHERE session = ? AND test = ?",
               VALUES(v_int(p->session), v_text(r->test)), err))
    return -1;
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
  if (write_row(s, p, id, err))
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

static int write_pending(void *ctx, Err *err) {
  Store *s = ctx;
  size_t n = s->pending.len;
  int64_t *ids = mem_array(int64_t, n);
  int rc = db_new_ids(&s->db, "run", n, ids, err);
  for (size_t i = 0; !rc && i < n; i++)
    rc = write_run(s, &s->pending.items[i], ids[i], err);
  free(ids);
  return rc;
}

// After a failure the runs keep waiting: there may be room the next time.
int store_flush(Store *s, Err *err) {
  if (!s->pending.len)
    return 0;
  if (db_write(&s->db, DB_ADD_RUNS, write_pending, s, err))
    return -1;
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
