// Runs a list of requests against a PHP application. Every visitor starts with
// no cookies and the application's first state. Visitors are shared out among
// workers, each with its own session directory and, if asked for, database
// server. Every request except setup requests becomes a Run, named after its
// line in the list, and is judged and stored at once.
//
// Each worker is confined (confine/confine.h): only the worker that wrote a
// file sees it, and nothing stays after the end.
#ifndef CULPRIT_RUN_VISITS_H
#define CULPRIT_RUN_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "confine/confine.h"
#include "oracle/web_oracle.h"
#include "php/record/php_record.h"
#include "php/request.h"
#include "php/worker.h"
#include "run/refusals.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"

// A schema of the database, and the file of SQL that fills it (NULL: none).
typedef struct {
  const char *name, *sql;
} Database;

// Runs that are not to be stored: only the requests it wants are judged, and
// given to it. Called by one thread at a time. A visitor ends after the last one
// that is wanted.
typedef struct {
  void *context;
  bool (*wants)(void *context, const char *test);
  bool (*goes_on)(void *context); // false: begin with no other visitor
  void (*take)(void *context, const Run *run, const PhpRecord *record);
} VisitsTaker;

// In texts, `%w` is the worker's own directory and `%s` the socket of its
// database server.
typedef struct Visits Visits;
struct Visits {
  WebApp app;     // without ini, env, session_dir and mariadb_socket
  Texts ini, env; // NAME=VALUE
  Texts files;    // what the application writes, to be saved and restored
  ARRAY(Database) databases;
  const char *sql_mode; // of their server; NULL: its own default
  WebOracle oracle;
  int workers;         // 0: one per core; one where workers would share files
  const char *scratch; // no link in its name; made, and removed at the end
  const char *logs;    // of database servers, to stay; NULL: in scratch
  bool in_place;       // not confined: the application may do what we may
  ConfinePlan confine; // seen, writable, ports; the rest is each worker's own
  bool tree_is_state;  // all that is written below the root, without being
                       // named in `files`
  bool has_view;       // confine_has_view: what is written anywhere is private
  Refusals *refusals;  // gets what confinement refused; may be NULL
  // Called with the first worker's confinement. May be NULL.
  void (*confined)(const Visits *v, Confine *c);
  // Directory for pages: <test>.body, and <test>.map with the line that wrote
  // each piece (kept_page.h). NULL: none.
  const char *pages;
  Store *store;
  int64_t session;
  const VisitsTaker *taker; // NULL: runs are stored

  // As it goes on.
  size_t total, finished, failing; // requests that are tests
  size_t already;                  // of them: had a run before
  bool interrupted;
  void (*progress)(const Visits *v); // may be NULL
};

// Stops when a signal came (util/stop.h); finished runs are kept.
int visits_run(Visits *v, const Requests *requests, Err *err);
void visits_release(Visits *v); // the lists

// How many workers the settings ask for: one where they would share files.
int visits_workers(const Visits *v);

// Takes a signal that our process `child`, or one that it started, has sent us
// and that was not told yet; 0: none. It may come a little later than the
// answer to the request that sent it.
int visits_signal_of(pid_t child);

#endif
