// php-cgi processes with culprit's extension, reached over FastCGI on a Unix
// socket. Each serves one request at a time. A worker that dies is started
// again; its record has what it did until then.
//
//   Worker *w;
//   worker_open(&w, &app, "scratch/w0", &err);
//   worker_serve(w, &request, cookies, &exchange, &arena, &err);
//   php_record_read(worker_record(w), ...);
//   worker_close(w);
//
// A Worker is for one thread: the one that opened it, which must live until it
// is closed (the process is killed with its thread). Workers share nothing but
// the application's files, and not even those where each is confined.
//
// A confined worker sends no mail: PHP's sendmail_path is a script that
// discards it. Where its view is a copy, PHP's document root is the copy;
// records and maps have the paths of the original.
//
// route.h says what a path leads to. php-cgi reads no php.ini but app->php_ini:
// the settings are PHP's own defaults, that file, what
// docs/reference/web-requests.md lists on top of them, and app->ini; extensions are those of the distribution's scan
// directory.
#ifndef CULPRIT_PHP_WORKER_H
#define CULPRIT_PHP_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "confine/confine.h"
#include "php/app_files.h"
#include "php/request.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

// The application and how it is run. What it points to must stay while a worker
// is open.
typedef struct {
  const char *root;       // document root
  const char *front;      // front controller ("index.php") that gets every path
                          // that is no file; NULL: none
  const char *host;       // its name, in links too; NULL: localhost
  const char *const *ini; // NAME=VALUE, NULL-terminated; NULL: none
  const char *const *env; // NAME=VALUE seen by the application; NULL: none
  const char *php_ini;    // a php.ini to read; NULL: none is read
  const char *php_cgi;    // NULL: php-cgi8.2 or php-cgi from PATH
  const char *extension;  // culprit.so; NULL: plain PHP (reference runs)
  const char *maps;       // directory for maps
  const char *session_dir;    // session.save_path; NULL: one in the scratch
  const char *mariadb_socket; // what "localhost" means to mysqli and PDO; NULL:
                              // as it is
  double timeout;             // seconds per request; 0: APP_SECONDS
  double until;               // when all requests end (util/clock.h); 0: never
  size_t max_body;            // bytes of a response that are kept; 0: APP_BODY
  bool follow_links;          // a symbolic link may lead out of the root
  Confine *confine;           // what its processes are confined by; NULL: they
                              // may do what we may
  const AppFiles *files;      // as the processes see them; made by worker_open
} WebApp;

enum { APP_SECONDS = 30, APP_BODY = 16 << 20 };

// How an exchange ended.
typedef enum {
  EXCHANGE_DONE,
  EXCHANGE_DIED,   // the worker did: `how` says by what
  EXCHANGE_TIMEOUT // killed after app->timeout
} ExchangeEnd;

typedef struct {
  ExchangeEnd end;
  const char *how;   // "SIGSEGV", "exit status 255"; NULL: it lives
  Response response; // as far as it arrived
  double seconds;
  bool cut;       // TIMEOUT: because of app->until, not of its own
  bool is_static; // no script: a file below the root, or an error page, by us
  const char *script; // below the root: "/a/view.php"; NULL: none
} Exchange;

typedef struct Worker Worker;

// Starts the process. `scratch` is made and belongs to the worker. Fails with a
// message that names the remedy if php-cgi is missing, has another version than
// the extension, or does not answer.
int worker_open(Worker **w, const WebApp *app, const char *scratch, Err *err);
void worker_close(Worker *w);

// Makes one request. -1 only if no worker can be started any more, or the
// request leads out of the root: an application that dies or hangs is an
// answer. `cookies` is a Cookie header's value, NULL: none. Memory: arena.
int worker_serve(Worker *w, const Request *r, const char *cookies,
                 Exchange *out, Arena *arena, Err *err);

// Compiles scripts without executing them, so that there is a map of each that
// compiles. `paths`: below the root, with their slash. What is not compiled
// after that many seconds has none.
int worker_survey(Worker *w, const char *const *paths, size_t n, double seconds,
                  Err *err);

// Its scratch directory.
const char *worker_dir(const Worker *w);
// The application as the worker has it: paths are those of its view.
const WebApp *worker_app(const Worker *w);
// Takes the recipients of mail that was discarded since the last call.
typedef void TakeMail(void *ctx, const char *to);
void worker_take_mail(Worker *w, TakeMail *take, void *ctx);

// The record of the last request (php/record/php_record.h); NULL: served
// without PHP, or by plain PHP.
const char *worker_record(const Worker *w);
// The process that served it, which may have ended; 0: none did.
pid_t worker_process(const Worker *w);

// --- cookies ----------------------------------------------------------------

// What one visitor's browser would send: set by Set-Cookie, path and expiry
// respected.
typedef struct CookieJar CookieJar;
CookieJar *cookie_jar_new(void);
void cookie_jar_free(CookieJar *j);
void cookie_jar_take(CookieJar *j, const char *path, const Headers *response);
// All that is in it, "name=value path" a line, in no other order than it came.
// `known` may stand in for a value (NULL: it does not).
typedef const char *CookieValue(void *ctx, const char *value);
void cookie_jar_list(const CookieJar *j, CookieValue *known, void *ctx,
                     Str *out);
// Value of the Cookie header for `path`, NULL: none. Memory: arena.
const char *cookie_jar_header(const CookieJar *j, const char *path,
                              Arena *arena);

#endif
