// SQLite as the database: one file, and beside it a file to lock sessions in.
//
// Whoever works on session N holds a lock on byte N of the file store.lock. The
// kernel drops it when the process ends, however it ends. Locks belong to the
// open file (F_OFD_SETLK), not to the process: two Stores in one process exclude
// each other too, and a test program, which is started with the descriptor
// closed, cannot keep a session alive. On a file system without locks every
// session looks abandoned.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db_backend.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { BUSY_SECONDS = 30 };

typedef struct {
  const char *sql; // a literal: identified by its address
  sqlite3_stmt *stmt;
} Prepared;

typedef struct {
  sqlite3 *handle;
  ARRAY(Prepared) prepared;
  char *lock_path;
  int lock_fd; // -1: not open, or this file system gives no locks
} SqliteDb;

static SqliteDb *own(const Db *db) { return db->connection; }
static sqlite3 *handle_of(const Db *db) { return own(db)->handle; }
static sqlite3_stmt *stmt_of(const DbQuery *q) { return q->stmt; }

static int sqlite_exec(Db *db, const char *sql, Err *err) {
  int rc = sqlite3_exec(handle_of(db), sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? 0 : db_fail(db, err);
}

static int configure(Db *db, Err *err) {
  sqlite3_extended_result_codes(handle_of(db), 1);
  sqlite3_busy_timeout(handle_of(db), BUSY_SECONDS * 1000);
  // The file may be hostile or damaged: no SQL from it, no trust in its pages.
  sqlite3_db_config(handle_of(db), SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
  sqlite3_db_config(handle_of(db), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
                    (int *)NULL);
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

static char *lock_beside(const char *path) {
  size_t dir = (size_t)(path_base(path) - path);
  return mem_printf("%.*sstore.lock", (int)dir, path);
}

int db_open(Db *db, const char *path, DbMode mode, Err *err) {
  static const int flags[] = {
      [DB_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
      [DB_WRITE] = SQLITE_OPEN_READWRITE,
      [DB_READ] = SQLITE_OPEN_READONLY,
      [DB_IMMUTABLE] = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
  *db = (Db){.backend = &db_sqlite, .path = mem_strdup(path)};
  db->connection = mem_new(SqliteDb);
  own(db)->lock_fd = -1;
  own(db)->lock_path = lock_beside(path);
  // Absolute, because SQLite would take "file:x" for a URI.
  char *full = path_absolute(path, NULL);
  char *name = mode == DB_IMMUTABLE ? immutable_uri(full) : mem_strdup(full);
  int rc = sqlite3_open_v2(name, &own(db)->handle, flags[mode], NULL);
  free(full);
  free(name);
  if (rc != SQLITE_OK)
    return db_fail(db, err);
  return configure(db, err);
}

static void sqlite_close(Db *db) {
  SqliteDb *s = own(db);
  for (size_t i = 0; i < s->prepared.len; i++)
    sqlite3_finalize(s->prepared.items[i].stmt);
  array_release(&s->prepared);
  int rc = sqlite3_close(s->handle);
  assert(rc == SQLITE_OK);
  (void)rc;
  if (s->lock_fd >= 0)
    close(s->lock_fd);
  free(s->lock_path);
  free(s);
}

// --- errors ----------------------------------------------------------------

static int fail_full(const Db *db, Err *err) {
  return err_set(err,
                 "%s: no space left to write to it; make room and run again: "
                 "the runs stored so far are kept",
                 db->path);
}

static int fail_io(const Db *db, Err *err) {
  int number = sqlite3_system_errno(handle_of(db)); // often 0: not known
  if (number == ENOSPC || number == EDQUOT)
    return fail_full(db, err);
  return err_set(err,
                 "%s: %s%s%s; see whether its disk is full or failing, then "
                 "run again: the runs stored so far are kept",
                 db->path, sqlite3_errmsg(handle_of(db)), number ? ": " : "",
                 number ? strerror(number) : "");
}

static bool sqlite_needs_writing(const Db *db) {
  int code = handle_of(db) ? sqlite3_errcode(handle_of(db)) & 0xff : SQLITE_OK;
  return code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
}

// SQLite's number may be that of a file beside the store: what is wrong with
// the store itself comes first.
static int fail_system(const Db *db, Err *err) {
  int number = sqlite3_system_errno(handle_of(db));
  if (faccessat(AT_FDCWD, db->path, R_OK, AT_EACCESS))
    return err_set(err, "%s: %s", db->path, strerror(errno));
  if (number == ENOENT)
    return err_set(err,
                   "%s: it is there, but files beside it cannot be made; see "
                   "the permissions of its directory, or choose another with "
                   "--store",
                   db->path);
  return err_set(err, "%s: %s%s%s", db->path, sqlite3_errmsg(handle_of(db)),
                 number ? ": " : "", number ? strerror(number) : "");
}

static int sqlite_fail(Db *db, Err *err) {
  if (!handle_of(db))
    return err_set(err, "%s: out of memory", db->path);
  switch (sqlite3_errcode(handle_of(db)) & 0xff) {
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
    if (sqlite3_extended_errcode(handle_of(db)) == SQLITE_CONSTRAINT_FOREIGNKEY)
      return err_set(err,
                     "%s: the session was removed while it was being written; "
                     "run again",
                     db->path);
    return db_corrupt(db, err, "%s", sqlite3_errmsg(handle_of(db)));
  default: // the file does not hold what this version wrote
    return db_corrupt(db, err, "%s", sqlite3_errmsg(handle_of(db)));
  }
}

// --- statements ------------------------------------------------------------

static sqlite3_stmt *prepare(Db *db, const char *sql, Err *err) {
  for (size_t i = 0; i < own(db)->prepared.len; i++)
    if (own(db)->prepared.items[i].sql == sql)
      return own(db)->prepared.items[i].stmt;
  sqlite3_stmt *stmt;
  if (sqlite3_prepare_v3(handle_of(db), sql, -1, SQLITE_PREPARE_PERSISTENT,
                         &stmt, NULL) != SQLITE_OK) {
    db_fail(db, err);
    return NULL;
  }
  array_push(&own(db)->prepared, (Prepared){sql, stmt});
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

static void sqlite_end(DbQuery *q) {
  sqlite3_reset(stmt_of(q));
  sqlite3_clear_bindings(stmt_of(q));
  q->stmt = NULL;
}

static int sqlite_start(DbQuery *q, const char *sql, const Value *values,
                        bool stream, Err *err) {
  (void)stream; // it always does
  q->stmt = prepare(q->db, sql, err);
  if (!q->stmt)
    return -1;
  assert(!sqlite3_stmt_busy(stmt_of(q)));
  for (int i = 1; values && values->type != V_END; i++, values++) {
    if (bind_one(stmt_of(q), i, values) != SQLITE_OK) {
      db_fail(q->db, err);
      sqlite_end(q);
      return -1;
    }
  }
  return 0;
}

static int sqlite_next(DbQuery *q, Err *err) {
  switch (sqlite3_step(stmt_of(q))) {
  case SQLITE_ROW:
    return 1;
  case SQLITE_DONE:
    return 0;
  default:
    return db_fail(q->db, err);
  }
}

// A table that never had a row is not in sqlite_sequence.
static int sqlite_new_ids(Db *db, const char *table, size_t n, int64_t *ids,
                          Err *err) {
  DbQuery q;
  if (query_start(&q, db, "SELECT seq FROM sqlite_sequence WHERE name = ?",
                  VALUES(v_text(table)), err))
    return -1;
  int rc = query_next(&q, err);
  int64_t last = rc > 0 ? query_int(&q, 0) : 0;
  if (rc > 0 && (q.bad || last < 0 || last > INT64_MAX / 2))
    rc = query_corrupt(&q, "sqlite_sequence", err);
  query_end(&q);
  for (size_t i = 0; i < n; i++)
    ids[i] = last + 1 + (int64_t)i;
  return rc < 0 ? -1 : 0;
}

// --- transactions ----------------------------------------------------------

static bool sqlite_in_transaction(const Db *db) {
  return !sqlite3_get_autocommit(handle_of(db));
}

// A write transaction takes the write lock at once.
static int sqlite_begin(Db *db, TxKind kind, Err *err) {
  if (kind == TX_READ)
    return db_run(db, "BEGIN", NULL, err);
  return db_run(db, "BEGIN IMMEDIATE", NULL, err);
}

static int sqlite_commit(Db *db, Err *err) {
  return db_run(db, "COMMIT", NULL, err);
}

static void sqlite_rollback(Db *db) {
  if (sqlite_in_transaction(db)) // some errors rolled back already
    sqlite3_exec(handle_of(db), "ROLLBACK", NULL, NULL, NULL);
}

static bool sqlite_again(Db *db, double give_up) {
  (void)db;
  (void)give_up;
  return false;
}

// --- schema and housekeeping -----------------------------------------------

static int sqlite_tables(Db *db, int64_t *all, bool *meta, Err *err) {
  DbQuery q;
  if (query_start(&q, db,
                  "SELECT count(*), count(*) FILTER (WHERE name = 'meta')"
                  " FROM sqlite_schema",
                  NULL, err))
    return -1;
  int rc = query_next(&q, err);
  *all = rc > 0 ? query_int(&q, 0) : 0;
  *meta = rc > 0 && query_int(&q, 1) > 0;
  query_end(&q);
  return rc < 0 ? -1 : 0;
}

// The mode stays in the file. Changing it needs the file alone, and SQLite does
// not wait for that by itself. On a file system that cannot do it, the store
// works without: slower, as safe.
static int sqlite_share(Db *db, Err *err) {
  double give_up = clock_now() + 10;
  for (;;) {
    int rc = sqlite3_exec(handle_of(db), "PRAGMA journal_mode = WAL", NULL,
                          NULL, NULL);
    if (rc == SQLITE_OK)
      return 0;
    if ((rc & 0xff) != SQLITE_BUSY || clock_now() > give_up)
      return db_fail(db, err);
    sqlite3_sleep(10);
  }
}

// Needs the store alone: while others use it the pages stay in the file, for
// the next runs to fill.
static int sqlite_compact(Db *db, Err *err) {
  int rc = sqlite3_exec(handle_of(db), "VACUUM", NULL, NULL, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_wal_checkpoint_v2(handle_of(db), NULL,
                                   SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY)
    return 0;
  return db_fail(db, err);
}

// The file itself and what has been written but not yet moved into it.
static int sqlite_size(Db *db, int64_t *bytes, Err *err) {
  static const char *const suffixes[] = {"", "-wal"};
  (void)err;
  *bytes = 0;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char *path = mem_printf("%s%s", db->path, suffixes[i]);
    struct stat st;
    if (!stat(path, &st))
      *bytes += st.st_size;
    free(path);
  }
  return 0;
}

// --- which process holds a session -----------------------------------------

static int lock_file(Db *db) {
  SqliteDb *s = own(db);
  if (s->lock_fd < 0)
    s->lock_fd = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  return s->lock_fd;
}

static struct flock byte_lock(int64_t session, short type) {
  return (struct flock){
      .l_type = type, .l_whence = SEEK_SET, .l_start = session, .l_len = 1};
}

static bool sqlite_hold(Db *db, int64_t session) {
  struct flock lock = byte_lock(session, F_WRLCK);
  return fcntl(lock_file(db), F_OFD_SETLK, &lock) == 0 ||
         (errno != EAGAIN && errno != EACCES);
}

static void sqlite_let_go(Db *db, int64_t session) {
  struct flock lock = byte_lock(session, F_UNLCK);
  fcntl(lock_file(db), F_OFD_SETLK, &lock);
}

static bool sqlite_is_held(Db *db, int64_t session) {
  struct flock lock = byte_lock(session, F_WRLCK);
  return fcntl(lock_file(db), F_OFD_GETLK, &lock) == 0 &&
         lock.l_type != F_UNLCK;
}

// --- what comes out --------------------------------------------------------

static int sqlite_type(DbQuery *q, int col) {
  switch (sqlite3_column_type(stmt_of(q), col)) {
  case SQLITE_INTEGER:
    return V_INT;
  case SQLITE_FLOAT:
    return V_REAL;
  case SQLITE_TEXT:
    return V_TEXT;
  case SQLITE_BLOB:
    return V_BLOB;
  default:
    return V_NULL;
  }
}

static int64_t sqlite_integer(DbQuery *q, int col) {
  return sqlite3_column_int64(stmt_of(q), col);
}

static double sqlite_real(DbQuery *q, int col) {
  return sqlite3_column_double(stmt_of(q), col);
}

static const char *sqlite_text(DbQuery *q, int col) {
  return (const char *)sqlite3_column_text(stmt_of(q), col);
}

static const void *sqlite_blob(DbQuery *q, int col, size_t *n) {
  const void *p = sqlite3_column_blob(stmt_of(q), col); // NULL if empty
  *n = p ? (size_t)sqlite3_column_bytes(stmt_of(q), col) : 0;
  return p;
}

const DbBackend db_sqlite = {
    .close = sqlite_close,
    .needs_writing = sqlite_needs_writing,
    .fail = sqlite_fail,
    .exec = sqlite_exec,
    .queue = db_run,
    .new_ids = sqlite_new_ids,
    .in_transaction = sqlite_in_transaction,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .again = sqlite_again,
    .tables = sqlite_tables,
    .share = sqlite_share,
    .compact = sqlite_compact,
    .size = sqlite_size,
    .hold = sqlite_hold,
    .let_go = sqlite_let_go,
    .is_held = sqlite_is_held,
    .start = sqlite_start,
    .next = sqlite_next,
    .end = sqlite_end,
    .type = sqlite_type,
    .integer = sqlite_integer,
    .real = sqlite_real,
    .text = sqlite_text,
    .blob = sqlite_blob,
};
