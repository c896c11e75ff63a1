// Explores a PHP application from nothing: asks for every page with empty
// input, follows links, fills in forms, sends what its input was compared with,
// and judges every answer. The way of papers 000 and 001.
//
// Whatever is found on a page is asked in the state (state_graph.h) that the
// page left behind, so a login leads to the pages behind it without anybody
// telling what a login is. Worlds of equal content are one.
//
// Several workers, each with sessions and a database of its own. They take and
// hand in requests in a fixed order: with the same application, seed, workers
// and number of requests the same requests are made, unless the application
// itself depends on time or chance.
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
  size_t requests;   // answered by PHP: each is a run of the session
  size_t scripts;    // that were executed
  size_t lines;      // statements that were executed
  size_t statements; // of all scripts that were compiled
  size_t branches;   // outcomes of conditions that were seen
  size_t failing;    // requests that showed a failure
  size_t failures;   // different ones
  size_t states;     // that were reached
  size_t queued;     // left to be asked
  size_t dropped;    // ideas there was no room for
  size_t replayed;   // requests made again to bring a worker to a state
  bool covered;      // it ended because enough is covered
  double seconds;
} ExplorerProgress;

typedef struct {
  Visits *visits; // settings, store and session; what it counts stays untouched
  double budget;  // seconds
  size_t max_tests;      // 0: as many as there is time for
  size_t max_failures;   // different ones; 0: all
  double coverage;       // ends when so many per cent of the statements of all
                         // compiled scripts are executed; 0: never
  const Requests *first; // made before all others, and gone on from: a login,
                         // or the failing request of a strategy
  bool apart;            // ... not gone on from: as in a suite made without it
  const WebStrategy *strategy;
  LastMode last;
  uint64_t seed; // decides between requests that look equally good; 0: the
                 // one found first
  double solve_seconds; // for all decisions of one request; 0: the default
  bool no_reduce;       // sequences of requests stay as they were found
  const char *saved;    // where the exploration is kept (checkpoint.h); beside
                        // it, saved.tsv gets a row a second of what was reached
  bool resume;          // go on with what is there
  void (*progress)(const ExplorerProgress *p); // may be NULL
} ExplorerOptions;

typedef struct Explorer Explorer;

// Options must stay.
Explorer *explorer_new(const ExplorerOptions *o);
// Until nothing is left, the budget is spent or a signal came (util/stop.h).
// Every answered request is stored as a run, named by its number. If it fails,
// what was reached is kept and can be resumed.
int explorer_run(Explorer *e, Err *err);
const ExplorerProgress *explorer_progress(const Explorer *e);
// Adds what was solved (solve/solve_memory.h).
void explorer_report_solving(const Explorer *e, Str *out);
// For every failure of the suite the requests that show it, the fewest known:
// `dir`/failure-1.txt (a list) and failure-1.sh (curl), ... in the order of the
// suite's failures.
int explorer_write(const Explorer *e, const Suite *suite, const char *dir,
                   Err *err);
void explorer_free(Explorer *e);

#endif
