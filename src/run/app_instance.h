// One instance of the application: a PHP worker, its session directory, its
// database server if one is asked for, its confinement and its state; and the
// judgement of its responses. Used for lists of requests (run/visits.h) and by
// the explorer (explore/explorer.h).
//
// An instance belongs to the thread that opened it.
#ifndef CULPRIT_RUN_APP_INSTANCE_H
#define CULPRIT_RUN_APP_INSTANCE_H

#include <stdbool.h>

#include "model/run.h"
#include "php/source/literals.h"
#include "php/record/php_record.h"
#include "php/state/app_state.h"
#include "php/worker.h"
#include "run/visits.h"
#include "util/arena.h"
#include "util/err.h"

typedef struct {
  const Visits *visits; // the settings
  int number;
  const char *maps;
  const char *dir, *sessions, *temporary;
  Confine *confine; // NULL: in place
  MariaDb *mariadb;
  AppState *state;
  Worker *worker;
  LiteralCache *literals; // of the scripts seen
  Arena arena;            // texts of the site
  Str refused; // to the last request: "a connection to 127.0.0.1:3306 ..."
} AppInstance;

// Makes the directory w<number> in the visits' scratch directory. `session`:
// id of an empty session that is there from the start; NULL: none. To be closed
// even if it fails.
int app_instance_open(AppInstance *s, const Visits *v, const char *maps,
                      int number, const char *session, Err *err);
void app_instance_close(AppInstance *s);

// Makes one request (worker_serve) and adds what confinement refused meanwhile
// to the visits' refusals.
int app_instance_serve(AppInstance *s, const Request *r, const char *cookies,
                       Exchange *out, Arena *arena, Err *err);

typedef struct {
  Run run; // named after the request's line; without hits
  PhpRecord record;
  bool has_record;
} Judged;

// Judges the last response, and keeps its page if the settings say so. The
// message of a failure that confinement may have caused says so. `warning`, if
// any, becomes a note of the run. To be released (run_release) even if it
// fails. Memory of the record: arena.
int app_instance_judge(AppInstance *s, const Request *r, const Exchange *x,
                       const char *warning, Judged *j, Arena *arena, Err *err);

#endif
