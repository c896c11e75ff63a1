// Definitions and contents of tables: see table_version.h.
#include "php/state/table_version.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "util/str.h"

// So many are deleted faster than a table is truncated, which makes and removes
// files.
enum { FEW_ROWS = 2000 };

void versions_release(TableVersions *v) {
  hashmap_release(&v->definition_ids);
  hashmap_release(&v->version_ids);
  for (size_t i = 0; i < v->definitions.len; i++)
    array_release(&v->definitions.items[i].triggers);
  array_release(&v->definitions);
  array_release(&v->versions);
  arena_release(&v->arena);
}

uint32_t versions_definition(const TableVersions *v, uint32_t id) {
  return v->versions.items[id].definition;
}

uint64_t versions_number(const TableVersions *v, uint32_t id) {
  return v->versions.items[id].auto_increment;
}

uint64_t versions_digest(const TableVersions *v, uint32_t id) {
  return v->versions.items[id].digest;
}

// --- definitions ------------------------------------------------------------

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

static int read_create(TableVersions *v, Sql *sql, const char *quoted,
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

// Without privileges nobody is the definer, which can be shown but not said.
static char *cut_definer(char *statement) {
  static const char nobody[] = "DEFINER=`` ";
  char *from = strstr(statement, nobody);
  if (from && from < strstr(statement, "TRIGGER"))
    memmove(from, from + strlen(nobody), strlen(from + strlen(nobody)) + 1);
  return statement;
}

static int add_trigger(TableVersions *v, Sql *sql, const char *schema,
                       const char *name, Definition *d, Err *err) {
  Str quoted = {0};
  sql_quote(&quoted, schema);
  str_addc(&quoted, '.');
  sql_quote(&quoted, name);
  MYSQL_RES *rows = sql_rows(sql, err, "SHOW CREATE TRIGGER %s", quoted.data);
  MYSQL_ROW r = rows ? mysql_fetch_row(rows) : NULL;
  if (r && r[1] && r[2])
    array_push(&d->triggers,
               (Trigger){arena_strdup(&v->arena, r[1]),
                         cut_definer(arena_strdup(&v->arena, r[2]))});
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

static int read_triggers(TableVersions *v, Sql *sql, const char *schema,
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

// What read_columns puts together.
typedef struct {
  Str columns, hashed, selected, key, first, same_key, same;
  bool repaired; // rows can be told apart and compared
} Columns;

static bool is_one_of(const char *type, const char *const types[]) {
  for (; *types; types++)
    if (!strcasecmp(type, *types))
      return true;
  return false;
}

static bool is_integer(const char *type) {
  static const char *const types[] = {"tinyint", "smallint", "mediumint",
                                      "int",     "bigint",   NULL};
  return is_one_of(type, types);
}

// How values are compared exactly: as they are, as bytes ('a' is 'A' else), or
// we do not know.
static const char *comparison(const char *type) {
  static const char *const plain[] = {"decimal",  "float",     "double", "date",
                                      "datetime", "timestamp", "time",   "year",
                                      "bit",      NULL};
  static const char *const bytes[] = {
      "char",     "varchar", "tinytext",   "text",     "mediumtext",
      "longtext", "enum",    "set",        "binary",   "varbinary",
      "tinyblob", "blob",    "mediumblob", "longblob", NULL};
  if (is_integer(type) || is_one_of(type, plain))
    return "";
  return is_one_of(type, bytes) ? "BINARY " : NULL;
}

static void add_part(Str *s, const char *between, const char *text) {
  str_addf(s, "%s%s", s->len ? between : "", text);
}

// A FLOAT is printed with six digits only: as a sum with 0e0 it is exact.
static void add_column(Columns *c, const char *name, const char *type,
                       bool in_key) {
  Str quoted = {0}, test = {0};
  const char *as = comparison(type);
  sql_quote(&quoted, name);
  add_part(&c->columns, ",", quoted.data);
  add_part(&c->hashed, ",", quoted.data);
  add_part(&c->selected, ",", "s.");
  str_add(&c->selected, quoted.data);
  if (!strcasecmp(type, "float"))
    str_add(&c->hashed, "+0e0");
  if (in_key) {
    str_addf(&test, "s.%s = t.%s", quoted.data, quoted.data);
    add_part(&c->key, ",", quoted.data);
    if (!c->first.len)
      str_add(&c->first, quoted.data);
    add_part(&c->same_key, " AND ", test.data);
  } else if (as) {
    str_addf(&test, "%ss.%s <=> %st.%s", as, quoted.data, as, quoted.data);
    add_part(&c->same, " AND ", test.data);
  }
  c->repaired = c->repaired && as && (!in_key || is_integer(type));
  str_release(&quoted);
  str_release(&test);
}

static void keep_columns(TableVersions *v, const Columns *c, Definition *d) {
  d->columns = arena_strdup(&v->arena, str_text(&c->columns));
  d->hashed = arena_strdup(&v->arena, str_text(&c->hashed));
  if (!c->repaired || !c->key.len)
    return;
  d->key = arena_strdup(&v->arena, c->key.data);
  d->first = arena_strdup(&v->arena, c->first.data);
  d->selected = arena_strdup(&v->arena, c->selected.data);
  d->same_key = arena_strdup(&v->arena, c->same_key.data);
  d->same = arena_strdup(&v->arena, c->same.len ? c->same.data : "TRUE");
}

static int read_columns(TableVersions *v, Sql *sql, const char *schema,
                        const char *name, Definition *d, Err *err) {
  char *of = where(sql, "TABLE_SCHEMA", schema, "TABLE_NAME", name);
  MYSQL_RES *rows =
      sql_rows(sql, err,
               "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_KEY = 'PRI' FROM "
               "information_schema.COLUMNS %s AND "
               "COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY "
               "ORDINAL_POSITION",
               of);
  Columns c = {.repaired = true};
  free(of);
  if (!rows)
    return -1;
  for (MYSQL_ROW r; (r = mysql_fetch_row(rows));)
    add_column(&c, r[0], r[1], *r[2] == '1');
  mysql_free_result(rows);
  keep_columns(v, &c, d);
  str_release(&c.columns);
  str_release(&c.hashed);
  str_release(&c.selected);
  str_release(&c.key);
  str_release(&c.first);
  str_release(&c.same_key);
  str_release(&c.same);
  return 0;
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

int versions_define(TableVersions *v, Sql *sql, const char *schema,
                    const char *name, const char *quoted, uint32_t *id,
                    Err *err) {
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
  } else if (!rc && !(rc = read_columns(v, sql, schema, name, &d, err))) {
    d.rebuilt =
        d.triggers.len || strstr(d.create, "WITH SYSTEM VERSIONING") != NULL;
    d.digest = XXH3_64bits(key.data, key.len);
    *id = (uint32_t)v->definitions.len;
    hashmap_put(&v->definition_ids, key.data, key.len, *id);
    array_push(&v->definitions, d);
  }
  str_release(&key);
  return rc;
}

// --- saving -----------------------------------------------------------------

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

int versions_save(TableVersions *v, Sql *sql, const char *saved,
                  const char *quoted, uint32_t definition,
                  uint64_t auto_increment, uint32_t *id, Err *err) {
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
              "CREATE OR REPLACE TABLE %s.t%u %s%s%s ENGINE=MyISAM AS SELECT "
              "%s FROM %s",
              saved, *id, d->key ? "(PRIMARY KEY (" : "", d->key ? d->key : "",
              d->key ? "))" : "", d->columns, quoted))
    return -1;
  hashmap_put(&v->version_ids, key, sizeof key, *id);
  key[0] = d->digest; // numbers are this server's own
  array_push(&v->versions, (TableVersion){definition, auto_increment, sum.rows,
                                          XXH3_64bits(key, sizeof key)});
  return 0;
}

// --- restoring --------------------------------------------------------------

// "; INSERT ...", the rows of a version.
static void add_fill(const TableVersions *v, Str *batch, const char *saved,
                     const char *quoted, uint32_t id) {
  const TableVersion *version = &v->versions.items[id];
  const char *columns = v->definitions.items[version->definition].columns;
  if (version->rows)
    str_addf(batch, "; INSERT INTO %s (%s) SELECT %s FROM %s.t%u", quoted,
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
static int rebuild(const TableVersions *v, Sql *sql, const char *saved,
                   const char *schema, const char *quoted, uint32_t id,
                   Err *err) {
  const Definition *d = &v->definitions.items[versions_definition(v, id)];
  Str name = {0}, batch = {0};
  sql_quote(&name, schema);
  str_addf(&batch,
           "CREATE DATABASE IF NOT EXISTS %s; USE %s; DROP TABLE IF EXISTS %s; "
           "%s",
           name.data, name.data, quoted, d->create);
  add_fill(v, &batch, saved, quoted, id);
  int rc = sql_run(sql, err, "%s", batch.data);
  if (!rc)
    rc = make_triggers(d, sql, err);
  str_release(&name);
  str_release(&batch);
  return rc;
}

static void add_number(Str *batch, const char *quoted, uint64_t want,
                       uint64_t have) {
  if (want && want != have)
    str_addf(batch, "; ALTER TABLE %s AUTO_INCREMENT = %llu", quoted,
             (unsigned long long)want);
}

// Takes rows out that should not be there, and puts those in that are missing
// or differ. A row that is in the way of another by a unique key differs too.
static void add_repair(const TableVersions *v, Str *batch, const char *saved,
                       const char *quoted, uint32_t id) {
  const Definition *d = &v->definitions.items[v->versions.items[id].definition];
  str_addf(batch,
           "START TRANSACTION; "
           "DELETE t FROM %s t LEFT JOIN %s.t%u s ON %s WHERE s.%s IS NULL; ",
           quoted, saved, id, d->same_key, d->first);
  str_addf(batch,
           "REPLACE INTO %s (%s) SELECT %s FROM %s.t%u s LEFT JOIN %s t ON %s "
           "WHERE t.%s IS NULL OR NOT (%s); COMMIT",
           quoted, d->columns, d->selected, saved, id, quoted, d->same_key,
           d->first, d->same);
}

// Empties it and fills it. Truncated, it counts from its last row.
static void add_replacement(const TableVersions *v, Str *batch,
                            const char *saved, const char *quoted, uint32_t id,
                            bool truncate) {
  if (truncate)
    str_addf(batch, "TRUNCATE TABLE %s", quoted);
  else
    str_addf(batch, "START TRANSACTION; DELETE FROM %s", quoted);
  add_fill(v, batch, saved, quoted, id);
  if (!truncate)
    str_add(batch, "; COMMIT");
}

int versions_restore(TableVersions *v, Sql *sql, const char *saved,
                     const char *schema, const char *quoted,
                     uint32_t definition, uint64_t auto_increment, uint32_t id,
                     Err *err) {
  const TableVersion *version = &v->versions.items[id];
  const Definition *d = &v->definitions.items[version->definition];
  if (definition != version->definition || d->rebuilt)
    return rebuild(v, sql, saved, schema, quoted, id, err);
  bool truncate = !d->key && version->rows > FEW_ROWS;
  Str batch = {0};
  if (d->key)
    add_repair(v, &batch, saved, quoted, id);
  else
    add_replacement(v, &batch, saved, quoted, id, truncate);
  add_number(&batch, quoted, version->auto_increment,
             truncate ? 0 : auto_increment);
  int rc = sql_run(sql, err, "%s", batch.data);
  str_release(&batch);
  return rc;
}
