// What came of one faulty version: which tests failed, and how well each method
// found the fault. Measured in a process of its own, handed over as a file.
//
// A version may show several failures, each with a ranking of its own. The one
// that counts is that of the failure with the most failing runs (of equally
// frequent ones the first by signature): whoever starts to debug takes the most
// frequent one, and knows nothing of the fault that would let him choose the
// best of the rankings.
#ifndef CULPRIT_EVAL_OUTCOME_H
#define CULPRIT_EVAL_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "eval/manifest.h"
#include "eval/method.h"
#include "locate/fault.h"
#include "util/err.h"

// How one method did on one version.
typedef struct {
  bool applied;     // else it cannot be applied to this version
  FaultScore score; // of what it lists
  double graph;     // eval/dependence_graph.h; NAN: not asked for
} Measurement;

typedef struct {
  size_t tests, failing, passing, flaky; // runs
  size_t failures;                       // different ones
  size_t group;                          // runs that show the one that counts
  size_t executed, executable;           // statements
  double build, run, rank;   // seconds; 0: kept from an earlier time
  char *problem;             // why it cannot be measured, or NULL
  Measurement *measurements; // one per method
  char **reasons;            // per method: why it was not applied, or NULL
  size_t nmethods;
} VersionOutcome;

void outcome_init(VersionOutcome *o, size_t nmethods);
void outcome_release(VersionOutcome *o);

// Applies all methods to the newest session of the store. Nothing failing or
// nothing passing is no error: the outcome tells. `graph`: a file of
// dependence_graph_write, or NULL.
int outcome_measure(VersionOutcome *o, const char *store, const char *graph,
                    const Version *v, const MethodList *methods, Err *err);

int outcome_write(const VersionOutcome *o, const char *path, Err *err);
// Fails if the file is not there, damaged, or of another number of methods.
int outcome_read(VersionOutcome *o, const char *path, size_t nmethods,
                 Err *err);

#endif
