// A thin layer over SQLite and PostgreSQL, for this folder only: statements are
// prepared once, parameters are typed, the database's errors become sentences
// for the user, and every value that comes out is checked before it is believed.
//
// Statements are written once, in SQLite's dialect with `?` for parameters;
// db_dialect.h translates them. What a statement may use is what both know:
// ON CONFLICT DO NOTHING, RETURNING, FILTER, window functions.
//
//   DbQuery q;
//   if (query_start(&q, db, "SELECT line FROM entity WHERE unit = ?",
//                   VALUES(v_int(unit)), err))
//     return -1;
//   int rc;
//   while ((rc = query_next(&q, err)) > 0) {
//     uint32_t line = query_u32(&q, 0);
//     if (q.bad) {
//       rc = query_corrupt(&q, "entity", err);
//       break;
//     }
//     ...
//   }
//   query_end(&q);
//   return rc;
#ifndef CULPRIT_STORE_DB_H
#define CULPRIT_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"
#include "util/err.h"

typedef struct DbBackend DbBackend; // db_backend.h

typedef struct {
  const DbBackend *backend;
  void *connection; // the backend's
  char *path;       // as shown to the user
  bool bulk;        // one large transaction: those below are part of it
} Db;

typedef enum {
  DB_CREATE,   // made if it is not there
  DB_WRITE,    // must be there
  DB_READ,     // nothing is written; its write-ahead log is taken into account
  DB_IMMUTABLE // nor locked: no other process writes to it, and it has no such
               // log
} DbMode;

// Opens the file and sets the connection up. Does not look into the file yet.
int db_open(Db *db, const char *path, DbMode mode, Err *err);
// Connects to a server (store_address.h). Does not look into the database yet.
int db_connect(Db *db, const char *address, Err *err);
bool db_is_server(const Db *db);
const char *db_schema(const Db *db); // of a server: where the tables are
// Can it not be opened or read because we may not write beside it?
bool db_needs_writing(const Db *db);
void db_close(Db *db);

// --- errors: both set `err` and return -1 ----------------------------------

// What the database just complained about, with the remedy.
int db_fail(Db *db, Err *err);
// The file holds what this program never writes.
int db_corrupt(const Db *db, Err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

// --- parameters ------------------------------------------------------------

typedef struct {
  enum { V_END, V_NULL, V_INT, V_REAL, V_TEXT, V_BLOB } type;
  int64_t i;
  double r;
  const void *p; // must live until the statement is done
  size_t n;
} Value;

#define VALUES(...) ((const Value[]){__VA_ARGS__, {.type = V_END}})

static inline Value v_int(int64_t i) { return (Value){.type = V_INT, .i = i}; }
static inline Value v_real(double r) { return (Value){.type = V_REAL, .r = r}; }
static inline Value v_text(const char *s) { // NULL is SQL's NULL
  return (Value){.type = s ? V_TEXT : V_NULL, .p = s};
}
static inline Value v_blob(const void *p, size_t n) {
  return (Value){.type = V_BLOB, .p = p, .n = n};
}

// --- statements ------------------------------------------------------------

// Runs literals without parameters or results.
int db_exec(Db *db, const char *sql, Err *err);
// Runs one statement, a literal; `values` may be NULL.
int db_run(Db *db, const char *sql, const Value *values, Err *err);
// The same inside a transaction, where nobody asks for its result: it may be
// done, and fail, with a later statement, at the latest in db_commit. A server
// gets many of these at once.
int db_queue(Db *db, const char *sql, const Value *values, Err *err);
// Runs an INSERT ... RETURNING id.
int db_insert(Db *db, const char *sql, const Value *values, int64_t *id,
              Err *err);
// Numbers for `n` new rows of a table, inside a write transaction.
int db_new_ids(Db *db, const char *table, size_t n, int64_t *ids, Err *err);

// --- transactions ----------------------------------------------------------

typedef enum {
  DB_ALONE,    // no other process writes meanwhile; can wait for it, but never
               // has to give up half-way
  DB_ADD_RUNS, // others may add runs at the same time, where the database can
} DbLock;

// Runs `work` in one transaction: all of it is stored, or nothing. If the
// connection to a server is lost, connects again and repeats `work`, for up to
// a minute: so it must be able to run twice.
typedef int DbWork(void *ctx, Err *err);
int db_write(Db *db, DbLock lock, DbWork *work, void *ctx, Err *err);

// The same for work that only reads, in one consistent view.
int db_read(Db *db, DbWork *work, void *ctx, Err *err);

int db_begin_write(Db *db, Err *err); // DB_ALONE, without repetition
int db_begin_read(Db *db, Err *err);  // one consistent view for many queries
int db_commit(Db *db, Err *err);
void db_rollback(Db *db);

// --- what the schema and housekeeping ask ----------------------------------

// How many tables there are, and is one called `meta`?
int db_tables(Db *db, int64_t *all, bool *meta, Err *err);
// Readers and a writer side by side, from now on.
int db_share(Db *db, Err *err);
// Gives freed space back, if nobody else needs it now.
int db_compact(Db *db, Err *err);
int db_size(Db *db, int64_t *bytes, Err *err);

// Marks a session as being worked on until let go or until this process ends,
// however it ends; false: another one is at work on it.
bool db_hold(Db *db, int64_t session);
void db_let_go(Db *db, int64_t session);
bool db_is_held(Db *db, int64_t session); // by another one

// --- queries ---------------------------------------------------------------

typedef struct {
  Db *db;
  void *stmt; // the backend's
  bool bad;   // a value read from the current row was not what it should be
} DbQuery;

int query_start(DbQuery *q, Db *db, const char *sql, const Value *values,
                Err *err);
int query_next(DbQuery *q, Err *err); // 1: a row; 0: no more; -1: error
void query_end(DbQuery *q);
int query_corrupt(const DbQuery *q, const char *table, Err *err);
// Calls `read` for each row, without having all rows in memory; it must not use
// the Db. It sets q->bad for a row that cannot be right: then the store is
// corrupt, in this table.
typedef void EachRow(void *ctx, DbQuery *q);
int query_each(Db *db, const char *sql, const Value *values, const char *table,
               EachRow *read, void *ctx, Err *err);

// Runs a query once for each of `n` lists of values, and calls `row` for each of
// its rows, in this order; a server gets many at a time. `row` must not use the
// Db, and sets q->bad as EachRow does.
typedef void FillValues(void *ctx, size_t i, Value *values); // up to FILL_MAX
enum { FILL_MAX = 4 };
typedef void RowOf(void *ctx, size_t i, DbQuery *q);
int query_each_of(Db *db, const char *sql, size_t n, FillValues *fill,
                  const char *table, RowOf *row, void *ctx, Err *err);

// Columns from 0. Text and blobs live until the next query_next or query_end.
int64_t query_int(DbQuery *q, int col);
uint32_t query_u32(DbQuery *q, int col);
uint32_t query_u32_or(DbQuery *q, int col, uint32_t null);
double query_real(DbQuery *q, int col); // finite
bool query_bool(DbQuery *q, int col);
bool query_null(DbQuery *q, int col);
const char *query_text(DbQuery *q, int col);      // never NULL
const char *query_text_null(DbQuery *q, int col); // NULL for NULL
const void *query_blob(DbQuery *q, int col, size_t *n);
Value query_value(DbQuery *q, int col); // of any type

#endif
