// Times restoring an application's state: an SQLite file after a few rows
// changed, and twenty MariaDB tables after rows of three changed.
//
//   bench_state_restore DIR    prints two numbers: milliseconds, the median of
//                              31 restores each; -1 without a server
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "php/child.h"
#include "php/state/app_state.h"
#include "php/state/sql.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"

enum { ROUNDS = 31, ROWS = 500, TABLES = 20, DIRTY = 3 };

static void die(const Err *err) {
  fprintf(stderr, "%s\n", err->text);
  exit(1);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

typedef void Dirty(void *ctx, int round);

static double median(AppState *s, Dirty *dirty, void *ctx) {
  double times[ROUNDS];
  Err err;
  for (int i = 0; i < ROUNDS; i++) {
    dirty(ctx, i);
    double begin = clock_now();
    if (app_state_restore(s, 0, &err))
      die(&err);
    times[i] = 1000 * (clock_now() - begin);
  }
  qsort(times, ROUNDS, sizeof *times, by_size);
  return times[ROUNDS / 2];
}

// --- SQLite -----------------------------------------------------------------

static void run(sqlite3 *db, const char *sql) {
  char *message;
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", sql, message);
    exit(1);
  }
}

static void dirty_file(void *path, int round) {
  sqlite3 *db;
  char sql[80];
  sqlite3_open(path, &db);
  snprintf(sql, sizeof sql, "UPDATE t SET b = 'round %d' WHERE a %% 100 = 7",
           round);
  run(db, sql);
  run(db, "INSERT INTO t (b) VALUES ('new')");
  sqlite3_close(db);
}

static double sqlite_time(const char *dir) {
  char *path = mem_printf("%s/app.sqlite", dir);
  char *scratch = mem_printf("%s/state", dir);
  const char *files[] = {path, NULL};
  StatePlaces places = {.files = files};
  AppState *s;
  Err err;
  sqlite3 *db;
  sqlite3_open(path, &db);
  run(db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)");
  run(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
          "WHERE i < 5000) INSERT INTO t SELECT i, hex(randomblob(40)) FROM n");
  sqlite3_close(db);
  if (app_state_open(&s, &places, scratch, &err))
    die(&err);
  double ms = median(s, dirty_file, path);
  app_state_close(s);
  free(path);
  free(scratch);
  return ms;
}

// --- MariaDB ----------------------------------------------------------------

static void dirty_tables(void *sql, int round) {
  Err err;
  for (int i = 0; i < DIRTY; i++)
    if (sql_run(sql, &err,
                "UPDATE app.t%d SET b = 'round %d' WHERE a %% 50 = 7; INSERT "
                "INTO app.t%d (b) VALUES ('new'); DELETE FROM app.t%d WHERE a "
                "= 11",
                (round + i) % TABLES, round, (round + i) % TABLES,
                (round + i) % TABLES))
      die(&err);
}

static void make_tables(Sql *sql) {
  Err err;
  if (sql_run(sql, &err, "CREATE DATABASE app"))
    die(&err);
  for (int i = 0; i < TABLES; i++)
    if (sql_run(sql, &err,
                "CREATE TABLE app.t%d (a INT AUTO_INCREMENT PRIMARY KEY, b "
                "VARCHAR(100), c DATE) ENGINE=InnoDB",
                i) ||
        sql_run(sql, &err,
                "INSERT INTO app.t%d (b) WITH RECURSIVE n(i) AS (SELECT 1 "
                "UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT "
                "CONCAT('row ', i) FROM n",
                i, ROWS))
      die(&err);
}

static double mariadb_time(const char *dir) {
  char *place = mem_printf("%s/db", dir), *scratch = mem_printf("%s/s2", dir);
  const char *databases[] = {"app", NULL};
  MariaDb *m = NULL;
  AppState *s;
  Err err;
  double ms = -1;
  if (mariadb_start(&m, place, NULL, NULL, &err)) {
    fprintf(stderr, "%s\n", err.text);
  } else {
    Sql *sql = sql_open(mariadb_socket(m), &err);
    if (!sql)
      die(&err);
    make_tables(sql);
    StatePlaces places = {.mariadb_socket = mariadb_socket(m),
                          .databases = databases};
    if (app_state_open(&s, &places, scratch, &err))
      die(&err);
    ms = median(s, dirty_tables, sql);
    app_state_close(s);
    sql_close(sql);
  }
  mariadb_stop(m);
  free(place);
  free(scratch);
  return ms;
}

int main(int argc, char **argv) {
  Err err;
  if (argc != 2) {
    fprintf(stderr, "usage: bench_state_restore DIR\n");
    return 2;
  }
  fs_remove_tree(argv[1]);
  if (fs_mkdirs(argv[1], &err))
    die(&err);
  double file = sqlite_time(argv[1]);
  printf("%.2f %.2f\n", file, mariadb_time(argv[1]));
  fs_remove_tree(argv[1]);
  return 0;
}
