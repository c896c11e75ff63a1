// The tables of an application's state: see state_tables.h.
//
// What the counters are good for, found by trial with MariaDB 10.11:
//   TABLE_STATISTICS.ROWS_CHANGED   every engine, every row that a statement
//                                   changed, also if it was rolled back; not
//                                   what ON DELETE CASCADE changed elsewhere
//   INNODB_SYS_TABLESTATS           InnoDB only, but cascades too; TABLE_ID is
//                                   another after TRUNCATE
//   TABLES.AUTO_INCREMENT           a failed INSERT takes a number
//   Com_create_table, ...           definitions: read again if one has moved
#include "php/state/state_tables.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "php/child.h"
#include "php/state/sql.h"
#include "php/state/table_version.h"
#include "util/arena.h"
#include "util/clock.h"
#include "util/hashmap.h"
#include "util/mem.h"

#define NONE VERSION_NONE
#define KILL_AFTER 0.2 // seconds
#define GIVE_UP_AFTER 10.0

typedef struct {
  uint64_t changed, modified, id;
  uint64_t auto_increment;
  bool innodb;
  bool counted; // by InnoDB, if it is its
} Counters;

typedef struct {
  const char *schema, *name;
  const char *quoted; // `schema`.`name`
  bool there;         // now
  Counters seen, now;
  uint32_t definition; // NONE: not read yet
  uint32_t version;    // what it holds; NONE: to be found out
} Table;

struct TableState {
  Sql *sql;
  Arena arena;
  Str schemas;     // 'a','b': for IN (...)
  char *saved;     // our schema, quoted
  Hashmap numbers; // "schema\0name" to index of tables
  ARRAY(Table) tables;
  TableVersions versions;
  uint64_t ddl, ddl_now; // statements that change definitions, so far
};

// --- who else is there ------------------------------------------------------

static uint64_t number(const char *text) {
  return text ? strtoull(text, NULL, 10) : 0;
}

// How many connections the application has. An idle one in our schemas is
// persistent, or just being closed: it is ended, with the transaction, locks
// and temporary tables it may hold. `impatient`: busy ones too.
static int end_others(TableState *t, bool impatient, size_t *left, Err *err) {
  MYSQL_RES *rows =
      sql_rows(t->sql, err,
               "SELECT ID, COMMAND = 'Sleep' FROM "
               "information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND "
               "USER NOT IN ('system user', 'event_scheduler') AND "
               "(DB IS NULL AND COMMAND <> 'Sleep' OR DB IN (%s))",
               t->schemas.data);
  Err gone_already;
  if (!rows)
    return -1;
  *left = mysql_num_rows(rows);
  for (MYSQL_ROW r; (r = mysql_fetch_row(rows));)
    if (*r[1] == '1' || impatient)
      sql_run(t->sql, &gone_already, "KILL %s", r[0]);
  mysql_free_result(rows);
  return 0;
}

static void doze(void) {
  struct timespec ms = {.tv_nsec = 1000000};
  nanosleep(&ms, NULL);
}

// Lets the last request come to its end in the server too: a connection is
// closed there a moment later, and the query of a worker that was killed goes
// on.
static int quiesce(TableState *t, Err *err) {
  double begin = clock_now();
  for (;;) {
    size_t left;
    double waited = clock_now() - begin;
    if (end_others(t, waited > KILL_AFTER, &left, err))
      return -1;
    if (!left)
      return 0;
    if (waited > GIVE_UP_AFTER)
      return err_set(err,
                     "MariaDB on %s: a query of the application does not end, "
                     "even after KILL",
                     t->sql->socket);
    doze();
  }
}

// --- looking at the server --------------------------------------------------

static uint32_t table_number(TableState *t, const char *schema,
                             const char *name, bool make) {
  Str key = {0}, quoted = {0};
  uint64_t n;
  str_addn(&key, schema, strlen(schema) + 1);
  str_add(&key, name);
  if (!hashmap_get(&t->numbers, key.data, key.len, &n)) {
    n = make ? t->tables.len : NONE;
    if (make) {
      hashmap_put(&t->numbers, key.data, key.len, n);
      sql_quote(&quoted, schema);
      str_addc(&quoted, '.');
      sql_quote(&quoted, name);
      Table fresh = {.schema = arena_strdup(&t->arena, schema),
                     .name = arena_strdup(&t->arena, name),
                     .quoted = arena_strdup(&t->arena, quoted.data),
                     .definition = NONE,
                     .version = NONE};
      array_push(&t->tables, fresh);
    }
  }
  str_release(&key);
  str_release(&quoted);
  return (uint32_t)n;
}

// The four looks we take, in one go.
static const char questions[] =
    "SELECT TABLE_SCHEMA, TABLE_NAME, AUTO_INCREMENT, ENGINE FROM "
    "information_schema.TABLES WHERE TABLE_SCHEMA IN (%1$s) AND TABLE_TYPE IN "
    "('BASE TABLE', 'SYSTEM VERSIONED'); "
    "SELECT TABLE_SCHEMA, TABLE_NAME, ROWS_CHANGED FROM "
    "information_schema.TABLE_STATISTICS WHERE TABLE_SCHEMA IN (%1$s); "
    "SELECT NAME, MODIFIED_COUNTER, TABLE_ID FROM "
    "information_schema.INNODB_SYS_TABLESTATS WHERE "
    "CAST(STATS_INITIALIZED AS CHAR) IN ('1', 'Initialized'); "
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_create_table', "
    "'Com_drop_table', 'Com_alter_table', 'Com_rename_table', "
    "'Com_create_index', 'Com_drop_index', 'Com_create_trigger', "
    "'Com_drop_trigger', 'Com_drop_db', 'Com_create_db', 'Com_alter_db', "
    "'Com_truncate')";

static void take_tables(TableState *t, MYSQL_RES *rows) {
  for (size_t i = 0; i < t->tables.len; i++)
    t->tables.items[i].there = false;
  for (MYSQL_ROW r; (r = mysql_fetch_row(rows));) {
    uint32_t n = table_number(t, r[0], r[1], true);
    Table *table = &t->tables.items[n];
    bool innodb = r[3] && !strcmp(r[3], "InnoDB");
    table->there = true;
    table->now = (Counters){
        .auto_increment = number(r[2]), .innodb = innodb, .counted = !innodb};
  }
}

static void take_changes(TableState *t, MYSQL_RES *rows) {
  for (MYSQL_ROW r; (r = mysql_fetch_row(rows));) {
    uint32_t n = table_number(t, r[0], r[1], false);
    if (n != NONE)
      t->tables.items[n].now.changed = number(r[2]);
  }
}

// InnoDB names its tables schema/name, with odd characters encoded; those we do
// not find count as dirty each time.
static void take_innodb(TableState *t, MYSQL_RES *rows) {
  for (MYSQL_ROW r; (r = mysql_fetch_row(rows));) {
    char *slash = strchr(r[0], '/');
    if (!slash)
      continue;
    *slash = '\0';
    uint32_t n = table_number(t, r[0], slash + 1, false);
    if (n == NONE)
      continue;
    Counters *c = &t->tables.items[n].now;
    c->modified = number(r[1]);
    c->id = number(r[2]);
    c->counted = true;
  }
}

static void take_ddl(TableState *t, MYSQL_RES *rows) {
  t->ddl_now = 0;
  for (MYSQL_ROW r; (r = mysql_fetch_row(rows));)
    t->ddl_now += number(r[1]);
}

static int look(TableState *t, Err *err) {
  static void (*const take[])(TableState *, MYSQL_RES *) = {
      take_tables, take_changes, take_innodb, take_ddl};
  char *text = mem_printf(questions, t->schemas.data);
  MYSQL_RES *rows = sql_rows(t->sql, err, "%s", text);
  for (size_t i = 0; rows && i < sizeof take / sizeof *take; i++) {
    if (i)
      rows = sql_more(t->sql, err);
    if (rows)
      take[i](t, rows);
    mysql_free_result(rows);
  }
  free(text);
  return rows ? 0 : -1;
}

// --- what is dirty ----------------------------------------------------------

static bool is_dirty(const Table *table) {
  const Counters *a = &table->seen, *b = &table->now;
  return !b->counted || a->changed != b->changed ||
         a->modified != b->modified || a->id != b->id ||
         a->auto_increment != b->auto_increment;
}

static int read_definition(TableState *t, Table *table, Err *err) {
  uint32_t definition;
  if (versions_define(&t->versions, t->sql, table->schema, table->name,
                      table->quoted, &definition, err))
    return -1;
  if (definition != table->definition)
    table->version = NONE;
  table->definition = definition;
  return 0;
}

static int read_definitions(TableState *t, Err *err) {
  for (size_t i = 0; i < t->tables.len; i++)
    if (t->tables.items[i].there &&
        read_definition(t, &t->tables.items[i], err))
      return -1;
  return 0;
}

// Brings what we know up to date: afterwards a table holds its version, or that
// is NONE.
static int notice(TableState *t, Err *err) {
  if (quiesce(t, err) || look(t, err))
    return -1;
  bool ddl = t->ddl != t->ddl_now;
  for (size_t i = 0; i < t->tables.len; i++) {
    Table *table = &t->tables.items[i];
    bool rewritten = ddl && !table->now.innodb; // TRUNCATE
    if (!table->there || rewritten || is_dirty(table))
      table->version = NONE;
    if (!table->there)
      table->definition = NONE;
  }
  if (ddl && read_definitions(t, err))
    return -1;
  t->ddl = t->ddl_now;
  return 0;
}

// What the counters show now is what our versions stand for.
static int settle(TableState *t, Err *err) {
  if (look(t, err))
    return -1;
  t->ddl = t->ddl_now;
  for (size_t i = 0; i < t->tables.len; i++)
    t->tables.items[i].seen = t->tables.items[i].now;
  return 0;
}

// --- saving -----------------------------------------------------------------

static int save_all(TableState *t, TableEntries *out, Err *err) {
  for (uint32_t i = 0; i < t->tables.len; i++) {
    Table *table = &t->tables.items[i];
    if (!table->there)
      continue;
    if (table->definition == NONE && read_definition(t, table, err))
      return -1;
    if (table->version == NONE &&
        versions_save(&t->versions, t->sql, t->saved, table->quoted,
                      table->definition, table->now.auto_increment,
                      &table->version, err))
      return -1;
    array_push(out, (TableEntry){i, table->version});
  }
  return 0;
}

int table_state_save(TableState *t, TableEntries *out, Err *err) {
  *out = (TableEntries){0};
  int rc = notice(t, err);
  if (!rc)
    rc = save_all(t, out, err);
  if (!rc)
    rc = settle(t, err);
  if (rc)
    array_release(out);
  return rc;
}

// --- restoring --------------------------------------------------------------

static int restore_table(TableState *t, Table *table, uint32_t version,
                         Err *err) {
  bool as_is = table->there && table->definition != NONE;
  if (versions_restore(&t->versions, t->sql, t->saved, table->schema,
                       table->quoted, as_is ? table->definition : NONE,
                       table->now.auto_increment, version, err))
    return -1;
  table->there = true;
  table->definition = versions_definition(&t->versions, version);
  table->version = version;
  return 0;
}

static int drop_others(TableState *t, const TableEntries *target,
                       size_t *restored, Err *err) {
  size_t j = 0;
  for (uint32_t i = 0; i < t->tables.len; i++) {
    Table *table = &t->tables.items[i];
    while (j < target->len && target->items[j].table < i)
      j++;
    bool kept = j < target->len && target->items[j].table == i;
    if (kept || !table->there)
      continue;
    if (sql_run(t->sql, err, "DROP TABLE %s", table->quoted))
      return -1;
    table->there = false;
    table->version = table->definition = NONE;
    *restored += 1;
  }
  return 0;
}

// Numbers that the rows alone do not bring back.
static int restore_numbers(TableState *t, const TableEntries *target,
                           Err *err) {
  bool changed = false;
  if (settle(t, err))
    return -1;
  for (size_t i = 0; i < target->len; i++) {
    Table *table = &t->tables.items[target->items[i].table];
    uint64_t want = versions_number(&t->versions, table->version);
    if (want == table->now.auto_increment || !want)
      continue;
    changed = true;
    if (sql_run(t->sql, err, "ALTER TABLE %s AUTO_INCREMENT = %llu",
                table->quoted, (unsigned long long)want))
      return -1;
  }
  return changed ? settle(t, err) : 0;
}

int table_state_restore(TableState *t, const TableEntries *target,
                        size_t *restored, Err *err) {
  *restored = 0;
  if (notice(t, err) || drop_others(t, target, restored, err))
    return -1;
  for (size_t i = 0; i < target->len; i++) {
    Table *table = &t->tables.items[target->items[i].table];
    uint32_t version = target->items[i].version;
    if (table->there && table->version == version)
      continue;
    *restored += 1;
    if (restore_table(t, table, version, err))
      return -1;
  }
  return *restored ? restore_numbers(t, target, err) : 0;
}

// --- opening and closing ----------------------------------------------------

static int check_schemas(TableState *t, const char *const *databases,
                         Err *err) {
  for (; *databases; databases++) {
    Str literal = {0};
    sql_literal(t->sql, &literal, *databases);
    MYSQL_RES *rows = sql_rows(t->sql, err,
                               "SELECT 1 FROM information_schema.SCHEMATA "
                               "WHERE SCHEMA_NAME = %s",
                               literal.data);
    bool there = rows && mysql_num_rows(rows) > 0;
    if (rows)
      mysql_free_result(rows);
    str_addf(&t->schemas, "%s%s", t->schemas.len ? "," : "", literal.data);
    str_release(&literal);
    if (!rows)
      return -1;
    if (!there)
      return err_set(err, "MariaDB on %s: no database %s; load one first",
                     t->sql->socket, *databases);
  }
  return t->schemas.len
             ? 0
             : err_set(err, "MariaDB on %s: no database named", t->sql->socket);
}

static int begin_session(TableState *t, Err *err) {
  return sql_run(t->sql, err,
                 "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', "
                 "foreign_key_checks = 0, "
                 "check_constraint_checks = 0, character_set_results = NULL, "
                 "innodb_lock_wait_timeout = 5, lock_wait_timeout = 5, "
                 "time_zone = '+00:00', GLOBAL userstat = 1");
}

static int make_schema(TableState *t, Err *err) {
  uint64_t hash = XXH3_64bits(t->schemas.data, t->schemas.len);
  t->saved = mem_printf("`culprit_saved_%016llx`", (unsigned long long)hash);
  if (sql_run(t->sql, err, "DROP DATABASE IF EXISTS %s", t->saved))
    return -1;
  return sql_run(t->sql, err, "CREATE DATABASE %s; USE %s", t->saved, t->saved);
}

int table_state_open(TableState **out, const char *socket,
                     const char *const *databases, Err *err) {
  TableState *t = mem_new(TableState);
  *out = t;
  t->ddl = UINT64_MAX;
  t->sql = sql_open(socket, err);
  if (!t->sql || begin_session(t, err) || check_schemas(t, databases, err) ||
      make_schema(t, err))
    return -1;
  return 0;
}

void table_state_close(TableState *t) {
  Err ignored;
  if (!t)
    return;
  if (t->saved)
    sql_run(t->sql, &ignored, "DROP DATABASE IF EXISTS %s", t->saved);
  sql_close(t->sql);
  str_release(&t->schemas);
  hashmap_release(&t->numbers);
  array_release(&t->tables);
  versions_release(&t->versions);
  arena_release(&t->arena);
  free(t->saved);
  free(t);
}

uint64_t table_state_digest(const TableState *t, const TableEntries *entries) {
  uint64_t sum = 0;
  for (size_t i = 0; i < entries->len; i++)
    sum += versions_digest(&t->versions, entries->items[i].version);
  return sum;
}
