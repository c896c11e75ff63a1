// The queue of a session: see test_queue.h.
#include "store/test_queue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/internal.h"
#include "util/mem.h"

enum { PART = 8 << 20, RECENT = 60 };

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

// --- tables -----------------------------------------------------------------

static int make_tables(void *ctx, Err *err) {
  Store *s = ctx;
  static const char *const tables[] = {
      "CREATE TABLE IF NOT EXISTS queue_meta ("
      "  version INTEGER NOT NULL"
      ") STRICT;",
      "CREATE TABLE IF NOT EXISTS queue_session ("
      "  session INTEGER PRIMARY KEY REFERENCES session ON DELETE CASCADE,"
      "  bundle TEXT NOT NULL"
      ") STRICT;",
      "CREATE TABLE IF NOT EXISTS queue_item ("
      "  session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,"
      "  n INTEGER NOT NULL,"
      "  test TEXT NOT NULL,"
      "  worker TEXT NOT NULL DEFAULT '',"
      "  until REAL NOT NULL DEFAULT 0,"
      "  ended REAL NOT NULL DEFAULT 0,"
      "  PRIMARY KEY (session, n)"
      ") STRICT, WITHOUT ROWID;",
      "CREATE TABLE IF NOT EXISTS queue_bundle ("
      "  hash TEXT NOT NULL,"
      "  n INTEGER NOT NULL,"
      "  content BLOB NOT NULL,"
      "  PRIMARY KEY (hash, n)"
      ") STRICT, WITHOUT ROWID;",
      "INSERT INTO queue_meta SELECT " TEXT(
          QUEUE_VERSION) " WHERE NOT EXISTS"
                         " (SELECT 1 FROM queue_meta);"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (db_exec(&s->db, tables[i], err))
      return -1;
  return 0;
}

static void read_number(void *ctx, DbQuery *q) {
  *(int64_t *)ctx = query_int(q, 0);
}

int test_queue_open(Store *s, Err *err) {
  int64_t version = 0;
  if (store_flush(s, err) || db_write(&s->db, DB_ALONE, make_tables, s, err) ||
      query_each(&s->db, "SELECT version FROM queue_meta", NULL, "queue_meta",
                 read_number, &version, err))
    return -1;
  if (version == QUEUE_VERSION)
    return 0;
  return err_set(err,
                 "%s: its queue has version %lld, this culprit knows %d; use "
                 "the same culprit on all machines",
                 s->db.path, (long long)version, QUEUE_VERSION);
}

// --- the clock --------------------------------------------------------------

static void read_time(void *ctx, DbQuery *q) {
  *(double *)ctx = query_real(q, 0);
}

static int now(Store *s, double *out, Err *err) {
  struct timespec t;
  *out = 0;
  if (db_is_server(&s->db))
    return query_each(
        &s->db, "SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8)",
        NULL, "queue_item", read_time, out, err);
  clock_gettime(CLOCK_REALTIME, &t);
  *out = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
  return 0;
}

// --- filling ----------------------------------------------------------------

typedef struct {
  Store *store;
  int64_t session;
  const char *bundle;
  const char *const *tests;
  size_t n;
} Filling;

static void read_text(void *ctx, DbQuery *q) {
  char **text = ctx;
  free(*text);
  *text = mem_strdup(query_text(q, 0));
}

static void read_known(void *ctx, DbQuery *q) {
  const char *test = query_text(q, 0);
  hashmap_put(ctx, test, strlen(test), 1);
}

static int check_bundle(Filling *f, Err *err) {
  Store *s = f->store;
  char *had = NULL;
  int rc = query_each(
      &s->db, "SELECT bundle FROM queue_session WHERE session = ?",
      VALUES(v_int(f->session)), "queue_session", read_text, &had, err);
  if (!rc && had && strcmp(had, f->bundle) != 0)
    rc = err_set(err,
                 "session %lld is queued with another bundle: the program "
                 "or its inputs have changed; start afresh",
                 (long long)f->session);
  if (!rc && !had)
    rc = db_run(&s->db, "INSERT INTO queue_session VALUES (?, ?)",
                VALUES(v_int(f->session), v_text(f->bundle)), err);
  free(had);
  return rc;
}

static int fill(void *ctx, Err *err) {
  Filling *f = ctx;
  Store *s = f->store;
  Hashmap known = {0};
  int rc = check_bundle(f, err);
  if (!rc)
    rc = query_each(&s->db, "SELECT test FROM queue_item WHERE session = ?",
                    VALUES(v_int(f->session)), "queue_item", read_known, &known,
                    err);
  size_t n = known.len;
  uint64_t ignored;
  for (size_t i = 0; !rc && i < f->n; i++)
    if (!hashmap_get(&known, f->tests[i], strlen(f->tests[i]), &ignored))
      rc = db_queue(
          &s->db,
          "INSERT INTO queue_item (session, n, test)"
          " VALUES (?, ?, ?)",
          VALUES(v_int(f->session), v_int((int64_t)n++), v_text(f->tests[i])),
          err);
  hashmap_release(&known);
  return rc;
}

int test_queue_add(Store *s, int64_t session, const char *bundle,
                   const char *const *tests, size_t n, Err *err) {
  Filling f = {s, session, bundle, tests, n};
  return store_flush(s, err) ? -1 : db_write(&s->db, DB_ALONE, fill, &f, err);
}

// --- taking -----------------------------------------------------------------

typedef struct {
  int64_t session;
  char *bundle;
} NextSession;

static void read_next(void *ctx, DbQuery *q) {
  NextSession *next = ctx;
  next->session = query_int(q, 0);
  free(next->bundle);
  next->bundle = mem_strdup(query_text(q, 1));
}

int test_queue_next_session(Store *s, int64_t *session, char **bundle,
                            Err *err) {
  double t;
  NextSession next = {0};
  if (now(s, &t, err))
    return -1;
  int rc =
      query_each(&s->db,
                 "SELECT session, bundle FROM queue_session"
                 " WHERE EXISTS (SELECT 1 FROM queue_item"
                 "  WHERE queue_item.session = queue_session.session"
                 "  AND ended = 0 AND until < ?)"
                 " ORDER BY session LIMIT 1",
                 VALUES(v_real(t)), "queue_session", read_next, &next, err);
  *session = next.session;
  *bundle = next.bundle;
  return rc;
}

typedef struct {
  Store *store;
  int64_t session;
  const char *worker;
  double seconds;
  size_t most;
  QueueLease *lease;
} Taking;

static void read_taken(void *ctx, DbQuery *q) {
  QueueLease *l = ctx;
  array_push(&l->tests, mem_strdup(query_text(q, 0)));
}

// A server lets workers pass each other's rows; a file has one writer anyway.
static const char take_server[] =
    "UPDATE queue_item SET worker = ?, until = ?"
    " WHERE session = ? AND n IN"
    " (SELECT n FROM queue_item WHERE session = ? AND ended = 0 AND until < ?"
    "  ORDER BY n LIMIT ? FOR UPDATE SKIP LOCKED)"
    " RETURNING test";
static const char take_file[] =
    "UPDATE queue_item SET worker = ?, until = ?"
    " WHERE session = ? AND n IN"
    " (SELECT n FROM queue_item WHERE session = ? AND ended = 0 AND until < ?"
    "  ORDER BY n LIMIT ?)"
    " RETURNING test";

static int take(void *ctx, Err *err) {
  Taking *t = ctx;
  double at;
  test_queue_lease_release(t->lease); // of an attempt that failed
  if (now(t->store, &at, err))
    return -1;
  return query_each(
      &t->store->db, db_is_server(&t->store->db) ? take_server : take_file,
      VALUES(v_text(t->worker), v_real(at + t->seconds), v_int(t->session),
             v_int(t->session), v_real(at), v_int((int64_t)t->most)),
      "queue_item", read_taken, t->lease, err);
}

int test_queue_take(Store *s, int64_t session, const char *worker,
                    double seconds, size_t most, QueueLease *out, Err *err) {
  Taking t = {s, session, worker, seconds, most, out};
  *out = (QueueLease){0};
  return db_write(&s->db, DB_ADD_RUNS, take, &t, err);
}

void test_queue_lease_release(QueueLease *l) {
  for (size_t i = 0; i < l->tests.len; i++)
    free(l->tests.items[i]);
  array_release(&l->tests);
  *l = (QueueLease){0};
}

static int extend(void *ctx, Err *err) {
  Taking *t = ctx;
  double at;
  if (now(t->store, &at, err))
    return -1;
  return db_run(
      &t->store->db,
      "UPDATE queue_item SET until = ?"
      " WHERE session = ? AND worker = ? AND ended = 0",
      VALUES(v_real(at + t->seconds), v_int(t->session), v_text(t->worker)),
      err);
}

int test_queue_extend(Store *s, int64_t session, const char *worker,
                      double seconds, Err *err) {
  Taking t = {s, session, worker, seconds, 0, NULL};
  return db_write(&s->db, DB_ADD_RUNS, extend, &t, err);
}

static int finish(void *ctx, Err *err) {
  Taking *t = ctx;
  double at;
  if (now(t->store, &at, err))
    return -1;
  return db_run(&t->store->db,
                "UPDATE queue_item SET ended = ?"
                " WHERE session = ? AND worker = ? AND ended = 0",
                VALUES(v_real(at), v_int(t->session), v_text(t->worker)), err);
}

int test_queue_finish(Store *s, int64_t session, const char *worker, Err *err) {
  Taking t = {s, session, worker, 0, 0, NULL};
  return store_flush(s, err) ? -1
                             : db_write(&s->db, DB_ADD_RUNS, finish, &t, err);
}

static int give_back(void *ctx, Err *err) {
  Taking *t = ctx;
  return db_run(&t->store->db,
                "UPDATE queue_item SET until = 0, worker = ''"
                " WHERE session = ? AND worker = ? AND ended = 0",
                VALUES(v_int(t->session), v_text(t->worker)), err);
}

int test_queue_return(Store *s, int64_t session, const char *worker, Err *err) {
  Taking t = {s, session, worker, 0, 0, NULL};
  return db_write(&s->db, DB_ADD_RUNS, give_back, &t, err);
}

// --- status -----------------------------------------------------------------

typedef struct {
  QueueStatuses *out;
} StatusReader;

static void read_status(void *ctx, DbQuery *q) {
  StatusReader *r = ctx;
  array_push(r->out, ((QueueStatus){.session = query_int(q, 0),
                                    .all = (size_t)query_int(q, 1),
                                    .done = (size_t)query_int(q, 2),
                                    .taken = (size_t)query_int(q, 3),
                                    .workers = (size_t)query_int(q, 4),
                                    .recent = (size_t)query_int(q, 5)}));
}

// `session` 0: all.
static int read_statuses(Store *s, int64_t session, QueueStatuses *out,
                         Err *err) {
  double t;
  StatusReader r = {out};
  if (now(s, &t, err))
    return -1;
  return query_each(
      &s->db,
      "SELECT session, count(*), count(*) FILTER (WHERE ended > 0),"
      " count(*) FILTER (WHERE ended = 0 AND until >= ?),"
      " count(DISTINCT worker) FILTER (WHERE ended = 0 AND until >= ?),"
      " count(*) FILTER (WHERE ended > ?)"
      " FROM queue_item WHERE session >= ? AND session <= ?"
      " GROUP BY session ORDER BY session",
      VALUES(v_real(t), v_real(t), v_real(t - RECENT), v_int(session),
             v_int(session ? session : INT64_MAX)),
      "queue_item", read_status, &r, err);
}

int test_queue_statuses(Store *s, QueueStatuses *out, Err *err) {
  *out = (QueueStatuses){0};
  return read_statuses(s, 0, out, err);
}

int test_queue_status(Store *s, int64_t session, QueueStatus *out, Err *err) {
  QueueStatuses list = {0};
  int rc = read_statuses(s, session, &list, err);
  *out = list.len ? list.items[0] : (QueueStatus){.session = session};
  array_release(&list);
  return rc;
}

// --- bundles ----------------------------------------------------------------

typedef struct {
  Store *store;
  const char *hash;
  const Str *content;
} Putting;

static int put_bundle(void *ctx, Err *err) {
  Putting *p = ctx;
  Db *db = &p->store->db;
  size_t n = 0;
  if (db_run(db, "DELETE FROM queue_bundle WHERE hash = ?",
             VALUES(v_text(p->hash)), err) ||
      db_run(db,
             "DELETE FROM queue_bundle WHERE hash NOT IN"
             " (SELECT bundle FROM queue_session)",
             NULL, err))
    return -1;
  for (size_t at = 0; at < p->content->len; at += PART) {
    size_t rest = p->content->len - at;
    if (db_run(db, "INSERT INTO queue_bundle VALUES (?, ?, ?)",
               VALUES(v_text(p->hash), v_int((int64_t)n++),
                      v_blob(p->content->data + at, rest < PART ? rest : PART)),
               err))
      return -1;
  }
  return 0;
}

int test_queue_put_bundle(Store *s, const char *hash, const Str *content,
                          Err *err) {
  Putting p = {s, hash, content};
  return store_flush(s, err) ? -1
                             : db_write(&s->db, DB_ALONE, put_bundle, &p, err);
}

static void read_part(void *ctx, DbQuery *q) {
  size_t n;
  const void *part = query_blob(q, 0, &n);
  str_addn(ctx, part, n);
}

int test_queue_get_bundle(Store *s, const char *hash, Str *out, Err *err) {
  if (query_each(&s->db,
                 "SELECT content FROM queue_bundle WHERE hash = ? ORDER BY n",
                 VALUES(v_text(hash)), "queue_bundle", read_part, out, err))
    return -1;
  if (!out->len)
    return err_set(err,
                   "%s: the bundle %s is not there; the command that queued "
                   "its tests puts it there again",
                   s->db.path, hash);
  return 0;
}
