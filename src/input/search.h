// Makes tests near a failing run: the run is recorded and replayed, conditions
// on its path are turned round and solved for, the strategy chooses what to run
// next; every made input is run natively and judged, and becomes a test of the
// session. docs/methods.md.
//
//   InputSearch s;
//   search_open(&s, &runner, &options, &err);  // runner: begun
//   search_run_given(&s, &inputs, &err);           // does it fail at all?
//   search_reduce(&s, &err);                   // smaller, same failure
//   search_make_tests(&s, &err);                     // until the budget is
//   used up search_close(&s);
#ifndef CULPRIT_INPUT_SEARCH_H
#define CULPRIT_INPUT_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "input/frontier.h"
#include "input/recorder.h"
#include "model/input.h"
#include "run/runner.h"
#include "util/err.h"

enum { SEARCH_INSTRUCTIONS = 40000000 }; // of a run; the rest is not flipped

struct InputSearch;

typedef struct {
  const char *program; // built by culprit-cc
  const char *cache;   // where its trace build is kept
  const char *dir;     // where made tests are kept
  const Strategy *strategy;
  double seconds;   // in all
  size_t max_tests; // made ones
  // Called after every round of tests. May be NULL. -1: stop, with a message.
  int (*after)(void *context, const struct InputSearch *s, Err *err);
  void *context;
  size_t max_reduction; // runs for making the input smaller
} SearchOptions;

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
} SearchStats;

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

typedef struct InputSearch {
  SearchOptions options;
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
  struct JudgedTest *judged;
  size_t njudged;
  SearchStats stats;
  ARRAY(CutTrial) trials; // the last TRIALS_KEPT
  ARRAY(Loss) losses;     // precision lost, by function
  char *problem;          // why a trace could not be replayed: the last reason
} InputSearch;

int search_open(InputSearch *s, Runner *runner, const SearchOptions *o,
                Err *err);
void search_close(InputSearch *s);

typedef enum {
  GIVEN_FAILS,
  GIVEN_PASSES,
  GIVEN_FLAKY,
  GIVEN_ERROR
} GivenResult;

// Runs the given input twice. Anything but GIVEN_FAILS: there is nothing to
// explore. -1: an error.
int search_run_given(InputSearch *s, const Inputs *in, GivenResult *result,
                     Err *err);
// Further inputs that show the same failure.
int search_add_seed(InputSearch *s, const Inputs *in, Err *err);
int search_reduce(InputSearch *s, Err *err);
// The input of the test "reducedNUMBER"; NULL: not kept.
const Inputs *search_trial(const InputSearch *s, unsigned number);
int search_make_tests(InputSearch *s, Err *err);

// Is there time left, and has nobody interrupted?
bool search_goes_on(const InputSearch *s);

// Used by search_reduce: runs inputs natively, as one batch. shows[i]: it
// shows the failure.
int search_run_inputs(InputSearch *s, const char *prefix, const Inputs *inputs,
                      size_t n, bool *shows, Err *err);

#endif
