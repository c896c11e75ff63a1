// Makes tests near a failing run: the run is recorded and replayed, conditions
// on its path are turned round and solved for, the strategy chooses what to run
// next; every made input is run natively and judged, and becomes a test of the
// session. docs/methods.md.
//
//   Explorer e;
//   explore_open(&e, &runner, &options, &err);  // runner: begun
//   explore_given(&e, &inputs, &err);           // does it fail at all?
//   explore_reduce(&e, &err);                   // smaller, same failure
//   explore_near(&e, &err);                     // until the budget is used up
//   explore_close(&e);
#ifndef CULPRIT_INPUT_EXPLORE_H
#define CULPRIT_INPUT_EXPLORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "input/frontier.h"
#include "input/recorder.h"
#include "model/input.h"
#include "run/runner.h"
#include "util/err.h"

enum { EXPLORE_INSTRUCTIONS = 40000000 }; // of a run; the rest is not flipped

struct Explorer;

typedef struct {
  const char *program; // built by culprit-cc
  const char *cache;   // where its trace build is kept
  const char *dir;     // where made tests are kept
  const Strategy *strategy;
  double seconds;   // in all
  size_t max_tests; // made ones
  // Called after every round of tests. May be NULL. -1: stop, with a message.
  int (*after)(void *context, const struct Explorer *e, Err *err);
  void *context;
  size_t max_reduction; // runs for making the input smaller
} ExploreOptions;

typedef struct {
  size_t tests;                 // made and run
  size_t same, passing, others; // of those: show the failure, pass, fail
                                // otherwise or cannot be judged
  size_t reduction;             // runs made while reducing
  size_t confirmed, diverged;   // did a test go where it was predicted to go?
  size_t paths;                 // different ones among those that did
  size_t unsat, unknown;        // candidates without an input
  size_t unreplayed;            // runs whose trace could not be replayed
  size_t late;                  // not replayed: the time was over
  size_t cut;                   // replayed in part: too long, or killed
  size_t false_conditions;      // should be 0: our bug
  size_t queries;
  size_t bytes_before, bytes_after; // of the input, by reduction
  double seconds;
  double writing, running, recording, replaying, choosing, solving; // of it
} ExploreStats;

typedef struct {
  char *name;
  size_t count;
} Loss;

enum { TRIALS_KEPT = 16 };

// What reduction tried and did not fail any more: test "reducedNUMBER".
typedef struct {
  unsigned number;
  Inputs inputs;
} CutTrial;

typedef struct Explorer {
  ExploreOptions options;
  Runner *runner;
  Recorder recorder;
  Frontier frontier;
  Inputs given;    // what the user gave, or what it was reduced to
  Inputs original; // what the user gave
  char *signature; // of its failure
  char *message;
  bool vague;  // its signature is an exit status only
  bool varies; // it fails in a different way each time: any failure shows it
  char *note;  // of its run; NULL: none
  double start;
  unsigned number;     // of the next test
  size_t planned;      // tests made, run or about to be
  atomic_bool stopped; // make no more
  // How the last batch was judged.
  struct Judged *judged;
  size_t njudged;
  ExploreStats stats;
  ARRAY(CutTrial) trials; // the last TRIALS_KEPT
  ARRAY(Loss) losses;     // precision lost, by function
  char *problem;          // why a trace could not be replayed: the last reason
} Explorer;

int explore_open(Explorer *e, Runner *runner, const ExploreOptions *o,
                 Err *err);
void explore_close(Explorer *e);

typedef enum {
  GIVEN_FAILS,
  GIVEN_PASSES,
  GIVEN_FLAKY,
  GIVEN_ERROR
} GivenResult;

// Runs the given input twice. Anything but GIVEN_FAILS: there is nothing to
// explore. -1: an error.
int explore_given(Explorer *e, const Inputs *in, GivenResult *result, Err *err);
// Further inputs that show the same failure.
int explore_seed(Explorer *e, const Inputs *in, Err *err);
int explore_reduce(Explorer *e, Err *err);
// The input of the test "reducedNUMBER"; NULL: not kept.
const Inputs *explore_trial(const Explorer *e, unsigned number);
int explore_near(Explorer *e, Err *err);

// Is there time left, and has nobody interrupted?
bool explore_goes_on(const Explorer *e);

// Used by explore_reduce: runs inputs natively, as one batch. shows[i]: it
// shows the failure.
int explore_run(Explorer *e, const char *prefix, const Inputs *inputs, size_t n,
                bool *shows, Err *err);

#endif
