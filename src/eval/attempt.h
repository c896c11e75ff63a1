// One faulty version from its row to its outcome: build it, run its tests into
// a store of its own, measure every method.
//
// All lies in the version's directory (Version.dir):
//   build/       for the build command, as {dir}
//   build.log    what it printed
//   store/       the runs
//   run.log      what `culprit run` printed
//   done         what was run, as a hash of the row, the program, the tests, the
//                reference and how long runs were looked at closely: as long as
//                it fits, tests are not run again
//   graph        the dependences of the program, if they were asked for
//   outcome      the numbers, for the process that asked
//
// Methods are always measured anew: they are what is worked on, and take little
// time. An interrupted attempt goes on where it was, test by test.
//
// Addresses are not randomized (as setarch -R does), so that a program that
// reads what it should not does the same every time.
#ifndef CULPRIT_EVAL_ATTEMPT_H
#define CULPRIT_EVAL_ATTEMPT_H

#include <stdbool.h>

#include "eval/manifest.h"
#include "eval/method.h"
#include "eval/outcome.h"

typedef struct {
  const char *root;  // the manifest's directory: where build commands run
  bool rebuild;      // build even if what was run is still there
  bool graph;        // also scores over the dependence graph
  const char *close; // seconds for a closer look, as `culprit run --close`
                     // takes them; NULL: as it chooses
} AttemptOptions;

// Makes Version.dir/outcome; problems with the version are recorded there.
// Changes the environment and personality of the process: to be called in one
// of its own. -1: not even that file could be written.
int attempt(const Version *v, const AttemptOptions *o,
            const MethodList *methods, Err *err);

// The file that `attempt` leaves. Caller frees.
char *attempt_outcome(const Version *v);

#endif
