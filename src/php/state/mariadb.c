// A private MariaDB server: see app_state.h. Its data is temporary, so nothing
// is ever synced to disk; it looks up no privileges, so the application's own
// user and password are welcome whatever they are; it listens on one Unix
// socket only and writes files nowhere but in its directory.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "php/child.h"
#include "php/state/app_state.h"
#include "php/state/sql.h"
#include "util/area.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  START_SECONDS = 60,
  STOP_MS = 10000,
  INSTALL_MS = 120000,
  LAST_WORDS = 600
};

struct MariaDb {
  char *dir, *data, *temporary, *socket, *log, *load_log;
  Area short_dir; // of the socket, if dir is too long
  ChildProcess child;
};

const char *mariadb_socket(const MariaDb *m) { return m->socket; }

bool mariadb_alive(MariaDb *m) { return !child_ended(&m->child, 0); }

static int complain(const MariaDb *m, const char *program, const char *what,
                    Err *err) {
  char *words = child_log_end(m->log, LAST_WORDS);
  err_set(err, "%s: %s; its log %s ends: %s", program, what, m->log, words);
  free(words);
  return -1;
}

// --- running its programs ---------------------------------------------------

static char *find_program(const char *const names[], Err *err) {
  char *path = child_find(names);
  if (!path)
    err_set(err, "no %s in PATH; install mariadb-server", names[0]);
  return path;
}

// Output goes to the log.
static int launch(MariaDb *m, TextList *words, int in, ChildProcess *child,
                  Err *err) {
  int log = open(m->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (log < 0)
    return err_set(err, "%s: %s", m->log, strerror(errno));
  array_push(words, NULL);
  ChildPlan plan = {.path = words->items[0],
                    .argv = words->items,
                    .in = in,
                    .out = log,
                    .err = log};
  int rc = child_start(child, &plan, err);
  close(log);
  return rc;
}

// Runs a program to its end.
static int run(MariaDb *m, TextList *words, int in, int milliseconds,
               Err *err) {
  ChildProcess child;
  char how[32];
  if (launch(m, words, in, &child, err))
    return -1;
  if (!child_ended(&child, milliseconds)) {
    child_kill(&child);
    return complain(m, words->items[0],
                    stop_requested() ? "interrupted" : "takes too long", err);
  }
  if (!child.status)
    return 0;
  return complain(m, words->items[0], child_how(child.status, how), err);
}

// --- the data directory -----------------------------------------------------

static void add_common(const MariaDb *m, TextList *w) {
  array_push(w, mem_strdup("--no-defaults"));
  if (geteuid() == 0)
    array_push(w, mem_strdup("--user=root"));
  array_push(w, mem_printf("--datadir=%s", m->data));
  array_push(w, mem_printf("--tmpdir=%s", m->temporary));
  array_push(w, mem_strdup("--innodb-log-file-size=16M"));
  array_push(w, mem_strdup("--innodb-flush-method=nosync"));
  array_push(w, mem_strdup("--debug-no-sync=1"));
}

static int install(MariaDb *m, Err *err) {
  static const char *const names[] = {"mariadb-install-db", "mysql_install_db",
                                      NULL};
  char *mark = mem_printf("%s/installed", m->dir);
  TextList w = {0};
  char *program = NULL;
  int rc = 0;
  if (!fs_exists(mark)) { // or an attempt was cut short
    fs_remove_tree(m->data);
    program = find_program(names, err);
    rc = program ? 0 : -1;
    array_push(&w, program);
    add_common(m, &w);
    array_push(&w, mem_strdup("--auth-root-authentication-method=normal"));
    array_push(&w, mem_strdup("--skip-test-db"));
    array_push(&w, mem_strdup("--skip-name-resolve"));
    if (!rc)
      rc = run(m, &w, -1, INSTALL_MS, err);
    if (!rc)
      rc = fs_write(mark, "", 0, err);
  }
  text_list_release(&w);
  free(mark);
  return rc;
}

// --- the server -------------------------------------------------------------

static void add_server_options(const MariaDb *m, TextList *w) {
  static const char *const fixed[] = {
      "--skip-networking",
      "--skip-grant-tables",
      "--skip-log-bin",
      "--character-set-server=utf8mb4",
      "--collation-server=utf8mb4_general_ci",
      "--innodb-flush-log-at-trx-commit=0",
      "--innodb-doublewrite=0",
      "--innodb-buffer-pool-size=64M",
      "--innodb-buffer-pool-dump-at-shutdown=0",
      "--innodb-buffer-pool-load-at-startup=0",
      "--innodb-stats-auto-recalc=0", // it resets the counters we read
      "--innodb-use-native-aio=0",
      "--key-buffer-size=8M",
      "--aria-pagecache-buffer-size=8M",
      "--sync-frm=0",
      "--performance-schema=0",
      "--userstat=1",
      "--max-connections=100",
      "--table-definition-cache=4000"};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    array_push(w, mem_strdup(fixed[i]));
  array_push(w, mem_printf("--socket=%s", m->socket));
  array_push(w, mem_printf("--pid-file=%s/mariadb.pid", m->dir));
  array_push(w, mem_printf("--secure-file-priv=%s", m->temporary));
}

static bool answers(const MariaDb *m) {
  Err ignored;
  Sql *db = sql_open(m->socket, &ignored);
  sql_close(db);
  return db != NULL;
}

static int wait_until_ready(MariaDb *m, const char *program, Err *err) {
  double limit = clock_now() + START_SECONDS;
  char how[32];
  while (!answers(m)) {
    if (child_ended(&m->child, 5))
      return complain(m, program, child_how(m->child.status, how), err);
    if (clock_now() > limit || stop_requested())
      return complain(m, program, "does not answer", err);
  }
  return 0;
}

static int start_server(MariaDb *m, const char *sql_mode, Err *err) {
  static const char *const names[] = {"mariadbd", "mysqld", NULL};
  TextList w = {0};
  char *program = find_program(names, err);
  if (!program)
    return -1;
  array_push(&w, program);
  add_common(m, &w);
  add_server_options(m, &w);
  if (sql_mode)
    array_push(&w, mem_printf("--sql-mode=%s", sql_mode));
  unlink(m->socket);
  int rc = launch(m, &w, -1, &m->child, err);
  if (!rc)
    rc = wait_until_ready(m, program, err);
  text_list_release(&w);
  return rc;
}

// Beside the data, or under a short name if that one is too long for a socket.
static int choose_socket(MariaDb *m, Err *err) {
  size_t most = sizeof((struct sockaddr_un *)0)->sun_path - 1;
  m->socket = mem_printf("%s/mariadb.sock", m->dir);
  if (strlen(m->socket) <= most)
    return 0;
  if (area_open(&m->short_dir, "/tmp", err))
    return err_prefix(err,
                      "%s: longer than the name of a socket may be (%zu "
                      "bytes), choose a shorter scratch directory",
                      m->socket, most);
  free(m->socket);
  m->socket = mem_printf("%s/mariadb.sock", m->short_dir.dir);
  return 0;
}

int mariadb_start(MariaDb **out, const char *dir, const char *log,
                  const char *sql_mode, Err *err) {
  MariaDb *m = mem_new(MariaDb);
  m->child.pidfd = -1;
  m->short_dir = AREA_NONE;
  m->dir = path_absolute(dir, NULL);
  m->data = mem_printf("%s/data", m->dir);
  m->temporary = mem_printf("%s/tmp", m->dir);
  char *name =
      log ? path_absolute(log, NULL) : mem_printf("%s/mariadb", m->dir);
  m->log = mem_printf("%s.log", name);
  m->load_log = mem_printf("%s-load.log", name);
  free(name);
  *out = NULL;
  if (choose_socket(m, err) || fs_mkdirs(m->temporary, err) ||
      install(m, err) || start_server(m, sql_mode, err)) {
    mariadb_stop(m);
    return -1;
  }
  *out = m;
  return 0;
}

void mariadb_stop(MariaDb *m) {
  if (!m)
    return;
  child_stop(&m->child, STOP_MS);
  area_close(&m->short_dir);
  free(m->dir);
  free(m->data);
  free(m->temporary);
  free(m->socket);
  free(m->log);
  free(m->load_log);
  free(m);
}

// --- loading ----------------------------------------------------------------

static int make_schema(const MariaDb *m, const char *schema, Err *err) {
  Sql *db = sql_open(m->socket, err);
  Str name = {0};
  if (!db)
    return -1;
  sql_quote(&name, schema);
  int rc = sql_run(db, err, "CREATE DATABASE IF NOT EXISTS %s", name.data);
  sql_close(db);
  str_release(&name);
  return rc;
}

// The client knows what a dump may hold (DELIMITER). Its complaints go to a log
// of their own: the server writes to the other one.
int mariadb_load(MariaDb *m, const char *schema, const char *sql_file,
                 Err *err) {
  static const char *const names[] = {"mariadb", "mysql", NULL};
  MariaDb loader = *m;
  TextList w = {0};
  if (!sql_file)
    return make_schema(m, schema, err);
  int in = open(sql_file, O_RDONLY | O_CLOEXEC);
  if (in < 0)
    return err_set(err, "%s: %s", sql_file, strerror(errno));
  char *program = find_program(names, err);
  int rc = program ? make_schema(m, schema, err) : -1;
  array_push(&w, program);
  array_push(&w, mem_strdup("--no-defaults"));
  array_push(&w, mem_strdup("--batch"));
  array_push(&w, mem_strdup("--binary-mode"));
  array_push(&w, mem_strdup("--default-character-set=utf8mb4"));
  array_push(&w, mem_printf("--socket=%s", m->socket));
  array_push(&w, mem_printf("--database=%s", schema));
  loader.log = m->load_log;
  if (!rc && run(&loader, &w, in, INSTALL_MS, err))
    rc = err_prefix(err, "%s", sql_file);
  text_list_release(&w);
  close(in);
  return rc;
}
