// PostgreSQL as the database. See db_pg.h.
//
// Transactions that change more than runs take an advisory lock, as SQLite's
// writers do; those that add runs share it, and so go on side by side. A session
// that is worked on is an advisory lock of the connection, which the server
// drops when the process ends, however it ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/db_dialect.h"
#include "store/db_pg.h"
#include "util/clock.h"
#include "util/mem.h"

enum { MOST_CONFLICTS = 20 };

int db_connect(Db *db, const char *address, Err *err) {
  return pg_open(db, address, err);
}

const char *db_schema(const Db *db) { return pg_of(db)->schema; }

static void postgres_close(Db *db) {
  PgDb *pg = pg_of(db);
  PQfinish(pg->conn);
  for (size_t i = 0; i < pg->statements.len; i++)
    free(pg->statements.items[i].text);
  array_release(&pg->statements);
  array_release(&pg->held);
  free(pg->address);
  free(pg->schema);
  free(pg->message);
  free(pg);
}

// --- errors ----------------------------------------------------------------

static bool postgres_needs_writing(const Db *db) {
  (void)db;
  return false;
}

// The first that fits, by SQLSTATE; %s is what the server said.
static const struct {
  const char *state, *remedy;
} remedies[] = {
    {"42501", "%s; `culprit store roles` prints what each role needs"},
    {"25006", "%s; the server is a standby or set to read only: name another"},
    {"53100", "no space left on the server (%s); make room and run again: the "
              "runs stored so far are kept"},
    {"53", "the server is short of resources (%s); try again later"},
    {"55P03", "another process has kept it locked for 30 s (%s); end that one "
              "or wait for it, then run again"},
    {"23503", "the session was removed while it was being written (%s); run "
              "again"},
    {"57014", "%s; run again"},
    {"40", "%s; run again"},
    {"", "%s"},
};

static int postgres_fail(Db *db, Err *err) {
  PgDb *pg = pg_of(db);
  if (pg->lost)
    return err_set(err,
                   "%s: the connection to the server was lost (%s); see "
                   "whether it runs, then run again: the runs stored so far "
                   "are kept",
                   db->path, pg->message);
  size_t i = 0;
  while (!pg_state_is(pg, remedies[i].state))
    i++;
  const char *remedy = remedies[i].remedy, *at = strstr(remedy, "%s");
  return err_set(err, "%s: %.*s%s%s", db->path, (int)(at - remedy), remedy,
                 pg->message, at + 2);
}

// --- transactions ----------------------------------------------------------

static bool postgres_in_transaction(const Db *db) {
  return pg_of(db)->in_transaction;
}

static int tell(Db *db, const char *sql) {
  PgDb *pg = pg_of(db);
  if (pg->lost || pg_collect(pg))
    return -1;
  PGresult *r = pg_ask(pg, sql);
  PQclear(r);
  return r ? 0 : -1;
}

static int begin_once(Db *db, TxKind kind) {
  static const char *const locks[] = {[TX_ALONE] = "pg_advisory_xact_lock",
                                      [TX_ADD_RUNS] =
                                          "pg_advisory_xact_lock_shared"};
  char sql[128];
  if (kind == TX_READ)
    snprintf(sql, sizeof sql,
             "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
  else
    snprintf(sql, sizeof sql, "BEGIN; SELECT %s(%d, 0)", locks[kind],
             pg_of(db)->lock_class);
  int rc = tell(db, sql);
  pg_of(db)->in_transaction = !rc;
  if (rc)
    tell(db, "ROLLBACK"); // the lock may be what failed
  return rc;
}

// Nothing is lost yet if the connection is: another one will do.
static int postgres_begin(Db *db, TxKind kind, Err *err) {
  PgDb *pg = pg_of(db);
  int rc = begin_once(db, kind);
  if (rc && pg->lost && pg_reopen(db, clock_now() + 10))
    rc = begin_once(db, kind);
  return rc ? db_fail(db, err) : 0;
}

static int postgres_commit(Db *db, Err *err) {
  if (tell(db, "COMMIT"))
    return db_fail(db, err);
  pg_of(db)->in_transaction = false;
  pg_of(db)->conflicts = 0;
  return 0;
}

// The error that led here is kept.
static void postgres_rollback(Db *db) {
  PgDb *pg = pg_of(db);
  if (!pg->lost && !pg->queue_fails)
    pg_collect(pg);
  if (!pg->lost)
    PQclear(PQexec(pg->conn, "ROLLBACK"));
  pg->in_transaction = pg->queue_fails = false;
}

// Two transactions that got in each other's way: one waits for the other, or
// both added a run of the same test.
static bool is_conflict(const PgDb *pg) {
  return pg_state_is(pg, "40001") || pg_state_is(pg, "40P01") ||
         pg_state_is(pg, "23505");
}

static bool postgres_again(Db *db, double give_up) {
  PgDb *pg = pg_of(db);
  if (pg->lost)
    return clock_now() < give_up && pg_reopen(db, give_up);
  return is_conflict(pg) && pg->conflicts++ < MOST_CONFLICTS;
}

// --- schema and housekeeping -----------------------------------------------

static int postgres_exec(Db *db, const char *sql, Err *err) {
  char *text = dialect_postgres(sql);
  int rc = tell(db, text);
  free(text);
  return rc ? db_fail(db, err) : 0;
}

static int postgres_new_ids(Db *db, const char *table, size_t n, int64_t *ids,
                            Err *err) {
  DbQuery q;
  if (query_start(&q, db,
                  "SELECT nextval(pg_get_serial_sequence(?, 'id'))"
                  " FROM generate_series(1, ?)",
                  VALUES(v_text(table), v_int((int64_t)n)), err))
    return -1;
  int rc = 0;
  for (size_t i = 0; i < n && (rc = query_next(&q, err)) > 0; i++)
    ids[i] = query_int(&q, 0);
  query_end(&q);
  return rc < 0 ? -1 : 0;
}

static int postgres_tables(Db *db, int64_t *all, bool *meta, Err *err) {
  DbQuery q;
  if (query_start(&q, db,
                  "SELECT count(*), count(*) FILTER (WHERE relname = 'meta')"
                  " FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace"
                  " = (SELECT oid FROM pg_namespace"
                  " WHERE nspname = current_schema())",
                  NULL, err))
    return -1;
  int rc = query_next(&q, err);
  *all = rc > 0 ? query_int(&q, 0) : 0;
  *meta = rc > 0 && query_int(&q, 1) > 0;
  query_end(&q);
  return rc < 0 ? -1 : 0;
}

// Makes the schema. Another process may do so at the same time.
static int postgres_share(Db *db, Err *err) {
  PgDb *pg = pg_of(db);
  PGresult *r = pg_ask(pg, "SELECT current_schema() IS NULL");
  if (!r)
    return db_fail(db, err);
  bool missing = PQgetvalue(r, 0, 0)[0] == 't';
  PQclear(r);
  if (!missing)
    return 0;
  char *sql = mem_printf("CREATE SCHEMA IF NOT EXISTS %s", pg->schema);
  int rc = tell(db, sql);
  free(sql);
  return rc && !pg_state_is(pg, "23505") ? db_fail(db, err) : 0;
}

// "VACUUM (ANALYZE) a, b" for the tables of our schema; NULL: there are none.
static char *vacuum_text(PgDb *pg) {
  PGresult *r =
      pg_ask(pg, "SELECT 'VACUUM (ANALYZE) ' || string_agg(relname, ', ')"
                 " FROM pg_class WHERE relkind = 'r' AND relnamespace ="
                 " (SELECT oid FROM pg_namespace"
                 " WHERE nspname = current_schema())");
  char *sql =
      r && !PQgetisnull(r, 0, 0) ? mem_strdup(PQgetvalue(r, 0, 0)) : NULL;
  PQclear(r);
  return sql;
}

// Freed rows make room for new ones; nobody has to wait. The server's files
// stay as large as they are, except at their ends.
static int postgres_compact(Db *db, Err *err) {
  char *sql = vacuum_text(pg_of(db));
  int rc = sql ? tell(db, sql) : -1;
  free(sql);
  return rc ? db_fail(db, err) : 0;
}

static int postgres_size(Db *db, int64_t *bytes, Err *err) {
  DbQuery q;
  if (query_start(&q, db,
                  "SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0)"
                  " AS int8) FROM pg_class WHERE relkind = 'r'"
                  " AND relnamespace = (SELECT oid FROM pg_namespace"
                  " WHERE nspname = current_schema())",
                  NULL, err))
    return -1;
  int rc = query_next(&q, err);
  *bytes = rc > 0 ? query_int(&q, 0) : 0;
  query_end(&q);
  return rc < 0 ? -1 : 0;
}

// --- which process holds a session -----------------------------------------

// The answer of a function that says yes or no; `otherwise` if it fails.
static bool ask_lock(PgDb *pg, const char *function, int64_t session,
                     bool otherwise) {
  char sql[128];
  snprintf(sql, sizeof sql, "SELECT %s(%d, %d)", function, pg->lock_class,
           (int)session);
  if (pg->lost || pg_collect(pg))
    return otherwise;
  PGresult *r = pg_ask(pg, sql);
  bool yes = r ? PQgetvalue(r, 0, 0)[0] == 't' : otherwise;
  PQclear(r);
  return yes;
}

static size_t find_held(const PgDb *pg, int64_t session) {
  size_t i = 0;
  while (i < pg->held.len && pg->held.items[i] != session)
    i++;
  return i;
}

static bool postgres_hold(Db *db, int64_t session) {
  PgDb *pg = pg_of(db);
  if (find_held(pg, session) < pg->held.len)
    return true;
  // The server may take a moment to notice that a process was killed.
  struct timespec pause = {.tv_nsec = 20000000};
  int tries = 50;
  while (!ask_lock(pg, "pg_try_advisory_lock", session, true))
    if (!--tries || nanosleep(&pause, NULL))
      return false;
  array_push(&pg->held, session);
  return true;
}

static void postgres_let_go(Db *db, int64_t session) {
  PgDb *pg = pg_of(db);
  size_t i = find_held(pg, session);
  if (i == pg->held.len)
    return;
  pg->held.items[i] = pg->held.items[--pg->held.len];
  ask_lock(pg, "pg_advisory_unlock", session, true);
}

// A connection may take its own lock again, so taking it would not tell.
static bool postgres_is_held(Db *db, int64_t session) {
  char sql[256];
  PgDb *pg = pg_of(db);
  snprintf(sql, sizeof sql,
           "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"
           " AND database = (SELECT oid FROM pg_database WHERE datname ="
           " current_database()) AND classid = %u AND objid = %u"
           " AND objsubid = 2 AND pid <> pg_backend_pid())",
           (unsigned)pg->lock_class, (unsigned)session);
  if (pg->lost || pg_collect(pg))
    return true;
  PGresult *r = pg_ask(pg, sql);
  bool held = !r || PQgetvalue(r, 0, 0)[0] == 't';
  PQclear(r);
  return held;
}

const DbBackend db_postgres = {
    .server = true,
    .close = postgres_close,
    .needs_writing = postgres_needs_writing,
    .fail = postgres_fail,
    .exec = postgres_exec,
    .queue = pg_queue,
    .new_ids = postgres_new_ids,
    .in_transaction = postgres_in_transaction,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .again = postgres_again,
    .tables = postgres_tables,
    .share = postgres_share,
    .compact = postgres_compact,
    .size = postgres_size,
    .hold = postgres_hold,
    .let_go = postgres_let_go,
    .is_held = postgres_is_held,
    .start = pg_start,
    .each_of = pg_each_of,
    .next = pg_next,
    .end = pg_end,
    .type = pg_type,
    .integer = pg_integer,
    .real = pg_real,
    .text = pg_text,
    .blob = pg_blob,
};
