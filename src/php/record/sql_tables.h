// Which tables a query reads and writes, from its text. No parser: names behind
// FROM, JOIN, INTO, UPDATE and TABLE count, in quotation marks or not, with or
// without their database. A name that is none does no harm: tables only decide
// which request comes first.
//
//   UPDATE t SET ...                           writes t
//   DELETE FROM t                              reads and writes t
//   SELECT * FROM a x, b AS y                  reads a, b
//   INSERT INTO a SELECT x FROM b JOIN `c`     reads b, c; writes a
#ifndef CULPRIT_PHP_RECORD_SQL_TABLES_H
#define CULPRIT_PHP_RECORD_SQL_TABLES_H

#include <stdint.h>

// Sets of tables, by a hash of their names: one bit of 64 each.
typedef struct {
  uint64_t read, written;
} SqlTables;

// Adds those of the query.
void sql_tables_add(SqlTables *t, const char *sql);

#endif
