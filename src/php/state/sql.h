// A connection to MariaDB: statements, and rows as text.
//
//   Sql *db = sql_open(socket, err);
//   sql_run(db, err, "TRUNCATE TABLE %s", name);
//   MYSQL_RES *rows = sql_rows(db, err, "SHOW FULL TABLES FROM %s", schema);
//   for (MYSQL_ROW r; (r = mysql_fetch_row(rows));) ...
//   mysql_free_result(rows);
//
// Messages of a server that went away say so.
#ifndef CULPRIT_PHP_STATE_SQL_H
#define CULPRIT_PHP_STATE_SQL_H

#include <mysql.h>
#include <stdint.h>

#include "util/err.h"
#include "util/str.h"

typedef struct {
  MYSQL *db;
  char *socket;
} Sql;

Sql *sql_open(const char *socket, Err *err);
void sql_close(Sql *s);

// Statements whose rows do not matter, with ; between them: they go together.
// Ends at the first that fails.
int sql_run(Sql *s, Err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// All rows at once; NULL after a message.
MYSQL_RES *sql_rows(Sql *s, Err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// If there were several statements: the rows of the next one. All must be
// taken.
MYSQL_RES *sql_more(Sql *s, Err *err);
// Row by row, for large results; they must be fetched to the end. NULL after a
// message. sql_check afterwards says whether the end was one.
MYSQL_RES *sql_stream(Sql *s, Err *err, const char *text);
int sql_check(Sql *s, const char *text, Err *err);

void sql_quote(Str *out, const char *name);           // `name`
void sql_literal(Sql *s, Str *out, const char *text); // 'text'

#endif
