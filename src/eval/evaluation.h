// All outcomes together: which versions count, which belong to one subject, and
// the numbers over them.
#ifndef CULPRIT_EVAL_EVALUATION_H
#define CULPRIT_EVAL_EVALUATION_H

#include <stdbool.h>
#include <stddef.h>

#include "eval/manifest.h"
#include "eval/method.h"
#include "eval/metrics.h"
#include "eval/outcome.h"

typedef enum {
  KEPT,
  EXCLUDED_NO_FAILING, // no test failed, so there is nothing to localize
  EXCLUDED_NO_PASSING, // nothing to compare with
  EXCLUDED_SHARE,      // more tests failed than --exclude-failing-above allows
  EXCLUDED_PROBLEM,    // could not be built, run or measured
} VersionState;

typedef struct {
  const char *name;
  size_t *versions; // indexes of those that are kept
  size_t nversions; // > 0
} Subject;

typedef struct {
  const Manifest *manifest;
  const MethodList *methods;
  VersionOutcome *outcomes; // one per version of the manifest
  VersionState *states;     // likewise
  size_t nversions;
  double max_failing; // a share of the tests; 1: no limit
  size_t *kept;       // indexes
  size_t nkept;
  Subject *subjects; // in the order of the manifest
  size_t nsubjects;
  bool *applied;       // per method: to one version at least
  size_t *unapplied;   // per method: kept versions it could not be applied to
  Summary *by_fault;   // per method: over all kept versions
  Summary *subject;    // [subject * methods + method]
  Summary *by_subject; // per method: the mean over subjects
} Evaluation;

// Takes the outcomes over: their array and what they hold.
void evaluation_init(Evaluation *e, const Manifest *m, const MethodList *l,
                     VersionOutcome *outcomes, double max_failing);
void evaluation_release(Evaluation *e);

// The score of a method on a version; NULL if it could not be applied.
const FaultScore *evaluation_score(const Evaluation *e, size_t version,
                                   size_t method);
// Per kept version: what it makes one look at. Caller frees.
double *evaluation_examined(const Evaluation *e, size_t method, Base base,
                            Ties ties);
// A method of the list (no ablation) that could be applied somewhere.
bool evaluation_shows(const Evaluation *e, size_t method);

#endif
