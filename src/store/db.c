// A thin layer over SQLite: see db.h.
#include "store/db.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { BUSY_SECONDS = 30 };

static int configure(Db *db, Err *err) {
  sqlite3_extended_result_codes(db->handle, 1);
  sqlite3_busy_timeout(db->handle, BUSY_SECONDS * 1000);
  // The file may be hostile or damaged: no SQL from it, no trust in its pages.
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
  // NORMAL: after a power failure the last runs may be missing, but the file
  // is sound. secure_delete, on in Debian, would overwrite what prune frees.
  return db_exec(db,
                 "PRAGMA cell_size_check = ON;"
                 "PRAGMA foreign_keys = ON;"
                 "PRAGMA synchronous = NORMAL;"
                 "PRAGMA secure_delete = OFF",
                 err);
}

// Only a URI can say that a file is immutable.
static char *immutable_uri(const char *path) {
  Str uri = {0};
  str_add(&uri, "file:");
  for (const char *p = path; *p; p++)
    if (strchr("%?#", *p))
      str_addf(&uri, "%%%02X", (unsigned char)*p);
    else
      str_addc(&uri, *p);
  str_add(&uri, "?immutable=1");
  return str_take(&uri);
}

int db_open(Db *db, const char *path, DbMode mode, Err *err) {
  static const int flags[] = {
      [DB_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
      [DB_WRITE] = SQLITE_OPEN_READWRITE,
      [DB_READ] = SQLITE_OPEN_READONLY,
      [DB_IMMUTABLE] = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
  *db = (Db){.path = mem_strdup(path)};
  // Absolute, because SQLite would take "file:x" for a URI.
  char *full = path_absolute(path, NULL);
  char *name = mode == DB_IMMUTABLE ? immutable_uri(full) : mem_strdup(full);
  int rc = sqlite3_open_v2(name, &db->handle, flags[mode], NULL);
  free(full);
  free(name);
  if (rc != SQLITE_OK)
    return db_fail(db, err);
  return configure(db, err);
}

void db_close(Db *db) {
  for (size_t i = 0; i < db->prepared.len; i++)
    sqlite3_finalize(db->prepared.items[i].stmt);
  array_release(&db->prepared);
  int rc = sqlite3_close(db->handle);
  assert(rc == SQLITE_OK);
  (void)rc;
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

static int fail_full(const Db *db, Err *err) {
  return err_set(err,
                 "%s: no space left to write to it; make room and run again: "
                 "the runs stored so far are kept",
                 db->path);
}

static int fail_io(const Db *db, Err *err) {
  int number = sqlite3_system_errno(db->handle); // often 0: not known
  if (number == ENOSPC || number == EDQUOT)
    return fail_full(db, err);
  return err_set(err,
                 "%s: %s%s%s; see whether its disk is full or failing, then "
                 "run again: the runs stored so far are kept",
                 db->path, sqlite3_errmsg(db->handle), number ? ": " : "",
                 number ? strerror(number) : "");
}

bool db_needs_writing(const Db *db) {
  int code = db->handle ? sqlite3_errcode(db->handle) & 0xff : SQLITE_OK;
  return code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
}

// SQLite's number may be that of a file beside the store: what is wrong with
// the store itself comes first.
static int fail_system(const Db *db, Err *err) {
  int number = sqlite3_system_errno(db->handle);
  if (faccessat(AT_FDCWD, db->path, R_OK, AT_EACCESS))
    return err_set(err, "%s: %s", db->path, strerror(errno));
  if (number == ENOENT)
    return err_set(err,
                   "%s: it is there, but files beside it cannot be made; see "
                   "the permissions of its directory, or choose another with "
                   "--store",
                   db->path);
  return err_set(err, "%s: %s%s%s", db->path, sqlite3_errmsg(db->handle),
                 number ? ": " : "", number ? strerror(number) : "");
}

int db_fail(Db *db, Err *err) {
  if (!db->handle)
    return err_set(err, "%s: out of memory", db->path);
  switch (sqlite3_errcode(db->handle) & 0xff) {
  case SQLITE_FULL:
    return fail_full(db, err);
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return err_set(err,
                   "%s: another process has kept it locked for %d s; end that "
                   "one or wait for it, then run again",
                   db->path, BUSY_SECONDS);
  case SQLITE_READONLY:
    return err_set(err,
                   "%s: not writable; see its permissions and those of "
                   "its directory, or choose another with --store",
                   db->path);
  case SQLITE_IOERR:
    return fail_io(db, err);
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
  case SQLITE_AUTH:
  case SQLITE_NOMEM:
  case SQLITE_NOLFS:
  case SQLITE_PROTOCOL:
  case SQLITE_INTERRUPT:
    return fail_system(db, err);
  case SQLITE_CONSTRAINT:
    // Only a session can vanish while its runs are still being written.
    if (sqlite3_extended_errcode(db->handle) == SQLITE_CONSTRAINT_FOREIGNKEY)
      return err_set(err,
                     "%s: the session was removed while it was being written; "
                     "run again",
                     db->path);
    return db_corrupt(db, err, "%s", sqlite3_errmsg(db->handle));
  default: // the file does not hold what this version wrote
    return db_corrupt(db, err, "%s", sqlite3_errmsg(db->handle));
  }
}

// --- statements ------------------------------------------------------------

int db_exec(Db *db, const char *sql, Err *err) {
  int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? 0 : db_fail(db, err);
}

static sqlite3_stmt *prepare(Db *db, const char *sql, Err *err) {
  for (size_t i = 0; i < db->prepared.len; i++)
    if (db->prepared.items[i].sql == sql)
      return db->prepared.items[i].stmt;
  sqlite3_stmt *stmt;
  if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt,
                         NULL) != SQLITE_OK) {
    db_fail(db, err);
    return NULL;
  }
  array_push(&db->prepared, (Prepared){sql, stmt});
  return stmt;
}

static int bind_one(sqlite3_stmt *stmt, int i, const Value *v) {
  switch (v->type) {
  case V_INT:
    return sqlite3_bind_int64(stmt, i, v->i);
  case V_REAL:
    return sqlite3_bind_double(stmt, i, v->r);
  case V_TEXT:
    return sqlite3_bind_text(stmt, i, v->p, -1, SQLITE_STATIC);
  case V_BLOB:
    if (!v->n) // no NULL pointer, which would be NULL
      return sqlite3_bind_zeroblob(stmt, i, 0);
    return sqlite3_bind_blob64(stmt, i, v->p, v->n, SQLITE_STATIC);
  default:
    return sqlite3_bind_null(stmt, i);
  }
}

int query_start(DbQuery *q, Db *db, const char *sql, const Value *values,
                Err *err) {
  *q = (DbQuery){.db = db, .stmt = prepare(db, sql, err)};
  if (!q->stmt)
    return -1;
  assert(!sqlite3_stmt_busy(q->stmt));
  for (int i = 1; values && values->type != V_END; i++, values++) {
    if (bind_one(q->stmt, i, values) != SQLITE_OK) {
      db_fail(db, err);
      query_end(q);
      return -1;
    }
  }
  return 0;
}

int query_next(DbQuery *q, Err *err) {
  q->bad = false;
  switch (sqlite3_step(q->stmt)) {
  case SQLITE_ROW:
    return 1;
  case SQLITE_DONE:
    return 0;
  default:
    return db_fail(q->db, err);
  }
}

void query_end(DbQuery *q) {
  sqlite3_reset(q->stmt);
  sqlite3_clear_bindings(q->stmt);
  q->stmt = NULL;
}

int query_each(Db *db, const char *sql, const Value *values, const char *table,
               EachRow *read, void *ctx, Err *err) {
  DbQuery q;
  int rc;
  if (query_start(&q, db, sql, values, err))
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

int db_run(Db *db, const char *sql, const Value *values, Err *err) {
  DbQuery q;
  if (query_start(&q, db, sql, values, err))
    return -1;
  int rc = query_next(&q, err);
  assert(rc <= 0);
  query_end(&q);
  return rc;
}

int db_begin_write(Db *db, Err *err) {
  if (db->bulk)
    return sqlite3_get_autocommit(db->handle)
               ? err_set(err, "%s: nothing was stored", db->path)
               : 0;
  return db_run(db, "BEGIN IMMEDIATE", NULL, err);
}

int db_begin_read(Db *db, Err *err) { return db_run(db, "BEGIN", NULL, err); }

int db_commit(Db *db, Err *err) {
  if (db->bulk)
    return 0;
  if (!db_run(db, "COMMIT", NULL, err))
    return 0;
  db_rollback(db);
  return -1;
}

void db_rollback(Db *db) {
  if (!sqlite3_get_autocommit(db->handle)) // some errors rolled back already
    sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

// --- what comes out --------------------------------------------------------

int query_corrupt(const DbQuery *q, const char *table, Err *err) {
  return db_corrupt(q->db, err, "impossible value in table %s", table);
}

static bool has_type(DbQuery *q, int col, int type) {
  if (sqlite3_column_type(q->stmt, col) == type)
    return true;
  q->bad = true;
  return false;
}

int64_t query_int(DbQuery *q, int col) {
  return has_type(q, col, SQLITE_INTEGER) ? sqlite3_column_int64(q->stmt, col)
                                          : 0;
}

uint32_t query_u32(DbQuery *q, int col) {
  int64_t i = query_int(q, col);
  if (i >= 0 && i <= UINT32_MAX)
    return (uint32_t)i;
  q->bad = true;
  return 0;
}

uint32_t query_u32_or(DbQuery *q, int col, uint32_t null) {
  if (sqlite3_column_type(q->stmt, col) == SQLITE_NULL)
    return null;
  return query_u32(q, col);
}

double query_real(DbQuery *q, int col) {
  double r =
      has_type(q, col, SQLITE_FLOAT) ? sqlite3_column_double(q->stmt, col) : 0;
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
  const char *s = has_type(q, col, SQLITE_TEXT)
                      ? (const char *)sqlite3_column_text(q->stmt, col)
                      : "";
  if (s)
    return s;
  q->bad = true;
  return "";
}

const char *query_text_null(DbQuery *q, int col) {
  if (sqlite3_column_type(q->stmt, col) == SQLITE_NULL)
    return NULL;
  return query_text(q, col);
}

const void *query_blob(DbQuery *q, int col, size_t *n) {
  *n = 0;
  if (!has_type(q, col, SQLITE_BLOB))
    return "";
  const void *p = sqlite3_column_blob(q->stmt, col); // NULL if empty
  *n = p ? (size_t)sqlite3_column_bytes(q->stmt, col) : 0;
  return p ? p : "";
}
