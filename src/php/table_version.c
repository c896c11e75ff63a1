// Definitions and contents of tables: see table_version.h.
#include "php/table_version.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "util/str.h"

// So many are deleted faster than a table is truncated, which makes and removes
// files.
enum { FEW_ROWS = 2000 };

void versions_release(Versions *v) {
  hashmap_release(&v->definition_ids);
  hashmap_release(&v->version_ids);
  for (size_t i = 0; i < v->definitions.len; i++)
    array_release(&v->definitions.items[i].triggers);
  array_release(&v->definitions);
  array_release(&v->versions);
  arena_release(&v->arena);
}

uint32_t versions_definition(const Versions *v, uint32_t id) {
  return v->versions.items[id].definition;
}

uint64_t versions_number(const Versions *v, uint32_t id) {
  return v->versions.items[id].auto_increment;
}

// --- definitions
// --------------------------------------------------------------

// ") ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT ..." is the last line or, if there
// are partitions, some line that begins with the parenthesis.
static void cut_number(char *create) {
  static const char word[] = " AUTO_INCREMENT=";
  char *options = NULL;
  for (char *p = create; (p = strstr(p, "\n) ")); p++)
    options = p;
  char *from = options ? strstr(options, word) : NULL;
  if (!from)
    return;
  char *to = from + strlen(word);
  to += strspn(to, "0123456789");
  memmove(from, to, strlen(to) + 1);
}

static int read_create(Versions *v, Sql *sql, const char *quoted,
                       const char **create, Err *err) {
  MYSQL_RES *rows = sql_rows(sql, err, "SHOW CREATE TABLE %s", quoted);
  MYSQL_ROW r = rows ? mysql_fetch_row(rows) : NULL;
  int rc = 0;
  if (r && r[1]) {
    char *text = arena_strdup(&v->arena, r[1]);
    cut_number(text);
    *create = text;
  } else {
    rc = rows ? err_set(err, "MariaDB: no definition of %s", quoted) : -1;
  }
  if (rows)
    mysql_free_result(rows);
  return rc;
}

static int add_trigger(Versions *v, Sql *sql, const char *schema,
                       const char *name, Definition *d, Err *err) {
  Str quoted = {0};
  sql_quote(&quoted, schema);
  str_addc(&quoted, '.');
  sql_quote(&quoted, name);
  MYSQL_RES *rows = sql_rows(sql, err, "SHOW CREATE TRIGGER %s", quoted.data);
  MYSQL_ROW r = rows ? mysql_fetch_row(rows) : NULL;
  if (r && r[1] && r[2])
    array_push(&d->triggers, (Trigger){arena_strdup(&v->arena, r[1]),
                                       arena_strdup(&v->arena, r[2])});
  if (rows)
    mysql_free_result(rows);
  str_release(&quoted);
  return rows ? 0 : -1;
}

// WHERE ... for a table of information_schema.
static char *where(Sql *sql, const char *schema_column, const char *schema,
                   const char *name_column, const char *name) {
  Str s = {0};
  str_addf(&s, "WHERE %s = ", schema_column);
  sql_literal(sql, &s, schema);
  str_addf(&s, " AND %s = ", name_column);
  sql_literal(sql, &s, name);
  return str_take(&s);
}

static int read_triggers(Versions *v, Sql *sql, const char *schema,
                         const char *name, Definition *d, Err *err) {
  char *of =
      where(sql, "EVENT_OBJECT_SCHEMA", schema, "EVENT_OBJECT_TABLE", name);
  MYSQL_RES *rows = sql_rows(sql, err,
                             "SELECT TRIGGER_NAME FROM "
                             "information_schema.TRIGGERS %s ORDER BY "
                             "ACTION_TIMING, EVENT_MANIPULATION, ACTION_ORDER",
                             of);
  int rc = rows ? 0 : -1;
  if (rows)
    for (MYSQL_ROW r; !rc && (r = mysql_fetch_row(rows));)
      rc = add_trigger(v, sql, schema, r[0], d, err);
  if (rows)
    mysql_free_result(rows);
  free(of);
  return rc;
}

// A FLOAT is printed with six digits only: as a sum with 0e0 it is exact.
static int read_columns(Versions *v, Sql *sql, const char *schema,
                        const char *name, Definition *d, Err *err) {
  char *of = where(sql, "TABLE_SCHEMA", schema, "TABLE_NAME", name);
  MYSQL_RES *rows = sql_rows(
      sql, err,
      "SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS %s AND "
      "COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY ORDINAL_POSITION",
      of);
  Str columns = {0}, hashed = {0};
  if (rows)
    for (MYSQL_ROW r; (r = mysql_fetch_row(rows));) {
      str_add(&columns, columns.len ? "," : "");
      sql_quote(&columns, r[0]);
      str_add(&hashed, hashed.len ? "," : "");
      sql_quote(&hashed, r[0]);
      if (!strcasecmp(r[1], "float"))
        str_add(&hashed, "+0e0");
    }
  d->columns = arena_strdup(&v->arena, str_text(&columns));
  d->hashed = arena_strdup(&v->arena, str_text(&hashed));
  if (rows)
    mysql_free_result(rows);
  str_release(&columns);
  str_release(&hashed);
  free(of);
  return rows ? 0 : -1;
}

static void definition_key(const Definition *d, const char *quoted, Str *key) {
  str_addn(key, quoted, strlen(quoted) + 1);
  str_addn(key, d->create, strlen(d->create) + 1);
  for (size_t i = 0; i < d->triggers.len; i++) {
    const Trigger *t = &d->triggers.items[i];
    str_addn(key, t->mode, strlen(t->mode) + 1);
    str_addn(key, t->statement, strlen(t->statement) + 1);
  }
}

int versions_define(Versions *v, Sql *sql, const char *schema, const char *name,
                    const char *quoted, uint32_t *id, Err *err) {
  Definition d = {0};
  Str key = {0};
  uint64_t known;
  int rc = read_create(v, sql, quoted, &d.create, err);
  if (!rc)
    rc = read_triggers(v, sql, schema, name, &d, err);
  if (!rc)
    definition_key(&d, quoted, &key);
  if (!rc && hashmap_get(&v->definition_ids, key.data, key.len, &known)) {
    *id = (uint32_t)known;
    array_release(&d.triggers);
  } else if (!rc) {
    rc = read_columns(v, sql, schema, name, &d, err);
    d.rebuilt =
        d.triggers.len || strstr(d.create, "WITH SYSTEM VERSIONING") != NULL;
    *id = (uint32_t)v->definitions.len;
    hashmap_put(&v->definition_ids, key.data, key.len, *id);
    array_push(&v->definitions, d);
  }
  str_release(&key);
  return rc;
}

// --- saving
// -------------------------------------------------------------------

// A sum over the hashes of all rows: their order does not count.
typedef struct {
  uint64_t low, high, rows;
} Sum;

static void add_row(Sum *sum, Str *buf, MYSQL_RES *rows, MYSQL_ROW r) {
  unsigned long *lengths = mysql_fetch_lengths(rows);
  str_clear(buf);
  for (unsigned i = 0; i < mysql_num_fields(rows); i++) {
    uint64_t n = r[i] ? lengths[i] : UINT64_MAX;
    str_addn(buf, &n, sizeof n);
    if (r[i])
      str_addn(buf, r[i], lengths[i]);
  }
  XXH128_hash_t h = XXH3_128bits(buf->data, buf->len);
  sum->low += h.low64;
  sum->high += h.high64 + (sum->low < h.low64);
  sum->rows++;
}

static int sum_rows(const Definition *d, Sql *sql, const char *quoted, Sum *sum,
                    Err *err) {
  Str q = {0}, buf = {0};
  str_addf(&q, "SELECT %s FROM %s", d->hashed, quoted);
  MYSQL_RES *rows = sql_stream(sql, err, q.data);
  int rc = rows ? 0 : -1;
  *sum = (Sum){0};
  if (rows) {
    for (MYSQL_ROW r; (r = mysql_fetch_row(rows));)
      add_row(sum, &buf, rows, r);
    rc = sql_check(sql, q.data, err);
    mysql_free_result(rows);
  }
  str_release(&q);
  str_release(&buf);
  return rc;
}

int versions_save(Versions *v, Sql *sql, const char *saved, const char *quoted,
                  uint32_t definition, uint64_t auto_increment, uint32_t *id,
                  Err *err) {
  const Definition *d = &v->definitions.items[definition];
  Sum sum;
  if (sum_rows(d, sql, quoted, &sum, err))
    return -1;
  uint64_t key[] = {definition, auto_increment, sum.low, sum.high, sum.rows};
  uint64_t known;
  if (hashmap_get(&v->version_ids, key, sizeof key, &known)) {
    *id = (uint32_t)known;
    return 0;
  }
  *id = (uint32_t)v->versions.len;
  if (sql_run(sql, err,
              "CREATE OR REPLACE TABLE %s.t%u ENGINE=MyISAM AS SELECT %s FROM "
              "%s",
              saved, *id, d->columns, quoted))
    return -1;
  hashmap_put(&v->version_ids, key, sizeof key, *id);
  array_push(&v->versions, (Version){definition, auto_increment, sum.rows});
  return 0;
}

// --- restoring
// ----------------------------------------------------------------

static int fill(const Versions *v, Sql *sql, const char *saved,
                const char *quoted, uint32_t id, Err *err) {
  const Version *version = &v->versions.items[id];
  const char *columns = v->definitions.items[version->definition].columns;
  if (!version->rows)
    return 0;
  return sql_run(sql, err, "INSERT INTO %s (%s) SELECT %s FROM %s.t%u", quoted,
                 columns, columns, saved, id);
}

static int make_triggers(const Definition *d, Sql *sql, Err *err) {
  int rc = 0;
  for (size_t i = 0; !rc && i < d->triggers.len; i++) {
    const Trigger *t = &d->triggers.items[i];
    rc = sql_run(sql, err, "SET SESSION sql_mode = '%s'", t->mode) ||
         sql_run(sql, err, "%s", t->statement);
  }
  if (!rc && d->triggers.len)
    rc = sql_run(sql, err, "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'");
  return rc ? -1 : 0;
}

// Makes the table anew, its rows before its triggers.
static int rebuild(const Versions *v, Sql *sql, const char *saved,
                   const char *schema, const char *quoted, uint32_t id,
                   Err *err) {
  const Definition *d = &v->definitions.items[versions_definition(v, id)];
  Str name = {0};
  sql_quote(&name, schema);
  int rc = sql_run(sql, err, "CREATE DATABASE IF NOT EXISTS %s", name.data) ||
           sql_run(sql, err, "USE %s", name.data) ||
           sql_run(sql, err, "DROP TABLE IF EXISTS %s", quoted) ||
           sql_run(sql, err, "%s", d->create) ||
           fill(v, sql, saved, quoted, id, err) || make_triggers(d, sql, err);
  str_release(&name);
  return rc ? -1 : 0;
}

static int replace_rows(const Versions *v, Sql *sql, const char *saved,
                        const char *quoted, bool truncate, uint32_t id,
                        Err *err) {
  if (truncate)
    return sql_run(sql, err, "TRUNCATE TABLE %s", quoted) ||
                   fill(v, sql, saved, quoted, id, err)
               ? -1
               : 0;
  int rc = sql_run(sql, err, "START TRANSACTION") ||
           sql_run(sql, err, "DELETE FROM %s", quoted) ||
           fill(v, sql, saved, quoted, id, err) || sql_run(sql, err, "COMMIT");
  return rc ? -1 : 0;
}

int versions_restore(Versions *v, Sql *sql, const char *saved,
                     const char *schema, const char *quoted,
                     uint32_t definition, uint32_t id, Err *err) {
  const Version *version = &v->versions.items[id];
  const Definition *d = &v->definitions.items[version->definition];
  if (definition != version->definition || d->rebuilt)
    return rebuild(v, sql, saved, schema, quoted, id, err);
  bool truncate = version->rows > FEW_ROWS;
  return replace_rows(v, sql, saved, quoted, truncate, id, err);
}
