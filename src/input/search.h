// Makes tests near a failing run. The run is recorded and replayed; conditions
// on its path are negated and solved; a strategy chooses which input to run
// next. Every input that comes out is run natively and judged, and becomes a
// test of the session. docs/methods.md.
//
//   InputSearch s;
//   search_open(&s, &runner, &options, &err);          // runner: begun
//   search_run_given(&s, &inputs, &result, &err);      // does it fail at all?
//   search_reduce(&s, &err);                           // smaller, same failure
//   search_make_tests(&s, &err);                       // until the budget ends
//   search_close(&s);
#ifndef CULPRIT_INPUT_SEARCH_H
#define CULPRIT_INPUT_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "input/frontier.h"
#include "input/havoc.h"
#include "input/recorder.h"
#include "input/screen.h"
#include "model/input.h"
#include "model/run.h"
#include "run/runner.h"
#include "util/err.h"

enum {
  SEARCH_INSTRUCTIONS = 40000000
}; // of a run; conditions behind them stay as they are

struct InputSearch;

typedef struct {
  const char *program; // built by culprit-cc
  const char *cache;   // where its trace build is kept
  const char *dir;     // where made tests are kept
  const Strategy *strategy;
  unsigned parts;   // PART_* that may be used
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
  size_t confirmed, diverged;   // tests that took the predicted path, or not
  size_t guessed;               // tests whose path was not predicted
  size_t forgotten;             // runs whose path leads nowhere new
  size_t paths;                 // different ones among the confirmed
  size_t unsat, unknown;        // candidates that are infeasible, or undecided
  size_t unreplayed;            // runs whose trace could not be replayed
  size_t late;                  // not replayed: out of time
  size_t cut;                   // replayed in part: too long, or killed
  size_t screened, found;       // mutations, and those that became tests
  size_t false_conditions;      // should be 0: our bug
  size_t queries;
  size_t bytes_before, bytes_after; // of the input, by reduction
  double building; // the build that records; before the budget begins
  double seconds;
  double writing, running, recording, screening; // of it
  double replaying, choosing, solving;           // likewise
} SearchStats;

typedef struct {
  char *name;
  size_t count;
} Loss;

// How the run of one input ended.
typedef struct {
  Verdict verdict; // VERDICT_ERROR: it was not judged
  int status;
  bool shows; // the failure that is to be explained
  bool fresh; // it reached what no run of the session had reached
} InputResult;

enum { TRIALS_KEPT = 16 };

// An input that reduction tried and that no longer fails: test "reducedNUMBER".
typedef struct {
  unsigned number;
  Inputs inputs;
  Verdict verdict;
} CutTrial;

typedef struct InputSearch {
  SearchOptions options;
  Runner *runner;
  Recorder recorder;
  Frontier frontier;
  Mutator mutator;
  Screen screen;
  char *screen_dir;    // its files
  ARRAY(Inputs) finds; // mutations to be made tests
  size_t next_find;
  size_t barren;   // mutations since the last of those
  size_t idle;     // tests in a row that brought nothing new
  Inputs given;    // what the user gave, or what it was reduced to
  Inputs original; // what the user gave
  char *signature; // of its failure
  char *message;
  int status;  // of its run
  bool vague;  // its signature is an exit status only
  bool varies; // it fails in a different way each time: any failure shows it
  char *note;  // of its run; NULL: none
  double start;
  unsigned number;         // of the next test
  size_t planned;          // tests made, run or about to be
  atomic_bool stopped;     // make no more
  struct MadeBatch *batch; // being run; NULL: none
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

// Runs the given input twice. Unless it is GIVEN_FAILS, there is nothing to
// search for. -1: an error.
int search_run_given(InputSearch *s, const Inputs *in, GivenResult *result,
                     Err *err);
// Adds another input that shows the same failure.
int search_add_seed(InputSearch *s, const Inputs *in, Err *err);
// Makes the given input smaller as long as it shows the same failure.
int search_reduce(InputSearch *s, Err *err);
// Makes and runs tests until the budget is used up or nothing is left to try.
int search_make_tests(InputSearch *s, Err *err);

// Is there time left, and was the search not interrupted?
bool search_goes_on(const InputSearch *s);

// Runs inputs natively, as one batch: tests PREFIXn, with n from s->number on.
int search_run_inputs(InputSearch *s, const char *prefix, const Inputs *inputs,
                      size_t n, InputResult *results, Err *err);

// Runs the tests of a search once more, for a closer look (runner.h,
// CloseHooks): the runner has their contexts.
int search_run_again(void *unused, Runner *r, Err *err);

#endif
