// Runs a list of requests against a PHP application: every visitor starts with
// fresh cookies and the application's first state; visitors are shared out over
// workers, each with a session directory, and if asked for a database server,
// of its own. Every request that is no setup becomes a Run, named after its
// line in the list, judged and stored at once.
//
// Workers are confined (confine/confine.h), each by itself: what the
// application writes is seen by the worker that wrote it, and by nobody after
// the end.
#ifndef CULPRIT_RUN_VISITS_H
#define CULPRIT_RUN_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "confine/confine.h"
#include "oracle/web_oracle.h"
#include "php/request.h"
#include "php/worker.h"
#include "run/refusals.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"

typedef ARRAY(const char *) Texts;

// A schema of the database, and the file of SQL that fills it (NULL: none).
typedef struct {
  const char *name, *sql;
} Database;

// `%w` in a text stands for the worker's own directory, `%s` for the socket of
// its database server.
typedef struct Visits Visits;
struct Visits {
  WebApp app;     // without ini, env, session_dir and mariadb_socket
  Texts ini, env; // NAME=VALUE
  Texts files;    // what the application writes, to be saved and restored
  ARRAY(Database) databases;
  WebOracle oracle;
  int workers;         // 0: one per core; one where workers would share files
  const char *scratch; // no link in its name; made, and removed at the end
  const char *logs;    // of database servers, to stay; NULL: in scratch
  bool in_place;       // not confined: the application may do what we may
  ConfinePlan confine; // seen, writable, ports; the rest is each worker's own
  bool tree_is_state;  // all that is written below the root, without being
                       // named in `files`
  bool has_view;       // confine_has_view: what is written anywhere is private
  Refusals *refusals;  // gets what was refused; NULL: nobody wants to know
  // Called with the first worker's, once that is made. May be NULL.
  void (*confined)(const Visits *v, Confine *c);
  // Where the pages go, as <test>.body, with <test>.map: which line wrote each
  // piece, "offset length kind file:line", tabs between. NULL: nowhere.
  const char *pages;
  Store *store;
  int64_t session;

  // As it goes on.
  size_t total, finished, failing; // requests that are tests
  size_t already;                  // of them: had a run before
  bool interrupted;
  void (*progress)(const Visits *v); // may be NULL
};

// Stops, with what it has, when a signal came (util/stop.h).
int visits_run(Visits *v, const Requests *requests, Err *err);
void visits_release(Visits *v); // the lists

// How many workers the settings ask for: one where they would share files.
int visits_workers(const Visits *v);

// A signal that process `child` of ours, or what it has started, has sent us
// and that was not told yet; 0: none. It may come a little later than the
// answer to the request that sent it.
int visits_signal_of(pid_t child);

#endif
