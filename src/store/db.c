// What both databases share: see db.h.
#include "store/db.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/db_backend.h"
#include "util/clock.h"

static const double RETRY_SECONDS = 60;

bool db_is_server(const Db *db) { return db->backend->server; }

bool db_needs_writing(const Db *db) { return db->backend->needs_writing(db); }

void db_close(Db *db) {
  if (db->connection)
    db->backend->close(db);
  free(db->path);
  *db = (Db){0};
}

// --- errors ----------------------------------------------------------------

int db_corrupt(const Db *db, Err *err, const char *fmt, ...) {
  char why[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  return err_set(err,
                 "%s is damaged (%s); move it away and run the tests again",
                 db->path, why);
}

int db_fail(Db *db, Err *err) { return db->backend->fail(db, err); }

// --- statements ------------------------------------------------------------

int db_exec(Db *db, const char *sql, Err *err) {
  return db->backend->exec(db, sql, err);
}

static int start(DbQuery *q, Db *db, const char *sql, const Value *values,
                 bool stream, Err *err) {
  *q = (DbQuery){.db = db};
  return db->backend->start(q, sql, values, stream, err);
}

int query_start(DbQuery *q, Db *db, const char *sql, const Value *values,
                Err *err) {
  return start(q, db, sql, values, false, err);
}

int query_next(DbQuery *q, Err *err) {
  q->bad = false;
  return q->db->backend->next(q, err);
}

void query_end(DbQuery *q) { q->db->backend->end(q); }

int query_each(Db *db, const char *sql, const Value *values, const char *table,
               EachRow *read, void *ctx, Err *err) {
  DbQuery q;
  int rc;
  if (start(&q, db, sql, values, true, err))
    return -1;
  while ((rc = query_next(&q, err)) > 0) {
    read(ctx, &q);
    if (q.bad) {
      rc = query_corrupt(&q, table, err);
      break;
    }
  }
  query_end(&q);
  return rc;
}

typedef struct {
  RowOf *row;
  void *ctx;
  size_t i;
} RowReader;

static void read_row_of(void *ctx, DbQuery *q) {
  const RowReader *r = ctx;
  r->row(r->ctx, r->i, q);
}

static int one_by_one(Db *db, const char *sql, size_t n, FillValues *fill,
                      const char *table, RowOf *row, void *ctx, Err *err) {
  for (size_t i = 0; i < n; i++) {
    Value values[FILL_MAX + 1] = {0};
    RowReader r = {row, ctx, i};
    fill(ctx, i, values);
    if (query_each(db, sql, values, table, read_row_of, &r, err))
      return -1;
  }
  return 0;
}

int query_each_of(Db *db, const char *sql, size_t n, FillValues *fill,
                  const char *table, RowOf *row, void *ctx, Err *err) {
  if (!db->backend->each_of)
    return one_by_one(db, sql, n, fill, table, row, ctx, err);
  for (size_t first = 0; first < n; first += EACH_MAX) {
    size_t some = n - first < EACH_MAX ? n - first : EACH_MAX;
    if (db->backend->each_of(db, sql, some, fill, row, first, table, ctx, err))
      return -1;
  }
  return 0;
}

int db_run(Db *db, const char *sql, const Value *values, Err *err) {
  DbQuery q;
  if (query_start(&q, db, sql, values, err))
    return -1;
  int rc = query_next(&q, err);
  assert(rc <= 0);
  query_end(&q);
  return rc;
}

int db_queue(Db *db, const char *sql, const Value *values, Err *err) {
  return db->backend->queue(db, sql, values, err);
}

int db_insert(Db *db, const char *sql, const Value *values, int64_t *id,
              Err *err) {
  DbQuery q;
  if (query_start(&q, db, sql, values, err))
    return -1;
  int rc = query_next(&q, err);
  if (rc > 0) {
    *id = query_int(&q, 0);
    rc = query_next(&q, err); // to its end, which may still fail
  }
  query_end(&q);
  return rc;
}

int db_new_ids(Db *db, const char *table, size_t n, int64_t *ids, Err *err) {
  return db->backend->new_ids(db, table, n, ids, err);
}

// --- transactions ----------------------------------------------------------

static int begin(Db *db, TxKind kind, Err *err) {
  if (db->bulk)
    return db->backend->in_transaction(db)
               ? 0
               : err_set(err, "%s: nothing was stored", db->path);
  return db->backend->begin(db, kind, err);
}

int db_begin_write(Db *db, Err *err) { return begin(db, TX_ALONE, err); }

int db_begin_read(Db *db, Err *err) {
  return db->backend->begin(db, TX_READ, err);
}

int db_commit(Db *db, Err *err) {
  if (db->bulk)
    return 0;
  if (!db->backend->commit(db, err))
    return 0;
  db_rollback(db);
  return -1;
}

void db_rollback(Db *db) { db->backend->rollback(db); }

static int write_once(Db *db, DbLock lock, DbWork *work, void *ctx, Err *err) {
  if (begin(db, lock == DB_ALONE ? TX_ALONE : TX_ADD_RUNS, err))
    return -1;
  if (!work(ctx, err))
    return db_commit(db, err);
  db_rollback(db);
  return -1;
}

int db_write(Db *db, DbLock lock, DbWork *work, void *ctx, Err *err) {
  double give_up = clock_now() + RETRY_SECONDS;
  for (;;) {
    int rc = write_once(db, lock, work, ctx, err);
    if (!rc || db->bulk || !db->backend->again(db, give_up))
      return rc;
  }
}

static int read_once(Db *db, DbWork *work, void *ctx, Err *err) {
  if (db_begin_read(db, err))
    return -1;
  int rc = work(ctx, err);
  db_rollback(db);
  return rc;
}

int db_read(Db *db, DbWork *work, void *ctx, Err *err) {
  double give_up = clock_now() + RETRY_SECONDS;
  for (;;) {
    int rc = read_once(db, work, ctx, err);
    if (!rc || !db->backend->again(db, give_up))
      return rc;
  }
}

// --- schema, housekeeping, sessions ----------------------------------------

int db_tables(Db *db, int64_t *all, bool *meta, Err *err) {
  return db->backend->tables(db, all, meta, err);
}

int db_share(Db *db, Err *err) { return db->backend->share(db, err); }

int db_compact(Db *db, Err *err) { return db->backend->compact(db, err); }

int db_size(Db *db, int64_t *bytes, Err *err) {
  return db->backend->size(db, bytes, err);
}

bool db_hold(Db *db, int64_t session) { return db->backend->hold(db, session); }

void db_let_go(Db *db, int64_t session) { db->backend->let_go(db, session); }

bool db_is_held(Db *db, int64_t session) {
  return db->backend->is_held(db, session);
}

// --- what comes out --------------------------------------------------------

int query_corrupt(const DbQuery *q, const char *table, Err *err) {
  return db_corrupt(q->db, err, "impossible value in table %s", table);
}

static int type_of(DbQuery *q, int col) { return q->db->backend->type(q, col); }

static bool has_type(DbQuery *q, int col, int type) {
  if (type_of(q, col) == type)
    return true;
  q->bad = true;
  return false;
}

bool query_null(DbQuery *q, int col) { return type_of(q, col) == V_NULL; }

int64_t query_int(DbQuery *q, int col) {
  return has_type(q, col, V_INT) ? q->db->backend->integer(q, col) : 0;
}

uint32_t query_u32(DbQuery *q, int col) {
  int64_t i = query_int(q, col);
  if (i >= 0 && i <= UINT32_MAX)
    return (uint32_t)i;
  q->bad = true;
  return 0;
}

uint32_t query_u32_or(DbQuery *q, int col, uint32_t null) {
  return query_null(q, col) ? null : query_u32(q, col);
}

double query_real(DbQuery *q, int col) {
  double r = has_type(q, col, V_REAL) ? q->db->backend->real(q, col) : 0;
  if (isfinite(r))
    return r;
  q->bad = true;
  return 0;
}

bool query_bool(DbQuery *q, int col) {
  int64_t i = query_int(q, col);
  if (i != 0 && i != 1)
    q->bad = true;
  return i == 1;
}

const char *query_text(DbQuery *q, int col) {
  const char *s = has_type(q, col, V_TEXT) ? q->db->backend->text(q, col) : "";
  if (s)
    return s;
  q->bad = true;
  return "";
}

const char *query_text_null(DbQuery *q, int col) {
  return query_null(q, col) ? NULL : query_text(q, col);
}

const void *query_blob(DbQuery *q, int col, size_t *n) {
  *n = 0;
  if (!has_type(q, col, V_BLOB))
    return "";
  const void *p = q->db->backend->blob(q, col, n);
  return p ? p : "";
}

Value query_value(DbQuery *q, int col) {
  size_t n;
  switch (type_of(q, col)) {
  case V_INT:
    return v_int(query_int(q, col));
  case V_REAL:
    return v_real(query_real(q, col));
  case V_TEXT:
    return v_text(query_text(q, col));
  case V_BLOB: {
    const void *p = query_blob(q, col, &n);
    return v_blob(p, n);
  }
  default:
    return v_text(NULL);
  }
}
