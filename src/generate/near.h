// Looks for the passing run nearest to a failing one: the branches at which
// they part are what there is to look at. METHODS section 6; the paper is that
// of align.h.
//
//   Near n;
//   near_open(&n, &explorer);       // explorer: opened
//   explore_given, explore_reduce
//   near_search(&n, &err);          // until nothing nearer is left
//   if (n.found) near_report(&n, ...);
//   near_close(&n);                 // before the explorer
//
// Conditions of the failing path are turned round, the later ones first: a rule
// it breaks, branches one by one, what the library decided, then two branches
// at a time in order of distance. Each time with the path up to there only
// (following), then also with the rest of the path as it was (strict). If
// nothing passes, branches that only the runs made so far came to (detours) are
// turned round in the first of those; then passing runs that reduction came by
// are taken. An input that comes out is run natively and judged; if it passes,
// its run is replayed and its real distance computed. The search ends when what
// is left to try would be farther away than the best one found, or when time or
// runs are used up.
//
// Not looked at: more than two changes, detours of detours, and other inputs
// for the same path.
#ifndef CULPRIT_GENERATE_NEAR_H
#define CULPRIT_GENERATE_NEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "generate/align.h"
#include "generate/explore.h"
#include "sym/solver.h"
#include "util/hashmap.h"

// A replayed run.
typedef struct {
  Inputs inputs;
  Path path;
  ExprPool *pool;
  Solver *solver; // constraint i is condition i
  Events events;
  uint32_t *ends;     // see events_ends
  uint32_t *event_of; // of each condition: its event, or that of the one before
} NearRun;

typedef struct {
  size_t conditions; // on the failing path
  size_t queries, unsat, unknown;
  size_t tests, passing, same, others; // runs, by how they ended
  size_t unreplayed; // passing runs that could not be compared
  bool thinned;      // not every branch was turned round: the path is long
  bool complete;     // nothing nearer was left to try
} NearStats;

// How the conditions behind what is turned round are treated.
typedef enum { NEAR_BOTH, NEAR_FOLLOWING, NEAR_STRICT } NearMode;

typedef struct {
  NearMode mode;
} NearOptions;

typedef struct Near {
  Explorer *explorer;
  NearOptions options;
  Control control;
  NearRun failing;
  bool found;
  Inputs inputs;     // that pass
  Distance distance; // of their run
  char *line;        // shell words after the program
  NearStats stats;
  Err problem;          // why the last passing run could not be replayed
  Hashmap tried;        // hashes of inputs
  ARRAY(Inputs) batch;  // to be run next
  ARRAY(Inputs) failed; // the first ones that were run and did not pass
  // How the runs of the explorer end is listened to.
  void (*judged)(void *context, const Run *run);
  void *judged_context;
  unsigned first; // number of the batch's first test
  ARRAY(Verdict) verdicts;
  ARRAY(bool) shows;
  ARRAY(unsigned) reduced; // numbers of passing tests made by reduction
} Near;

void near_open(Near *n, Explorer *e, const NearOptions *o);
void near_close(Near *n);

// -1: an error, among them that the failing run cannot be replayed.
int near_search(Near *n, Err *err);

// The lines of the report, each once: the branches that differ; if only values
// do, the rule that the failing run breaks.
typedef struct {
  const char *file; // as compiled; lives as long as the program
  uint32_t line;
} NearPlace;
typedef ARRAY(NearPlace) NearPlaces;
void near_places(const Near *n, NearPlaces *out);

// For people and for programs. `root`: file names are shown relative to it.
void near_print_text(const Near *n, const char *root, FILE *out);
// `more`: further members of the object, each with a comma before it.
void near_print_json(const Near *n, const char *root, const char *more,
                     FILE *out);

#endif
