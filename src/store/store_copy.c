// Copying a session from a server into a file, to try something out.
#include <stdlib.h>
#include <string.h>

#include "store/internal.h"
#include "util/mem.h"

// What is written is read in the same order.
#define COPY(table, columns, marks, where)                                     \
  {"SELECT " columns " FROM " table " WHERE " where,                           \
   "INSERT INTO " table " (" columns ") VALUES (" marks ")", table}

#define RUNS "run IN (SELECT id FROM run WHERE session = ?)"
#define UNITS "unit IN (SELECT unit FROM session_unit WHERE session = ?)"

// A table after those that it refers to.
static const struct {
  const char *select, *insert, *table;
} copies[] = {
    COPY("session",
         "id, key, command, cwd, started, finished, entities, revision, close,"
         " project, root",
         "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?", "id = ?"),
    COPY("unit", "id, hash, name, entities, standings", "?, ?, ?, ?, ?",
         "id IN (SELECT unit FROM session_unit WHERE session = ?)"),
    COPY("unit_source", "unit, n, path", "?, ?, ?", UNITS),
    COPY("entity",
         "unit, n, kind, source, line, col_lo, col_hi, function, idx, from_,"
         " to_, name, text",
         "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?", UNITS),
    COPY("session_source", "session, n, path, hash", "?, ?, ?, ?",
         "session = ?"),
    COPY("session_unit", "session, n, unit, ids", "?, ?, ?, ?", "session = ?"),
    COPY("run",
         "id, session, test, command, verdict, status, seconds, processes,"
         " imprecise, note, close, wrong",
         "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?", "session = ?"),
    COPY("failure", "id, session, signature, kind", "?, ?, ?, ?",
         "session = ?"),
    COPY("run_failure", "run, n, failure, message, place, excerpt, output",
         "?, ?, ?, ?, ?, ?, ?", RUNS),
    COPY("spectrum", "run, kind, hits", "?, ?, ?", RUNS),
    COPY("counts", "run, counts", "?, ?", RUNS),
    COPY("death", "run, n, file, line, function, how, exact, callers, turns",
         "?, ?, ?, ?, ?, ?, ?, ?, ?", RUNS),
    COPY("failure_place",
         "run, failure, n, file, line, what, excerpt, statement, role",
         "?, ?, ?, ?, ?, ?, ?, ?, ?", RUNS),
};

enum { MOST_COLUMNS = 16 };

typedef struct {
  Db *to;
  const char *insert;
  size_t columns;
  Err *err;
  bool failed;
} RowCopy;

static void copy_row(void *ctx, DbQuery *q) {
  RowCopy *c = ctx;
  Value values[MOST_COLUMNS + 1];
  if (c->failed)
    return;
  for (size_t i = 0; i < c->columns; i++)
    values[i] = query_value(q, (int)i);
  values[c->columns] = (Value){.type = V_END};
  c->failed = db_run(c->to, c->insert, values, c->err);
}

static size_t count_marks(const char *insert) {
  size_t n = 0;
  while ((insert = strchr(insert, '?')))
    n++, insert++;
  return n;
}

static int copy_tables(Store *s, int64_t session, Store *to, Err *err) {
  for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
    RowCopy c = {&to->db, copies[i].insert, count_marks(copies[i].insert), err,
                 false};
    if (query_each(&s->db, copies[i].select, VALUES(v_int(session)),
                   copies[i].table, copy_row, &c, err) ||
        c.failed)
      return -1;
  }
  return 0;
}

static int copy_session(Store *s, int64_t session, Store *to, Err *err) {
  if (store_bulk_begin(to, err))
    return -1;
  int rc = db_begin_read(&s->db, err);
  if (!rc) {
    rc = copy_tables(s, session, to, err);
    db_rollback(&s->db); // only read
  }
  Err ignored;
  return store_bulk_end(to, !rc, rc ? &ignored : err) || rc ? -1 : 0;
}

static int copy_file(Store *s, const char *dir, Err *err) {
  char *path = mem_printf("%s/store.db", dir);
  int rc = db_run(&s->db, "VACUUM INTO ?", VALUES(v_text(path)), err);
  free(path);
  return rc;
}

int store_copy(Store *s, int64_t session, const char *dir, Err *err) {
  Store *to = NULL;
  if (store_flush(s, err))
    return -1;
  if (!db_is_server(&s->db))
    return copy_file(s, dir, err);
  int rc = store_open(&to, dir, STORE_CREATE, err);
  if (!rc)
    rc = copy_session(s, session, to, err);
  store_close(to);
  return rc;
}
