// The connection to a PostgreSQL server, shared by the files of that backend:
// pg_connection.c (opening it, and opening it again), pg_query.c (statements and
// values), db_postgres.c (everything else a database must do).
//
// Statements of a batch are sent without waiting for their results (libpq's
// pipeline mode); the next statement whose result is needed collects them all.
#ifndef CULPRIT_STORE_DB_PG_H
#define CULPRIT_STORE_DB_PG_H

#include <libpq-fe.h>

#include "store/db_backend.h"

typedef struct {
  const char *sql; // a literal: identified by its address
  char *text;      // in PostgreSQL's dialect
  bool prepared;   // on this connection
} PgStatement;

typedef struct {
  PGconn *conn;
  char *address; // may hold a password: never shown
  char *schema;  // where our tables are
  int lock_class;
  ARRAY(PgStatement) statements;
  ARRAY(int64_t) held; // sessions
  bool in_transaction, lost;
  size_t queued;    // statements whose results are not collected yet
  bool queue_fails; // one of them failed
  int conflicts;    // transactions in a row that met another one
  char state[6];    // SQLSTATE of the last error; "": none known
  char *message;    // what the server said
} PgDb;

static inline PgDb *pg_of(const Db *db) { return db->connection; }

// --- pg_connection.c -------------------------------------------------------

// Connects; the tables need not be there.
int pg_open(Db *db, const char *address, Err *err);
// Connects again, holding what was held before; tries until `give_up`.
bool pg_reopen(Db *db, double give_up);
// Keeps what a result or, with NULL, the connection complains about.
void pg_note_error(PgDb *pg, const PGresult *result);
bool pg_state_is(const PgDb *pg, const char *state); // or class: "08"
// Runs text of PostgreSQL's own dialect; NULL after an error, which is noted.
PGresult *pg_ask(PgDb *pg, const char *sql);

// --- pg_query.c ------------------------------------------------------------

// Collects the results of what is queued.
int pg_collect(PgDb *pg);
int pg_queue(Db *db, const char *sql, const Value *values, Err *err);
int pg_start(DbQuery *q, const char *sql, const Value *values, bool stream,
             Err *err);
int pg_next(DbQuery *q, Err *err);
void pg_end(DbQuery *q);
int pg_type(DbQuery *q, int col);
int64_t pg_integer(DbQuery *q, int col);
double pg_real(DbQuery *q, int col);
const char *pg_text(DbQuery *q, int col);
const void *pg_blob(DbQuery *q, int col, size_t *n);

#endif
