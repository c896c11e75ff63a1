// Does a version pass the failing tests? One trial: its files are written to the
// search's own tree, `culprit run` builds it there and runs the tests, and the
// verdicts are kept. A tree that was tried is not tried again, by this search or
// a later one that asks the same: that is how an interrupted search resumes.
//
//   TrialPlan plan = {.checkout = &c, .words = words, .tests = names, ...};
//   Trials t;
//   trials_open(&t, &plan, &err);
//   trial(&t, tree, &letters, &err);      // "ppf"
//   trials_close(&t);
//
// DIR/outcomes: "culprit since 1 KEY\n", then "TREE LETTERS\n" for each tree
// ("TREE:1" for a repetition), appended as they are known. KEY names the command and the tests; an end that
// was cut off is ignored.
#ifndef CULPRIT_SINCE_TRIAL_H
#define CULPRIT_SINCE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "model/suite.h"
#include "since/checkout.h"
#include "util/array.h"
#include "util/err.h"
#include "util/hashmap.h"

// What became of a test: the letters of a trial. A version that does not build
// has the letters "-".
enum {
  TRIAL_PASS = 'p',
  TRIAL_FAIL = 'f',
  TRIAL_FLAKY = 'y', // failed, and passed when it was repeated
  TRIAL_NONE = 's',  // was not there, was skipped, could not be judged
  TRIAL_BROKEN = '-',
};

typedef struct {
  Checkout *checkout;
  const char *below;    // the directory to run in, below the top: "src/"
  const Texts *words;   // of `culprit run`: options
  const Texts *command; // and the words behind --; none: no command
  const char *build;    // a command that builds in place; NULL: `run` builds
  const Texts *tests;   // their names
  double deadline;      // clock_now() when no trial starts any more; 0: none
  // Called before a version is built. `what` names it.
  void (*progress)(void *context, const char *what, size_t builds);
  void *context;
} TrialPlan;

typedef struct {
  TrialPlan plan;
  char *culprit; // this program
  char *log;     // what the last trial printed
  char *outcomes;
  Hashmap known; // trees -> index of
  Texts letters; // these
  Arena arena;
  size_t builds;        // versions built by this search
  size_t reused;        // trials whose outcome was known
  bool spent;           // the deadline came: what is not known stays so
  char built[OID_SIZE]; // the last tree that was built
} Trials;

int trials_open(Trials *t, const TrialPlan *plan, Err *err);
void trials_close(Trials *t);

// *letters: one per test. `what` is for people: "4efec35 'Parse links'". -1: the
// search cannot go on (a full disk, a signal); past the deadline *letters is
// "-" and `spent` set.
int trial(Trials *t, const char *tree, const char *what, const char **letters,
          Err *err);
// The same, the `time`-th time: a flaky test may end in another way.
int trial_repeat(Trials *t, const char *tree, unsigned time, const char *what,
                 const char **letters, Err *err);
// All tests of the project on this tree. `out` is to be released; without runs
// if it does not build.
int trial_all(Trials *t, const char *tree, const char *what, Suite *out,
              Err *err);

// Reads a file of outcomes: the untrusted part. -1: of another search, or none.
int outcomes_parse(const char *text, size_t size, const char *key,
                   size_t ntests, Hashmap *known, Texts *letters, Arena *arena);

#endif
