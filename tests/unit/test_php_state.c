// Unit tests of the state of PHP applications: files, SQLite, and MariaDB with
// a real server, where there is one.
#include "test.h"

#include "test_php.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "php/child.h"
#include "php/state/app_state.h"
#include "php/state/sql.h"
#include "util/clock.h"

// --- state: files
// -------------------------------------------------------------

static AppState *open_state(const char *const *files) {
  StatePlaces p = {.session_dir = in_scratch("sess"), .files = files};
  AppState *s;
  check(app_state_open(&s, &p, in_scratch("st"), &err));
  return s;
}

static uint32_t save(AppState *s) {
  uint32_t id;
  check(app_state_save(s, &id, &err));
  return id;
}

static void restore(AppState *s, uint32_t id, const char *last) {
  check(app_state_restore(s, id, &err));
  assert_string_equal(app_state_last(s), last);
}

TEST(files_come_back_and_equal_states_have_one_number) {
  begin();
  put("sess/sess_a", "one");
  put("data/deep/x", "x");
  const char *files[] = {in_scratch("data"), NULL};
  char *data = mem_strdup(files[0]);
  files[0] = data;
  AppState *s = open_state(files);
  assert_int_equal(save(s), 0);
  put("sess/sess_a", "two"); // the same size, in the same tick
  put("sess/sess_b", "new");
  uint32_t later = save(s);
  assert_int_not_equal(later, 0);
  restore(s, 0, "2 files, 0 tables");
  assert_true(holds("sess/sess_a", "one"));
  assert_false(fs_exists(in_scratch("sess/sess_b")));
  assert_int_equal(save(s), 0);
  restore(s, 0, "0 files, 0 tables");
  restore(s, later, "2 files, 0 tables");
  assert_true(holds("sess/sess_a", "two"));
  assert_true(holds("sess/sess_b", "new"));
  put("sess/sess_a", "one");
  unlink(in_scratch("sess/sess_b"));
  assert_int_equal(save(s), 0);
  assert_int_equal(app_state_restore(s, 77, &err), -1);
  app_state_close(s);
  free(data);
  tidy();
}

// The state of a worker whose directory is `dir`, with one file and a session.
static uint64_t digest_of(const char *dir, const char *session,
                          const char *text, uint64_t *of_session) {
  char *root = mem_strdup(in_scratch(dir));
  char *sessions = mem_printf("%s/sess", root);
  char *data = mem_printf("%s/data", root);
  char *own = mem_printf("%s/st", root);
  char *name = mem_printf("%s/sess/sess_%s", dir, session);
  char *file = mem_printf("%s/data/x", dir);
  const char *files[] = {data, NULL};
  StatePlaces p = {.session_dir = sessions, .files = files};
  AppState *s;
  put(name, text);
  put(file, "x");
  check(app_state_open(&s, &p, own, &err));
  uint64_t digest = app_state_digest(s, 0, root);
  *of_session = app_state_session_digest(s, 0, session);
  assert_int_equal(app_state_session_digest(s, 0, "another"), 0);
  app_state_close(s);
  char *all[] = {root, sessions, data, own, name, file};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
  return digest;
}

TEST(equal_contents_have_one_digest_wherever_and_whatever_the_session_is) {
  uint64_t a, b, c;
  begin();
  uint64_t x = digest_of("w0", "abc", "user|admin", &a);
  uint64_t y = digest_of("w1", "other", "user|admin", &b);
  uint64_t z = digest_of("w2", "abc", "user|guest", &c);
  assert_true(x == y && a == b && a != 0);
  assert_true(x != z && a != c);
  tidy();
}

TEST(every_write_is_noticed_however_soon_it_follows) {
  begin();
  put("sess/f", "0000");
  AppState *s = open_state(NULL);
  for (int i = 1; i < 300; i++) {
    char text[16];
    snprintf(text, sizeof text, "%04d", i);
    int fd = open(in_scratch("sess/f"), O_WRONLY);
    assert_int_equal(pwrite(fd, text, 4, 0), 4);
    close(fd);
    if (i % 2)
      assert_int_equal(save(s), i / 2 + 1);
    restore(s, 0, "1 file, 0 tables");
    assert_true(holds("sess/f", "0000"));
  }
  app_state_close(s);
  tidy();
}

TEST(two_writes_in_one_tick_of_the_clock_make_two_states) {
  begin();
  put("sess/f", "000");
  AppState *s = open_state(NULL);
  for (uint32_t i = 1; i < 200; i++) {
    char text[16];
    snprintf(text, sizeof text, "%03u", i);
    int fd = open(in_scratch("sess/f"), O_WRONLY);
    assert_int_equal(pwrite(fd, text, 3, 0), 3);
    close(fd);
    assert_int_equal(save(s), i);
  }
  app_state_close(s);
  tidy();
}

TEST(directories_links_and_modes_come_back_and_nothing_outside_is_touched) {
  begin();
  put("sess/d/e/f", "f");
  put("outside/precious", "kept");
  put("sess/plain", "plain");
  symlink("plain", in_scratch("sess/link"));
  AppState *s = open_state(NULL);
  fs_remove_tree(in_scratch("sess/d"));
  symlink(in_scratch("outside"), in_scratch("sess/d")); // a trap
  unlink(in_scratch("sess/link"));
  symlink("elsewhere", in_scratch("sess/link"));
  chmod(in_scratch("sess/plain"), 0600);
  fs_mkdirs(in_scratch("sess/more/dirs"), &err);
  mkfifo(in_scratch("sess/more/pipe"), 0600);
  check(app_state_restore(s, 0, &err));
  assert_true(holds("sess/d/e/f", "f"));
  assert_true(holds("outside/precious", "kept"));
  struct stat st;
  assert_int_equal(lstat(in_scratch("sess/d"), &st), 0);
  assert_true(S_ISDIR(st.st_mode));
  assert_int_equal(stat(in_scratch("sess/plain"), &st), 0);
  assert_int_not_equal(st.st_mode & 0777, 0600);
  assert_true(holds("sess/link", "plain"));
  assert_false(fs_exists(in_scratch("sess/more")));
  assert_int_equal(save(s), 0);
  app_state_close(s);
  tidy();
}

static void sqlite_do(const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(in_scratch("data/app.db"), &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL))
    fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  sqlite3_close(db);
}

static int sqlite_count(void) {
  sqlite3 *db;
  sqlite3_stmt *q;
  sqlite3_open(in_scratch("data/app.db"), &db);
  assert_int_equal(
      sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &q, NULL),
      SQLITE_OK);
  assert_int_equal(sqlite3_step(q), SQLITE_ROW);
  int n = sqlite3_column_int(q, 0);
  sqlite3_finalize(q);
  sqlite3_close(db);
  return n;
}

// A process that dies in the middle of a transaction of a WAL database.
static void die_writing(void) {
  pid_t pid = fork();
  if (pid == 0) {
    sqlite3 *db;
    sqlite3_open(in_scratch("data/app.db"), &db);
    sqlite3_exec(db, "PRAGMA journal_mode=WAL; INSERT INTO t VALUES (99);",
                 NULL, NULL, NULL);
    kill(getpid(), SIGKILL);
  }
  int status;
  waitpid(pid, &status, 0);
}

TEST(a_sqlite_database_comes_back_also_from_a_write_ahead_log) {
  begin();
  put("data/none", "");
  char *path = mem_strdup(in_scratch("data/app.db"));
  sqlite_do("PRAGMA journal_mode=WAL; CREATE TABLE t(x); "
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c "
            "WHERE n < 5000) INSERT INTO t SELECT n FROM c;");
  const char *files[] = {path, NULL};
  AppState *s = open_state(files);
  double worst = 0;
  for (int i = 0; i < 10; i++) {
    sqlite_do("INSERT INTO t SELECT x FROM t WHERE x < 50;");
    assert_int_equal(sqlite_count(), 5049);
    double from = clock_now();
    check(app_state_restore(s, 0, &err));
    worst = clock_now() - from > worst ? clock_now() - from : worst;
    assert_int_equal(sqlite_count(), 5000);
  }
  print_message("# restore of a SQLite file: %.2f ms at most\n", worst * 1e3);
  die_writing();
  assert_true(fs_exists(in_scratch("data/app.db-wal")));
  uint32_t wal = save(s);
  check(app_state_restore(s, 0, &err));
  assert_false(fs_exists(in_scratch("data/app.db-wal")));
  assert_int_equal(sqlite_count(), 5000);
  check(app_state_restore(s, wal, &err));
  assert_int_equal(sqlite_count(), 5001);
  app_state_close(s);
  free(path);
  tidy();
}

// --- state: MariaDB
// -----------------------------------------------------------

static bool no_server(void) {
  static const char *const names[] = {"mariadbd", "mysqld", NULL};
  char *path = child_find(names);
  free(path);
  return !path;
}

typedef struct {
  MariaDb *m;
  AppState *s;
} Database;

// As the application would: a connection for each request.
static Sql *log_in(const Database *d) {
  Sql *sql = sql_open(mariadb_socket(d->m), &err);
  assert_non_null(sql);
  check(sql_run(sql, &err, "USE app"));
  return sql;
}

// One server for all tests: making its data takes a second. Its directory has a
// name that is longer than a socket's may be.
static MariaDb *server;
static char server_dir[200];

static void stop_server(void) {
  mariadb_stop(server);
  server = NULL;
}

static void remove_server(void) {
  stop_server();
  *strrchr(server_dir, '/') = '\0';
  fs_remove_tree(server_dir);
}

static void start_server(void) {
  if (!*server_dir) {
    strcpy(server_dir, "/tmp/culprit-driver-db-XXXXXX");
    assert_non_null(mkdtemp(server_dir));
    size_t n = strlen(server_dir);
    server_dir[n++] = '/';
    memset(server_dir + n, 'n', sizeof server_dir - n - 1);
    atexit(remove_server);
  }
  if (!server)
    check(mariadb_start(&server, server_dir, NULL, NULL, &err));
}

static void begin_database(Database *d, const char *schema) {
  const char *databases[] = {"app", NULL};
  begin();
  put("schema.sql", schema);
  start_server();
  d->m = server;
  Sql *sql = sql_open(mariadb_socket(d->m), &err);
  assert_non_null(sql);
  check(sql_run(sql, &err, "DROP DATABASE IF EXISTS app"));
  sql_close(sql);
  check(mariadb_load(d->m, "app", in_scratch("schema.sql"), &err));
  StatePlaces p = {.mariadb_socket = mariadb_socket(d->m),
                   .databases = databases};
  check(app_state_open(&d->s, &p, in_scratch("st"), &err));
}

static void end_database(Database *d) {
  app_state_close(d->s);
  tidy();
}

static int try_to(Database *d, const char *statement) {
  Sql *sql = log_in(d);
  int rc = sql_run(sql, &err, "%s", statement);
  sql_close(sql);
  return rc;
}

static void act(Database *d, const char *statement) {
  check(try_to(d, statement));
}

// All values of a query, with blanks between them.
static void gives(Database *d, const char *query, const char *want) {
  Sql *sql = log_in(d);
  MYSQL_RES *rows = sql_rows(sql, &err, "%s", query);
  Str got = {0};
  if (!rows)
    fail_msg("%s", err.text);
  for (MYSQL_ROW r; (r = mysql_fetch_row(rows));)
    for (unsigned i = 0; i < mysql_num_fields(rows); i++)
      str_addf(&got, "%s%s", got.len ? " " : "", r[i] ? r[i] : "NULL");
  mysql_free_result(rows);
  sql_close(sql);
  if (strcmp(str_text(&got), want))
    fail_msg("%s: '%s' instead of '%s'", query, str_text(&got), want);
  str_release(&got);
}

static const char schema[] =
    "CREATE TABLE user (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30) "
    "UNIQUE, score FLOAT, twice DOUBLE AS (score * 2));\n"
    "CREATE TABLE post (id INT AUTO_INCREMENT PRIMARY KEY, owner INT, text "
    "TEXT, FOREIGN KEY (owner) REFERENCES user (id) ON DELETE CASCADE);\n"
    "CREATE TABLE `odd-name``s` (k VARCHAR(10)) ENGINE=MyISAM;\n"
    "CREATE TABLE audit (what TEXT);\n"
    "CREATE TABLE watched (v INT);\n"
    "DELIMITER //\n"
    "CREATE TRIGGER watch AFTER INSERT ON watched FOR EACH ROW BEGIN INSERT "
    "INTO audit VALUES (CONCAT('v;', NEW.v)); END//\n"
    "DELIMITER ;\n"
    "INSERT INTO user (name, score) VALUES ('ann', 0.1), ('bob', 1e-7);\n"
    "INSERT INTO post (owner, text) VALUES (1, 'hi'), (2, NULL);\n"
    "INSERT INTO `odd-name``s` VALUES ('x'), ('x');\n"
    "INSERT INTO watched VALUES (1);\n";

TEST(only_dirty_tables_of_mariadb_are_restored_and_completely) {
  Database d;
  if (no_server())
    skip();
  begin_database(&d, schema);
  restore(d.s, 0, "0 files, 0 tables");
  act(&d, "INSERT INTO user (name, score) VALUES ('cy', 3)");
  uint32_t with_cy = save(d.s);
  restore(d.s, 0, "0 files, 1 table");
  gives(&d, "SELECT id, name, score, twice FROM user ORDER BY id",
        "1 ann 0.1 0.20000000298023224 2 bob 0.0000001 "
        "0.00000020000000233721948");
  act(&d, "INSERT INTO user (name, score) VALUES ('cy', 3)"); // id 3 again
  assert_int_equal(save(d.s), with_cy);
  restore(d.s, 0, "0 files, 1 table");
  act(&d, "DELETE FROM user WHERE id = 1"); // its workers too
  gives(&d, "SELECT count(*) FROM post", "1");
  restore(d.s, 0, "0 files, 2 tables");
  gives(&d, "SELECT owner, text FROM post ORDER BY id", "1 hi 2 NULL");
  assert_int_equal(try_to(&d, "INSERT INTO user (name) VALUES ('ann')"), -1);
  restore(d.s, 0, "0 files, 1 table"); // it took a number
  act(&d, "ALTER TABLE user AUTO_INCREMENT = 50");
  check(app_state_restore(d.s, 0, &err));
  act(&d, "INSERT INTO user (name) VALUES ('dee')");
  gives(&d, "SELECT id FROM user WHERE name = 'dee'", "3");
  act(&d, "UPDATE `odd-name``s` SET k = 'y' LIMIT 1");
  restore(d.s, 0, "0 files, 2 tables");
  gives(&d, "SELECT k FROM `odd-name``s`", "x x");
  act(&d, "UPDATE user SET score = score * 1.0000002 WHERE id = 1");
  assert_int_not_equal(save(d.s), 0); // six digits would not show it
  restore(d.s, with_cy, "0 files, 1 table");
  gives(&d, "SELECT count(*) FROM user", "3");
  restore(d.s, 0, "0 files, 1 table");
  assert_int_equal(save(d.s), 0);
  end_database(&d);
}

TEST(tables_made_dropped_altered_or_truncated_and_triggers_come_back) {
  Database d;
  if (no_server())
    skip();
  begin_database(&d, schema);
  act(&d, "CREATE TABLE fresh (x INT)");
  act(&d, "DROP TABLE post");
  act(&d, "ALTER TABLE user ADD COLUMN mail TEXT, ALGORITHM=INSTANT");
  act(&d, "TRUNCATE TABLE `odd-name``s`");
  act(&d, "INSERT INTO watched VALUES (2)");
  act(&d, "DROP TRIGGER watch");
  uint32_t wild = save(d.s);
  check(app_state_restore(d.s, 0, &err));
  gives(&d, "SHOW TABLES", "audit odd-name`s post user watched");
  gives(&d, "SELECT count(*) FROM post", "2");
  gives(&d, "SELECT count(*) FROM `odd-name``s`", "2");
  gives(&d, "SELECT * FROM audit", "v;1");
  gives(&d,
        "SELECT count(*) FROM information_schema.COLUMNS WHERE "
        "TABLE_NAME = 'user' AND COLUMN_NAME = 'mail'",
        "0");
  act(&d, "INSERT INTO watched VALUES (3)");
  gives(&d, "SELECT * FROM audit", "v;1 v;3");
  act(&d, "DELETE FROM user WHERE id = 2"); // the foreign key is back
  gives(&d, "SELECT count(*) FROM post", "1");
  check(app_state_restore(d.s, wild, &err));
  gives(&d, "SHOW TABLES", "audit fresh odd-name`s user watched");
  gives(&d, "SELECT count(*) FROM `odd-name``s`", "0");
  gives(&d, "SELECT * FROM watched", "1 2");
  assert_int_equal(save(d.s), wild);
  check(app_state_restore(d.s, 0, &err));
  assert_int_equal(save(d.s), 0);
  end_database(&d);
}

TEST(rows_come_back_whatever_their_types_and_keys) {
  Database d;
  if (no_server())
    skip();
  begin_database(
      &d,
      "CREATE TABLE swap (id INT PRIMARY KEY, u INT UNIQUE, c CHAR(3));\n"
      "INSERT INTO swap VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, NULL);\n"
      "CREATE TABLE `pair` (`a,``b` INT, b BIGINT, v TEXT, PRIMARY KEY "
      "(`a,``b`, b));\n"
      "INSERT INTO pair VALUES (1, 1, 'x'), (1, 2, 'y');\n"
      "CREATE TABLE named (k VARCHAR(20) PRIMARY KEY, v INT);\n"
      "INSERT INTO named VALUES ('a', 1), ('b', 2);\n"
      "CREATE TABLE keys_only (id INT PRIMARY KEY);\n"
      "INSERT INTO keys_only VALUES (1), (5);\n"
      "CREATE TABLE types (id INT AUTO_INCREMENT PRIMARY KEY, b BLOB, f FLOAT, "
      "d DECIMAL(20,9), e ENUM('x','y'), s SET('p','q'), t TIMESTAMP NULL, "
      "y YEAR, n BIT(3), g GEOMETRY);\n"
      "INSERT INTO types VALUES (0, 'Ab', 0.1, 0.123456789, 'x', 'p,q', "
      "'2020-03-29 01:30:00', 1999, b'101', POINT(1, 2));\n"
      "CREATE TABLE large (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT);\n"
      "INSERT INTO large (v) SELECT REPEAT('z', 50) FROM seq_1_to_20000;\n");
  act(&d, "UPDATE swap SET u = NULL");
  act(&d, "UPDATE swap SET u = 20, c = 'A' WHERE id = 1");
  act(&d, "UPDATE swap SET u = 10 WHERE id = 2");
  act(&d, "INSERT INTO swap VALUES (4, 30, 'x')");
  act(&d, "UPDATE pair SET v = 'X'");
  act(&d, "DELETE FROM pair WHERE b = 2");
  act(&d, "UPDATE named SET k = 'A' WHERE k = 'a'");
  act(&d, "DELETE FROM keys_only WHERE id = 5");
  act(&d, "INSERT INTO keys_only VALUES (6)");
  act(&d, "UPDATE types SET b = 'AB', g = POINT(3, 4)");
  act(&d, "UPDATE large SET v = UPPER(v) WHERE id = 7777");
  act(&d, "DELETE FROM large WHERE id = 20000");
  uint32_t other = save(d.s);
  assert_int_not_equal(other, 0);
  for (int i = 0; i < 2; i++) {
    double from = clock_now();
    restore(d.s, 0, "0 files, 6 tables");
    print_message("# restore of 20,000 rows and more: %.1f ms\n",
                  (clock_now() - from) * 1e3);
    gives(&d, "SELECT * FROM swap", "1 10 a 2 20 b 3 30 NULL");
    gives(&d, "SELECT * FROM pair", "1 1 x 1 2 y");
    gives(&d, "SELECT * FROM named", "a 1 b 2");
    gives(&d, "SELECT * FROM keys_only", "1 5");
    gives(&d, "SELECT b, f, d, e, s, t, y, n + 0, ST_AsText(g) FROM types",
          "Ab 0.1 0.123456789 x p,q 2020-03-29 01:30:00 1999 5 POINT(1 2)");
    gives(&d, "SELECT count(*), min(BINARY v) = REPEAT('z', 50) FROM large",
          "20000 1");
    assert_int_equal(save(d.s), 0);
    restore(d.s, other, "0 files, 6 tables");
    assert_int_equal(save(d.s), other);
    gives(&d, "SELECT k FROM named", "A b");
    gives(&d, "SELECT c FROM swap WHERE id = 1", "A");
  }
  end_database(&d);
}

TEST(three_dirty_tables_of_twenty_are_restored_and_nothing_else) {
  Database d;
  Str sql = {0};
  if (no_server())
    skip();
  for (int i = 0; i < 20; i++)
    str_addf(&sql,
             "CREATE TABLE t%d (id INT AUTO_INCREMENT PRIMARY KEY, a "
             "VARCHAR(50), b TEXT, n INT, KEY (n)); INSERT INTO t%d (a, b, n) "
             "SELECT seq, REPEAT('x', 100), seq FROM seq_1_to_300;\n",
             i, i);
  begin_database(&d, sql.data);
  double best = 1e9;
  for (int i = 0; i < 8; i++) {
    act(&d, "INSERT INTO t1 (a) VALUES ('new')");
    act(&d, "UPDATE t7 SET n = n + 1 WHERE id < 20");
    act(&d, "DELETE FROM t19 WHERE id = 300");
    double from = clock_now();
    restore(d.s, 0, "0 files, 3 tables");
    best = clock_now() - from < best ? clock_now() - from : best;
  }
  print_message("# restore of three tables: %.1f ms at best\n", best * 1e3);
  assert_int_equal(save(d.s), 0);
  str_release(&sql);
  end_database(&d);
}

TEST(a_query_that_outlives_its_worker_is_stopped_before_the_state_is_taken) {
  Database d;
  Bench b;
  if (no_server())
    skip();
  begin_database(&d, schema);
  put("root/slow.php",
      "<?php $db = new mysqli('localhost', 'any', 'thing', 'app');"
      "$db->query(\"INSERT INTO audit SELECT SLEEP(30)\");");
  put("root/open.php",
      "<?php $db = new PDO('mysql:host=localhost;dbname=app', 'u', 'p');"
      "$db->beginTransaction(); $db->exec(\"INSERT INTO audit VALUES ('x')\");"
      "echo $db->query('SELECT count(*) FROM audit')->fetchColumn();"
      "ob_end_flush(); flush(); posix_kill(getmypid(), 9);");
  WebApp s = {.root = in_scratch("root"),
              .timeout = 0.5,
              .mariadb_socket = mariadb_socket(d.m)};
  open_worker(&b, &s);
  ask(&b, "/slow.php");
  assert_int_equal(b.e.end, EXCHANGE_TIMEOUT);
  double from = clock_now();
  assert_int_equal(save(d.s), 0);
  assert_true(clock_now() - from < 5);
  assert_string_equal(ask(&b, "/open.php"), "2");
  assert_int_equal(b.e.end, EXCHANGE_DIED);
  check(app_state_restore(d.s, 0, &err));
  gives(&d, "SELECT * FROM audit", "v;1");
  close_worker(&b);
  end_database(&d);
}

TEST(a_persistent_connection_with_a_transaction_and_locks_is_ended) {
  Database d;
  Bench b;
  if (no_server())
    skip();
  begin_database(&d, schema);
  put("root/keep.php",
      "<?php $db = new PDO('mysql:host=localhost;dbname=app', 'u', 'p', "
      "[PDO::ATTR_PERSISTENT => true]); $db->exec('SET autocommit = 0');"
      "echo $db->exec(\"INSERT INTO audit VALUES ('x')\");"
      "$db->exec('LOCK TABLES user WRITE, audit WRITE');"
      "echo $db->exec(\"INSERT INTO user (name) VALUES ('zed')\");");
  WebApp s = {.root = in_scratch("root"),
              .timeout = 5,
              .mariadb_socket = mariadb_socket(d.m)};
  open_worker(&b, &s);
  for (int i = 0; i < 3; i++) {
    assert_string_equal(ask(&b, "/keep.php"), "11");
    double from = clock_now();
    check(app_state_restore(d.s, 0, &err));
    assert_true(clock_now() - from < 2);
    gives(&d, "SELECT * FROM audit", "v;1");
    gives(&d, "SELECT count(*) FROM user", "2");
  }
  assert_int_equal(save(d.s), 0);
  close_worker(&b);
  end_database(&d);
}

TEST(a_database_server_that_is_gone_is_told) {
  Database d;
  uint32_t id;
  if (no_server())
    skip();
  begin_database(&d, "CREATE TABLE t (x INT);\n");
  assert_true(mariadb_alive(d.m));
  assert_int_equal(mariadb_load(d.m, "app", in_scratch("none.sql"), &err), -1);
  put("bad.sql", "SELECT 1;\nSELECT nonsense;\n");
  assert_int_equal(mariadb_load(d.m, "app", in_scratch("bad.sql"), &err), -1);
  assert_non_null(strstr(err.text, "bad.sql"));
  assert_non_null(strstr(err.text, "nonsense"));
  Str pid = {0}, file = {0};
  str_addf(&file, "%s/mariadb.pid", server_dir);
  check(fs_read(file.data, 0, &pid, &err));
  str_release(&file);
  kill(atoi(pid.data), SIGKILL);
  for (int i = 0; i < 500 && mariadb_alive(d.m); i++)
    usleep(10000);
  assert_false(mariadb_alive(d.m));
  assert_int_equal(app_state_restore(d.s, 0, &err), -1);
  assert_non_null(strstr(err.text, "is gone"));
  assert_int_equal(app_state_save(d.s, &id, &err), -1);
  str_release(&pid);
  end_database(&d);
  stop_server();
}

TEST(a_server_that_was_killed_starts_again_in_a_directory_with_a_long_name) {
  Database d;
  if (no_server())
    skip();
  begin_database(&d, "CREATE TABLE t (x INT);\n"); // killed by the last test
  assert_true(strlen(server_dir) > 150);
  char *socket = mem_strdup(mariadb_socket(d.m));
  assert_true(fs_exists(socket));
  gives(&d, "SELECT count(*) FROM t", "0");
  end_database(&d);
  stop_server();
  *strrchr(socket, '/') = '\0';
  assert_false(fs_exists(socket));
  free(socket);
}

TEST(a_socket_that_nobody_listens_at_is_told) {
  const char *databases[] = {"app", NULL};
  AppState *s;
  begin();
  StatePlaces p = {.mariadb_socket = in_scratch("no.sock"),
                   .databases = databases};
  assert_int_equal(app_state_open(&s, &p, in_scratch("st"), &err), -1);
  assert_null(s);
  assert_non_null(strstr(err.text, "no.sock is gone"));
  tidy();
}
