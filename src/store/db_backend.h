// What a database must be able to do to hold a store: db.h asks one of these
// for everything that differs between SQLite (db_sqlite.c) and PostgreSQL
// (db_postgres.c). The comments of db.h apply.
#ifndef CULPRIT_STORE_DB_BACKEND_H
#define CULPRIT_STORE_DB_BACKEND_H

#include "store/db.h"

typedef enum { TX_READ, TX_ALONE, TX_ADD_RUNS } TxKind;

struct DbBackend {
  bool server;
  void (*close)(Db *db);
  bool (*needs_writing)(const Db *db);
  int (*fail)(Db *db, Err *err);

  int (*exec)(Db *db, const char *sql, Err *err);
  int (*queue)(Db *db, const char *sql, const Value *values, Err *err);
  int (*new_ids)(Db *db, const char *table, size_t n, int64_t *ids, Err *err);

  bool (*in_transaction)(const Db *db);
  int (*begin)(Db *db, TxKind kind, Err *err);
  int (*commit)(Db *db, Err *err);
  void (*rollback)(Db *db);
  // Is it worth to repeat the transaction that just failed? Connects again if
  // that is needed, until `give_up` (util/clock.h).
  bool (*again)(Db *db, double give_up);

  int (*tables)(Db *db, int64_t *all, bool *meta, Err *err);
  int (*share)(Db *db, Err *err);
  int (*compact)(Db *db, Err *err);
  int (*size)(Db *db, int64_t *bytes, Err *err);

  bool (*hold)(Db *db, int64_t session);
  void (*let_go)(Db *db, int64_t session);
  bool (*is_held)(Db *db, int64_t session);

  // `stream`: rows are read one by one; no other statement until `end`.
  int (*start)(DbQuery *q, const char *sql, const Value *values, bool stream,
               Err *err);
  int (*next)(DbQuery *q, Err *err);
  void (*end)(DbQuery *q);

  // Of the current row: which kind of value (V_NULL to V_BLOB), and the value.
  int (*type)(DbQuery *q, int col);
  int64_t (*integer)(DbQuery *q, int col);
  double (*real)(DbQuery *q, int col);
  const char *(*text)(DbQuery *q, int col);
  const void *(*blob)(DbQuery *q, int col, size_t *n); // NULL if empty
};

extern const DbBackend db_sqlite, db_postgres;

#endif
