// The tables of the store. docs/reference/store.md explains every column; a
// change here is a change there, and raises STORE_VERSION.
#include "store/schema.h"

#include <string.h>

#include "store/store.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

// clang-format off
#define FIRST_PLACE_TABLE                                                     \
  "CREATE TABLE failure_place ("                                              \
  "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"                  \
  "  failure INTEGER NOT NULL,"                                               \
  "  n INTEGER NOT NULL,"                                                     \
  "  file TEXT NOT NULL,"                                                     \
  "  line INTEGER NOT NULL,"                                                  \
  "  what TEXT NOT NULL,"                                                     \
  "  excerpt TEXT NOT NULL,"                                                  \
  "  PRIMARY KEY (run, failure, n)"                                           \
  ") STRICT, WITHOUT ROWID;"

#define PLACE_COLUMNS                                                         \
  "ALTER TABLE failure_place ADD COLUMN"                                      \
  " statement INTEGER NOT NULL DEFAULT 0;"                                    \
  "ALTER TABLE failure_place ADD COLUMN role TEXT NOT NULL DEFAULT 'output';"

static const char tables[] =
    "CREATE TABLE meta ("
    "  version INTEGER NOT NULL"
    ") STRICT;"

    "CREATE TABLE session ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  key TEXT NOT NULL,"
    "  command TEXT NOT NULL,"
    "  cwd TEXT NOT NULL,"
    "  started TEXT NOT NULL,"
    "  finished TEXT,"
    "  entities INTEGER NOT NULL DEFAULT 0,"
    "  revision INTEGER NOT NULL DEFAULT 0,"
    "  close TEXT NOT NULL DEFAULT '',"
    "  project TEXT NOT NULL DEFAULT '',"
    "  root TEXT NOT NULL DEFAULT ''"
    ") STRICT;"

    "CREATE TABLE unit ("
    "  id INTEGER PRIMARY KEY,"
    "  hash BLOB NOT NULL UNIQUE,"
    "  name TEXT NOT NULL,"
    "  entities INTEGER NOT NULL,"
    "  standings BLOB NOT NULL"
    ") STRICT;"

    "CREATE TABLE unit_source ("
    "  unit INTEGER NOT NULL REFERENCES unit ON DELETE CASCADE,"
    "  n INTEGER NOT NULL,"
    "  path TEXT NOT NULL,"
    "  PRIMARY KEY (unit, n)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE entity ("
    "  unit INTEGER NOT NULL REFERENCES unit ON DELETE CASCADE,"
    "  n INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  source INTEGER NOT NULL,"
    "  line INTEGER NOT NULL,"
    "  col_lo INTEGER NOT NULL,"
    "  col_hi INTEGER NOT NULL,"
    "  function INTEGER,"
    "  idx INTEGER NOT NULL,"
    "  from_ INTEGER,"
    "  to_ INTEGER,"
    "  name TEXT,"
    "  text TEXT,"
    "  PRIMARY KEY (unit, n)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE session_source ("
    "  session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,"
    "  n INTEGER NOT NULL,"
    "  path TEXT NOT NULL,"
    "  hash INTEGER NOT NULL,"
    "  PRIMARY KEY (session, n),"
    "  UNIQUE (session, path)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE session_unit ("
    "  session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,"
    "  n INTEGER NOT NULL,"
    "  unit INTEGER NOT NULL REFERENCES unit,"
    "  ids BLOB NOT NULL,"
    "  PRIMARY KEY (session, n),"
    "  UNIQUE (session, unit)"
    ") STRICT;"

    "CREATE INDEX session_unit_unit ON session_unit (unit);"

    "CREATE TABLE run ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,"
    "  test TEXT NOT NULL,"
    "  command TEXT NOT NULL,"
    "  verdict TEXT NOT NULL,"
    "  status INTEGER NOT NULL,"
    "  seconds REAL NOT NULL,"
    "  processes INTEGER NOT NULL,"
    "  imprecise INTEGER NOT NULL,"
    "  note TEXT,"
    "  close INTEGER NOT NULL DEFAULT 0,"
    "  wrong TEXT NOT NULL DEFAULT '',"
    "  UNIQUE (session, test)"
    ") STRICT;"

    "CREATE TABLE failure ("
    "  id INTEGER PRIMARY KEY,"
    "  session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,"
    "  signature TEXT NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  UNIQUE (session, signature)"
    ") STRICT;"

    "CREATE TABLE run_failure ("
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    "  n INTEGER NOT NULL,"
    "  failure INTEGER NOT NULL REFERENCES failure ON DELETE CASCADE,"
    "  message TEXT NOT NULL,"
    "  place TEXT NOT NULL,"
    "  excerpt TEXT NOT NULL DEFAULT '',"
    "  output TEXT NOT NULL DEFAULT '',"
    "  PRIMARY KEY (run, n)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE INDEX run_failure_failure ON run_failure (failure);"

    "CREATE TABLE spectrum ("
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    "  kind TEXT NOT NULL,"
    "  hits BLOB NOT NULL,"
    "  PRIMARY KEY (run, kind)"
    ") STRICT;"

    "CREATE TABLE counts ("
    "  run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,"
    "  counts BLOB NOT NULL"
    ") STRICT;"

    "CREATE TABLE death ("
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    "  n INTEGER NOT NULL,"
    "  file TEXT NOT NULL,"
    "  line INTEGER NOT NULL,"
    "  function TEXT NOT NULL,"
    "  how TEXT NOT NULL,"
    "  exact INTEGER NOT NULL,"
    "  callers TEXT NOT NULL DEFAULT '',"
    "  turns TEXT NOT NULL DEFAULT '',"
    "  PRIMARY KEY (run, n)"
    ") STRICT, WITHOUT ROWID;"

    FIRST_PLACE_TABLE PLACE_COLUMNS

    "INSERT INTO meta VALUES (" TEXT(STORE_VERSION) ");";

// upgrades[i] makes version i + 2 out of version i + 1.
static const char *const upgrades[STORE_VERSION - 1] = {
    FIRST_PLACE_TABLE "UPDATE meta SET version = 2;",
    "ALTER TABLE entity ADD COLUMN text TEXT;"
    "UPDATE meta SET version = 3;",
    "ALTER TABLE run_failure ADD COLUMN excerpt TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE run_failure ADD COLUMN output TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE death ADD COLUMN callers TEXT NOT NULL DEFAULT '';"
    "UPDATE meta SET version = 4;",
    "ALTER TABLE session ADD COLUMN close TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE run ADD COLUMN close INTEGER NOT NULL DEFAULT 0;"
    "UPDATE meta SET version = 5;",
    "ALTER TABLE session ADD COLUMN project TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE death ADD COLUMN turns TEXT NOT NULL DEFAULT '';"
    "UPDATE meta SET version = 6;",
    "ALTER TABLE run ADD COLUMN wrong TEXT NOT NULL DEFAULT '';"
    "UPDATE meta SET version = 7;",
    PLACE_COLUMNS
    "ALTER TABLE session ADD COLUMN root TEXT NOT NULL DEFAULT '';"
    "UPDATE meta SET version = 8;",
};
// clang-format on

static int check_tables(Db *db, bool *empty, Err *err) {
  int64_t all;
  bool meta;
  if (db_tables(db, &all, &meta, err))
    return -1;
  *empty = all == 0;
  if (all && !meta)
    return err_set(err,
                   "%s is not a culprit store; move it away, or choose another "
                   "directory with --store",
                   db->path);
  return 0;
}

static int check_version(Db *db, int *found, Err *err) {
  DbQuery q;
  if (query_start(&q, db, "SELECT version FROM meta", NULL, err))
    return -1;
  int rc = query_next(&q, err);
  int64_t version = rc > 0 ? query_int(&q, 0) : 0;
  query_end(&q);
  if (rc < 0)
    return -1;
  if (version > STORE_VERSION)
    return err_set(err,
                   "%s was written by a newer culprit (store version %lld, "
                   "this one knows %d); use that one, or choose another "
                   "directory with --store",
                   db->path, (long long)version, STORE_VERSION);
  if (version < 1)
    return db_corrupt(db, err, "store version %lld", (long long)version);
  *found = (int)version;
  return 0;
}

int schema_check(Db *db, int *version, Err *err) {
  bool empty;
  *version = 0;
  if (check_tables(db, &empty, err))
    return -1;
  return empty ? 0 : check_version(db, version, err);
}

static int bring_up(void *ctx, Err *err) {
  Db *db = ctx;
  int version;
  if (schema_check(db, &version, err))
    return -1;
  if (version == 0)
    return db_exec(db, tables, err);
  for (; version < STORE_VERSION; version++)
    if (db_exec(db, upgrades[version - 1], err))
      return -1;
  return 0;
}

int schema_create(Db *db, Err *err) {
  if (db_share(db, err))
    return -1;
  return db_write(db, DB_ALONE, bring_up, db, err);
}
