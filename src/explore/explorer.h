// Explores a PHP application: requests every page with empty input, follows
// links, fills in forms, solves for other outcomes of the comparisons its
// scripts make, and judges every response. The method of Artzi et al. (ICSE
// 2010 and ISSTA 2010, docs/methods.md).
//
// Requests found on a page are made in the state that the page left behind
// (state_graph.h), so that a login leads to the pages behind it. States of
// equal content are one.
//
// Each worker has its own sessions and database. Workers submit results and
// take requests in a fixed order: the same application, seed, number of workers
// and number of requests give the same requests, unless the application itself
// depends on time or chance.
#ifndef CULPRIT_EXPLORE_EXPLORER_H
#define CULPRIT_EXPLORE_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explore/request_queue.h"
#include "explore/web_strategy.h"
#include "model/suite.h"
#include "run/visits.h"
#include "util/err.h"

typedef struct {
  size_t requests;   // answered by PHP; each is a run of the session
  size_t scripts;    // executed
  size_t lines;      // statements executed
  size_t statements; // of all scripts below the root, and of others that ran
  size_t branches;   // outcomes of conditions seen
  size_t failing;    // requests with a failure
  size_t failures;   // distinct
  size_t states;     // reached
  size_t queued;     // still in the queue
  size_t dropped;    // requests that the full queue dropped
  size_t replayed;   // requests sent again to bring a worker into a state
  bool covered;      // it ended because enough statements are covered
  double seconds;
} ExplorerProgress;

typedef struct {
  Visits *visits;        // settings, store and session
  double budget;         // seconds; or until visits->app.until, if that is set
  double after;          // of them, left for others if something failed
  size_t max_tests;      // 0: no limit
  size_t max_failures;   // distinct ones; 0: no limit
  double coverage;       // percentage of the statements of all scripts at which
                         // to stop; 0: none
  const Requests *first; // made before all others: a login, or the failing
                         // request of a strategy
  bool apart;            // do not follow up on them
  const WebStrategy *strategy;
  LastMode last;
  uint64_t seed;        // orders requests of equal cost; 0: by time of finding
  double solve_seconds; // for all decisions of one request; 0: the default
  bool no_reduce;       // do not minimise the reproductions
  const char *saved;    // the checkpoint's file (checkpoint.h); its name with
                        // .tsv gets a row of the progress every second
  bool resume;          // start from the checkpoint
  void (*progress)(const ExplorerProgress *p); // may be NULL
  void (*warn)(const char *text);              // a login failed; may be NULL
} ExplorerOptions;

typedef struct Explorer Explorer;

// The options must outlive it.
Explorer *explorer_new(const ExplorerOptions *o);
// Runs until the queue is empty, a limit is reached or a signal came
// (util/stop.h). Every request that PHP answered is stored as a run, named by
// its number. After an error the exploration can be resumed.
int explorer_run(Explorer *e, Err *err);
const ExplorerProgress *explorer_progress(const Explorer *e);
// Adds how far it came, what was solved (solve/solve_memory.h), and what it did
// not reach: lines.
void explorer_report(const Explorer *e, Str *out);

// What an exploration did not reach.
typedef struct {
  const OutcomeGoal **outcomes; // solved for and not shown, by place
  size_t noutcomes;
  size_t unasked;     // of them: no request was made for
  const char **files; // PHP files below the root that never ran, with their
  size_t nfiles;      // slash; pages first,
  size_t npages;      // that many: a visitor could request them
  const char *const *scripted; // pages whose scripts make forms or requests
  size_t nscripted;            // that were not seen
  size_t scripts;              // PHP files below the root
  size_t nuncompiled; // of them: not compiled, so that their statements are
                      // not counted
} ExplorerGaps;
// Memory: arena.
void explorer_gaps(const Explorer *e, ExplorerGaps *out, Arena *arena);
// Writes the shortest known reproduction of each failure of the suite, in the
// suite's order: `dir`/failure-1.txt (a list of requests), failure-1.sh (curl).
int explorer_write(const Explorer *e, const Suite *suite, const char *dir,
                   Err *err);
void explorer_free(Explorer *e);

#endif
