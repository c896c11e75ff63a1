// php-cgi processes reached over FastCGI: see worker.h.
//
// We own the listening socket (scratch/php.sock) and give it to each process as
// its standard input, which is how php-cgi knows that it serves FastCGI. It is
// reached through /proc/self/fd, so its name may be longer than a socket's
// address. One process serves one request after the other on one connection.
// After anything unexpected (additional bytes, an end in the middle, a fork)
// the process is killed, and the next request starts another.
#include "php/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "php/child.h"
#include "php/page.h"
#include "php/params.h"
#include "php/record/record_format.h"
#include "php/route.h"
#include "php/talk.h"
#include "util/area.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum { PROBE_SECONDS = 10, LAST_WORDS = 1000, DYING_MS = 1000 };

struct Worker {
  WebApp app;
  const char *scratch, *php, *root, *record, *log, *sessions, *mails;
  const char *named_root; // of the application, absolute
  const char *inside;     // the root as the process has it
  Arena arena;            // of these
  AppFiles *files;
  TextList args, env; // NULL-terminated
  int dir, listener, connection;
  ChildProcess child;
  Page page;
  Str pairs;
  bool used_php; // by the last request
  pid_t served;  // the process that did
};

// --- settings ---------------------------------------------------------------

static void set(Worker *w, const char *name, const char *value) {
  array_push(&w->args, arena_strdup(&w->arena, "-d"));
  array_push(&w->args, arena_printf(&w->arena, "%s=%s", name, value));
}

static const char *const defaults[][2] = {
    {"output_buffering", "4096"},    {"display_errors", "1"},
    {"display_startup_errors", "1"}, {"error_reporting", "32767"},
    {"date.timezone", "UTC"},        {"session.gc_probability", "0"},
    {"cgi.fix_pathinfo", "1"}};
enum { DEFAULTS = sizeof defaults / sizeof *defaults };

// In front of the user's php.ini they stand in ours (copy_ini).
static void set_defaults(Worker *w) {
  for (size_t i = 0; i < DEFAULTS && !w->app.php_ini; i++)
    set(w, defaults[i][0], defaults[i][1]);
  set(w, "opcache.enable", "0");
  set(w, "log_errors", "1");
  set(w, "error_log", "");
}

static const char *below_scratch(Worker *w, const char *name) {
  return arena_printf(&w->arena, "%s/%s", w->scratch, name);
}

// PHP removes uploads after it has ended its answer: where they are is no state
// of the application.
static void set_places(Worker *w) {
  set(w, "sys_temp_dir", below_scratch(w, "tmp"));
  set(w, "upload_tmp_dir", below_scratch(w, "uploads"));
  set(w, "session.save_path", w->sessions);
  if (w->app.mariadb_socket) {
    set(w, "mysqli.default_socket", w->app.mariadb_socket);
    set(w, "pdo_mysql.default_socket", w->app.mariadb_socket);
  }
}

static void set_extension(Worker *w) {
  if (!w->app.extension)
    return;
  set(w, "extension", w->app.extension);
  set(w, "culprit.dir", w->scratch);
  if (strcmp(w->inside, w->named_root) != 0) {
    set(w, "culprit.inside", w->inside);
    set(w, "culprit.outside", w->named_root);
  }
}

// Whatever the user has set: a made request must not reach anybody.
static void set_mail(Worker *w) {
  if (!w->app.confine)
    return;
  char *command =
      arena_printf(&w->arena, "\"/bin/sh '%s/sendmail'\"", w->scratch);
  set(w, "sendmail_path", command);
}

static void make_args(Worker *w) {
  array_push(&w->args, arena_strdup(&w->arena, w->php));
  // Ours instead of the system's.
  array_push(&w->args, arena_strdup(&w->arena, "-c"));
  array_push(&w->args, arena_printf(&w->arena, "%s/php.ini", w->scratch));
  set_defaults(w);
  set_places(w);
  set_extension(w);
  for (const char *const *i = w->app.ini; i && *i; i++) {
    array_push(&w->args, arena_strdup(&w->arena, "-d"));
    array_push(&w->args, arena_strdup(&w->arena, *i));
  }
  set_mail(w);
  array_push(&w->args, NULL);
}

static void keep_variable(Worker *w, const char *name, const char *otherwise) {
  const char *value = getenv(name);
  value = value ? value : otherwise;
  if (value)
    array_push(&w->env, arena_printf(&w->arena, "%s=%s", name, value));
}

static void make_env(Worker *w) {
  keep_variable(w, "PATH", "/usr/local/bin:/usr/bin:/bin");
  keep_variable(w, "HOME", NULL);
  keep_variable(w, AREA_VARIABLE, NULL); // for what an application starts
  keep_variable(w, "PHP_INI_SCAN_DIR", NULL);
  keep_variable(w, "GLIBC_TUNABLES", NULL);
  array_push(&w->env, arena_strdup(&w->arena, "LANG=C.UTF-8"));
  array_push(&w->env, arena_strdup(&w->arena, "PHP_FCGI_MAX_REQUESTS=0"));
  for (const char *const *e = w->app.env; e && *e; e++)
    array_push(&w->env, arena_strdup(&w->arena, *e));
  array_push(&w->env, NULL);
}

// --- the scratch directory --------------------------------------------------

static int link_maps(Worker *w, Err *err) {
  char *link = arena_printf(&w->arena, "%s/maps", w->scratch);
  int rc = 0;
  unlink(link);
  if (w->app.maps && symlink(w->app.maps, link))
    rc = err_set(err, "%s: cannot be linked to %s: %s", link, w->app.maps,
                 strerror(errno));
  return rc;
}

static int check_sessions(const char *dir, Err *err) {
  if (fs_mkdirs(dir, err))
    return err_prefix(err, "session directory");
  if (access(dir, R_OK | W_OK | X_OK))
    return err_set(err,
                   "session directory %s: %s; make it writable or name "
                   "another",
                   dir, strerror(errno));
  return 0;
}

// Notes to whom the mail on its standard input goes, a line each.
static int make_sendmail(Worker *w, Err *err) {
  static const char script[] =
      "to=$(sed -n 's/^To: *//p;/^\r*$/q')\n"
      "printf '%s\\n' \"${to:-somebody}\" | head -n 1 >> "
      "\"${0%/*}/mails\"\n"
      "exec cat > /dev/null\n";
  char *path = arena_printf(&w->arena, "%s/sendmail", w->scratch);
  int rc = w->app.confine ? fs_write(path, script, sizeof script - 1, err) : 0;
  return rc;
}

// The user's php.ini behind our defaults, or an empty one.
static int copy_ini(const char *from, const char *to, Err *err) {
  Str text = {0}, own = {0};
  int rc = from ? fs_read(from, 0, &own, err) : 0;
  for (size_t i = 0; i < DEFAULTS && from; i++)
    str_addf(&text, "%s = %s\n", defaults[i][0], defaults[i][1]);
  str_addn(&text, str_text(&own), own.len);
  if (!rc)
    rc = fs_write(to, str_text(&text), text.len, err);
  str_release(&text);
  str_release(&own);
  return rc;
}

static int make_scratch(Worker *w, Err *err) {
  int rc = fs_mkdirs(below_scratch(w, "tmp"), err);
  if (!rc)
    rc = fs_mkdirs(below_scratch(w, "uploads"), err);
  if (!rc)
    rc = copy_ini(w->app.php_ini, below_scratch(w, "php.ini"), err);
  if (!rc)
    rc = link_maps(w, err);
  if (!rc)
    rc = make_sendmail(w, err);
  if (!rc)
    rc = check_sessions(w->sessions, err);
  return rc;
}

// --- sockets ----------------------------------------------------------------

static void address(const Worker *w, struct sockaddr_un *a) {
  *a = (struct sockaddr_un){.sun_family = AF_UNIX};
  snprintf(a->sun_path, sizeof a->sun_path, "/proc/self/fd/%d/php.sock",
           w->dir);
}

static int open_listener(Worker *w, Err *err) {
  struct sockaddr_un a;
  w->dir = open(w->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (w->dir < 0)
    return err_set(err, "%s: %s", w->scratch, strerror(errno));
  unlinkat(w->dir, "php.sock", 0);
  address(w, &a);
  w->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (w->listener < 0 || bind(w->listener, (void *)&a, sizeof a) ||
      listen(w->listener, 8))
    return err_set(err, "%s/php.sock: no socket: %s", w->scratch,
                   strerror(errno));
  return 0;
}

static void disconnect(Worker *w) {
  if (w->connection >= 0)
    close(w->connection);
  w->connection = -1;
}

static int connect_worker(Worker *w, Err *err) {
  struct sockaddr_un a;
  address(w, &a);
  w->connection =
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (w->connection < 0 || connect(w->connection, (void *)&a, sizeof a)) {
    err_set(err, "%s/php.sock: no connection: %s", w->scratch, strerror(errno));
    disconnect(w);
    return -1;
  }
  return 0;
}

// --- the process ------------------------------------------------------------

static int start(Worker *w, Err *err) {
  int log = open(w->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (log < 0)
    return err_set(err, "%s: %s", w->log, strerror(errno));
  ChildPlan plan = {.path = w->php,
                    .argv = w->args.items,
                    .env = w->env.items,
                    .in = w->listener,
                    .out = log,
                    .err = log,
                    .confine = w->app.confine};
  int rc = child_start(&w->child, &plan, err);
  close(log);
  return rc;
}

typedef enum { CLEAN, CLOSED, TALKING } Line;

// Nothing may come before we ask.
static Line line_state(const Worker *w) {
  char c;
  ssize_t n = recv(w->connection, &c, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n > 0)
    return TALKING;
  return n < 0 && errno == EAGAIN ? CLEAN : CLOSED;
}

static int make_ready(Worker *w, Err *err) {
  if (w->connection >= 0) {
    Line line = line_state(w);
    if (line == TALKING)
      child_kill(&w->child);
    if (line != CLEAN)
      disconnect(w);
  }
  if (child_ended(&w->child, 0)) {
    disconnect(w);
    if (start(w, err))
      return -1;
  }
  return w->connection >= 0 ? 0 : connect_worker(w, err);
}

// --- one exchange -----------------------------------------------------------

static void settle_broken(Worker *w, Exchange *out, Arena *arena) {
  char how[32];
  out->end = EXCHANGE_DIED;
  if (child_ended(&w->child, DYING_MS)) {
    out->how = arena_strdup(arena, child_how(w->child.status, how));
  } else {
    child_kill(&w->child);
    out->how = "closed the connection";
  }
}

static void settle(Worker *w, TalkEnd end, const Err *why, Exchange *out,
                   Arena *arena) {
  page_settle(&w->page, &out->response, arena);
  switch (end) {
  case TALK_DONE:
    out->end = EXCHANGE_DONE;
    break;
  case TALK_BROKEN:
    settle_broken(w, out, arena);
    break;
  case TALK_FALSE:
    child_kill(&w->child);
    out->end = EXCHANGE_DIED;
    out->how = arena_strdup(arena, why->text);
    break;
  case TALK_LATE:
    child_kill(&w->child);
    out->end = EXCHANGE_TIMEOUT;
    out->how = "SIGKILL";
    break;
  }
}

static int exchange(Worker *w, const Request *r, double seconds, Exchange *out,
                    Arena *arena, Err *err) {
  Err why;
  if (make_ready(w, err))
    return -1;
  w->served = w->child.pid;
  double begin = clock_now(), left = w->app.until - begin;
  bool short_of_time = w->app.until > 0 && left < seconds;
  if (short_of_time)
    seconds = left > 0 ? left : 0;
  page_begin(&w->page, w->app.max_body);
  Talk t = {.connection = w->connection,
            .pidfd = w->child.pidfd,
            .pairs = &w->pairs,
            .body = r->body,
            .body_len = r->body_len,
            .deadline = begin + seconds,
            .page = &w->page};
  TalkEnd end = talk(&t, &why);
  settle(w, end, &why, out, arena);
  out->seconds = clock_now() - begin;
  out->cut = short_of_time && out->end == EXCHANGE_TIMEOUT;
  if (w->child.pid && child_has_children(&w->child)) {
    child_kill(&w->child); // a fork of it would answer the next request too
    t.reusable = false;
  }
  if (!t.reusable)
    disconnect(w);
  if (end == TALK_LATE && stop_requested())
    return err_set(err, "interrupted");
  return 0;
}

int worker_serve(Worker *w, const Request *r, const char *cookies,
                 Exchange *out, Arena *arena, Err *err) {
  Route route;
  *out = (Exchange){0};
  if (route_find(&route, &w->app, w->root, r->path, arena, err))
    return -1;
  w->used_php = route.kind == ROUTE_SCRIPT;
  if (!w->used_php) {
    double begin = clock_now();
    out->is_static = true;
    static_serve(&route, r, &w->app, &out->response, arena);
    out->seconds = clock_now() - begin;
    return 0;
  }
  out->script = route.script;
  str_clear(&w->pairs);
  params_add(&w->pairs, &w->app, &route, r, cookies);
  return exchange(w, r, w->app.timeout, out, arena, err);
}

pid_t worker_process(const Worker *w) { return w->used_php ? w->served : 0; }

const char *worker_record(const Worker *w) {
  return w->used_php && w->app.extension ? w->record : NULL;
}

const char *worker_dir(const Worker *w) { return w->scratch; }

const WebApp *worker_app(const Worker *w) { return &w->app; }

void worker_take_mail(Worker *w, TakeMail *take, void *ctx) {
  Str text = {0};
  Err ignored;
  struct stat st;
  if (!w->app.confine || stat(w->mails, &st) || !st.st_size)
    return;
  fs_read(w->mails, 1 << 20, &text, &ignored);
  unlink(w->mails);
  char *rest = str_take(&text), *all = rest;
  for (char *line; (line = strsep(&rest, "\r\n"));)
    if (*line)
      take(ctx, line);
  free(all);
}

// --- the first request: is it PHP, and ours? --------------------------------

static int complain(const Worker *w, const char *what, const char *how,
                    Err *err) {
  char *words = child_log_end(w->log, LAST_WORDS);
  err_set(err, "%s: %s%s%s%s%s", w->php, what, how ? ": " : "", how ? how : "",
          *words ? ": " : "", words);
  free(words);
  return -1;
}

static int check_version(const Worker *w, const Response *r, Err *err) {
  const char *by = headers_get(&r->headers, "X-Powered-By");
  if (!w->app.extension || !by || text_starts(by, "PHP/8.2."))
    return 0;
  return err_set(err,
                 "%s is %s, the extension is for PHP 8.2; install php8.2-cgi "
                 "or name another php-cgi",
                 w->php, by);
}

// PHP goes on without an extension that it cannot load.
static int check_extension(const Worker *w, Err *err) {
  if (!w->app.extension)
    return 0;
  char *words = child_log_end(w->log, LAST_WORDS);
  bool bad = strstr(words, "PHP Startup") &&
             (strstr(words, w->app.extension) || strstr(words, "culprit"));
  free(words);
  return bad ? complain(w, "does not load culprit's extension", NULL, err) : 0;
}

// A request for a file in our directory.
static int ask_own(Worker *w, const char *name, double seconds, Exchange *e,
                   Arena *arena, Err *err) {
  Route own = {.file = arena_printf(&w->arena, "%s/%s", w->scratch, name),
               .script = arena_printf(&w->arena, "/%s", name),
               .info = ""};
  Request r = {.method = "GET", .path = own.script, .query = "", .body = ""};
  str_clear(&w->pairs);
  params_add(&w->pairs, &w->app, &own, &r, NULL);
  return exchange(w, &r, seconds, e, arena, err);
}

static int probe(Worker *w, Err *err) {
  Arena arena = {0};
  Exchange e = {0};
  int rc = ask_own(w, "no-such-script.php", PROBE_SECONDS, &e, &arena, err);
  if (!rc && e.end == EXCHANGE_TIMEOUT)
    rc = complain(w, "does not answer over FastCGI; is it php-cgi?", NULL, err);
  else if (!rc && e.end == EXCHANGE_DIED)
    rc = complain(w, "is not a working php-cgi", e.how, err);
  if (!rc)
    rc = check_version(w, &e.response, err);
  if (!rc)
    rc = check_extension(w, err);
  arena_release(&arena);
  return rc;
}

// --- all scripts ------------------------------------------------------------

int worker_survey(Worker *w, const char *const *paths, size_t n, double seconds,
                  Err *err) {
  Str text = {0};
  Arena arena = {0};
  Exchange e = {0};
  str_add(&text, "<?php __halt_compiler();\n");
  for (size_t i = 0; i < n && text.len < PHP_SURVEY_MAX - PATH_MAX; i++)
    str_addf(&text, "%s%s\n", w->inside, paths[i]);
  char *file = mem_printf("%s/" PHP_SURVEY_FILE, w->scratch);
  int rc = fs_write(file, text.data, text.len, err);
  if (!rc)
    rc = ask_own(w, PHP_SURVEY_FILE, seconds, &e, &arena, err);
  free(file);
  str_release(&text);
  arena_release(&arena);
  return rc;
}

// --- opening and closing ----------------------------------------------------

// Moves a text into the worker's arena; NULL stays NULL.
static const char *own(Worker *w, char *text) {
  return text ? arena_move(&w->arena, text, strlen(text) + 1) : NULL;
}

static int find_php(Worker *w, Err *err) {
  static const char *const names[] = {"php-cgi8.2", "php-cgi", NULL};
  if (!w->app.php_cgi) {
    w->php = own(w, child_find(names));
    return w->php ? 0
                  : err_set(err, "no php-cgi8.2 or php-cgi in PATH; install "
                                 "php8.2-cgi");
  }
  w->php = own(w, path_absolute(w->app.php_cgi, NULL));
  if (!fs_executable(w->php))
    return err_set(
        err, "%s: no program; install php8.2-cgi or name its php-cgi", w->php);
  return 0;
}

static int find_root(Worker *w, Err *err) {
  char real[PATH_MAX];
  struct stat st;
  if (app_file_look(w->files, w->app.root, real, &st))
    return err_set(err, "document root %s: %s", w->app.root, strerror(errno));
  if (!S_ISDIR(st.st_mode))
    return err_set(err, "document root %s: not a directory", w->app.root);
  w->root = arena_strdup(&w->arena, real);
  return 0;
}

static int prepare(Worker *w, Err *err) {
  if (w->app.confine && app_files_open(&w->files, w->app.confine, err))
    return -1;
  w->app.files = w->files;
  if (find_php(w, err) || find_root(w, err) || make_scratch(w, err) ||
      open_listener(w, err))
    return -1;
  make_args(w);
  make_env(w);
  return probe(w, err);
}

int worker_open(Worker **out, const WebApp *app, const char *scratch,
                Err *err) {
  Worker *w = mem_new(Worker);
  w->app = *app;
  w->app.timeout = app->timeout > 0 ? app->timeout : APP_SECONDS;
  w->app.max_body = app->max_body ? app->max_body : APP_BODY;
  w->dir = w->listener = w->connection = w->child.pidfd = -1;
  w->scratch = own(w, path_absolute(scratch, NULL));
  w->record = arena_printf(&w->arena, "%s/request.rec", w->scratch);
  w->log = arena_printf(&w->arena, "%s/worker.log", w->scratch);
  w->sessions = app->session_dir
                    ? own(w, path_absolute(app->session_dir, NULL))
                    : arena_printf(&w->arena, "%s/sessions", w->scratch);
  w->mails = arena_printf(&w->arena, "%s/mails", w->scratch);
  w->named_root = own(w, path_absolute(app->root, NULL));
  w->inside = app->confine ? own(w, confine_inside(app->confine, w->named_root))
                           : w->named_root;
  w->app.root = w->inside;
  if (app->maps)
    w->app.maps = own(w, path_absolute(app->maps, NULL));
  *out = NULL;
  if (prepare(w, err)) {
    worker_close(w);
    return -1;
  }
  *out = w;
  return 0;
}

void worker_close(Worker *w) {
  if (!w)
    return;
  disconnect(w);
  child_kill(&w->child);
  if (w->listener >= 0)
    close(w->listener);
  if (w->dir >= 0)
    close(w->dir);
  array_release(&w->args);
  array_release(&w->env);
  page_release(&w->page);
  str_release(&w->pairs);
  arena_release(&w->arena);
  app_files_close(w->files);
  free(w);
}
