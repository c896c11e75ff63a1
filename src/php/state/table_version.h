// Definitions and contents of tables in MariaDB, each kept once. Part of
// state_tables.h.
//
// A definition is what SHOW CREATE TABLE says, without AUTO_INCREMENT, and the
// triggers. A version is a definition, a content, and AUTO_INCREMENT; its rows
// lie in table tN of the schema `saved`, where N is its number.
#ifndef CULPRIT_PHP_STATE_TABLE_VERSION_H
#define CULPRIT_PHP_STATE_TABLE_VERSION_H

#include <stdint.h>

#include "php/state/sql.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"

#define VERSION_NONE UINT32_MAX

typedef struct {
  const char *mode, *statement;
} Trigger;

typedef struct {
  const char *create;
  const char *columns; // those that can be written
  const char *hashed;  // the same, as they are read for hashing
  // A primary key of integers, and no column of an odd type: rows are restored
  // one by one. NULL: all or none.
  const char *key;      // its columns
  const char *first;    // the first of them
  const char *selected; // all columns: "s.`id`,s.`a`"
  const char *same_key; // "s.`id` = t.`id`"
  const char *same;     // and all else: "BINARY s.`a` <=> BINARY t.`a`"
  ARRAY(Trigger) triggers;
  bool rebuilt; // restored only by making it anew
  uint64_t digest;
} Definition;

typedef struct {
  uint32_t definition;
  uint64_t auto_increment, rows;
  uint64_t digest; // of all that: the same in every server
} TableVersion;

typedef struct {
  Arena arena;
  Hashmap definition_ids, version_ids;
  ARRAY(Definition) definitions;
  ARRAY(TableVersion) versions;
} TableVersions;

void versions_release(TableVersions *v);

// The definition that a table has now.
int versions_define(TableVersions *v, Sql *sql, const char *schema,
                    const char *name, const char *quoted, uint32_t *id,
                    Err *err);
// The version it holds now, copied into `saved` if it is a new one.
int versions_save(TableVersions *v, Sql *sql, const char *saved,
                  const char *quoted, uint32_t definition,
                  uint64_t auto_increment, uint32_t *id, Err *err);
// Makes the table what version `id` says, but for AUTO_INCREMENT. `definition`
// is what it has now; VERSION_NONE: unknown, or it is not there.
int versions_restore(TableVersions *v, Sql *sql, const char *saved,
                     const char *schema, const char *quoted,
                     uint32_t definition, uint64_t auto_increment, uint32_t id,
                     Err *err);

uint32_t versions_definition(const TableVersions *v, uint32_t id);
uint64_t versions_number(const TableVersions *v, uint32_t id); // AUTO_INCREMENT
uint64_t versions_digest(const TableVersions *v, uint32_t id);

#endif
