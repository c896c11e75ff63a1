// Runs tests in changed programs, many in a second: each job is a test and an
// experiment (runtime/try_format.h). The tests run as the session ran them, with
// its oracle, confined, in the build for experiments.
//
//   TryRuns *r;
//   try_runs_open(&r, runner, tests, n, &options, err);
//   TryJob jobs[] = {{.test = 3, .experiment = &e}, ...};
//   try_runs_do(r, jobs, 2, err);
//   ... jobs[0].result.passes ...
//   try_runs_close(r);
//
// A test of the session may be one of many inside a process (program/segments.h);
// a job runs the whole process, and its result has a verdict for each.
#ifndef CULPRIT_TRY_TRY_RUNS_H
#define CULPRIT_TRY_TRY_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/try_note.h"
#include "model/entity.h"
#include "run/runner.h"
#include "runtime/try_format.h"
#include "util/err.h"

// One change at one site. Site 0: none.
typedef struct {
  UnitId unit;
  uint32_t site;
  TryChange change;
  int64_t a, b;
} Experiment;

// A process that the session runs, and the session's tests in it.
typedef struct {
  const Test *test;
  const uint32_t *runs; // of the suite
  size_t nruns;
  bool whole;     // its one run is the whole process
  bool only;      // the session has no other: its runs do not have its name
  double limit;   // seconds that it may take
  uint64_t steps; // that it may make; 0: any number
} TryTest;

typedef enum { TRIED_UNKNOWN, TRIED_PASS, TRIED_FAIL } TriedVerdict;

typedef struct {
  bool ran;      // false: it could not be started, or was interrupted
  bool passes;   // all of it
  End end;       // how its process ended
  uint8_t stops; // RUN_OUT_OF_STEPS | ...; 0 if unchanged
  uint64_t steps, executed, changed; // of the report
  uint32_t relations;
} TryResult;

// What the first failure of a run is; NULL: it has none.
typedef struct {
  char *signature, *message;
} RunFailure;

typedef struct {
  size_t test;                  // of the tests given
  const Experiment *experiment; // NULL: nothing is changed
  // Other builds than those for experiments: what CULPRIT_CLOSE is, and if all
  // tests start the same program, that one's ("": not so). NULL: none.
  const char *dir, *program;
  TriedVerdict *verdicts; // of each of the test's runs; may be NULL
  RunFailure *failure;    // may be NULL; its texts are to be freed
  // What a CHANGE_NONE has seen is handed over here; may be NULL.
  void (*log)(void *context, const TryReport *report);
  // What the run left is handed over here, and nothing judges it; may be NULL.
  // `out`: the file with its standard output.
  void (*ended)(void *context, const Outcome *outcome, const char *out);
  void *context;
  TryResult result;
} TryJob;

// When to decide tests that are scripts without the script (captured.h).
typedef enum {
  CAPTURE_NEVER,
  CAPTURE_QUICKER, // if that takes less than half of the time
  CAPTURE_ALWAYS,  // if it can be done at all
  CAPTURE_UNKNOWN,
} TryCapture;

typedef struct {
  const char *dir; // the builds, as CULPRIT_CLOSE has them; NULL: none
  // The build of a program; NULL: it has none.
  const char *(*build)(void *context, const char *program);
  void *context;
  uint64_t memory; // bytes that a run may take
  bool collect;    // verdicts need what runs leave: segments, contracts
  TryCapture capture;
  // Asked often: go on? May be NULL.
  bool (*go_on)(void *context);
  struct TryMemory *memory_of_runs; // is looked up and added to; NULL: none
} TryRunOptions;

typedef struct TryRuns TryRuns;

// The runner has begun; its pool must be idle.
int try_runs_open(TryRuns **out, Runner *runner, const Suite *suite,
                  const TryTest *tests, size_t n, const TryRunOptions *o,
                  Err *err);
void try_runs_close(TryRuns *r); // NULL is fine

// Runs all jobs, as many at once as the runner has slots. Fails if the
// environment is broken. Jobs that were not run because of go_on() or a signal
// have result.ran false.
int try_runs_do(TryRuns *r, TryJob *jobs, size_t n, Err *err);

// How many jobs were run.
uint64_t try_runs_count(const TryRuns *r);
// How many of them are known from before (memory_of_runs), and were not started.
uint64_t try_runs_recalled(const TryRuns *r);
// How many changed ones were stopped, or refused something.
TriedStops try_runs_stops(const TryRuns *r);
// How many of these jobs needed no run of their test's script.
uint64_t try_runs_decided(const TryRuns *r);

#endif
