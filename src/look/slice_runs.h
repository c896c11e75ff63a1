// Slices of failing runs: a test runs once more in the trace build, what it
// should have printed is got again, and the first wrong byte is sliced
// (output_slice.h).
//
//   slice_failing(&options, runner, found, runs, n, &result);
//
// That is possible where it is known what a test should print: in sessions of a
// program and a list of tests, or of tests that were made (test_context.h), with
// --reference or --expect. The runner's pool
// must be idle; its first slot is used. Its options say where tests run, and what
// confines them.
#ifndef CULPRIT_LOOK_SLICE_RUNS_H
#define CULPRIT_LOOK_SLICE_RUNS_H

#include "look/found_unit.h"
#include "look/output_slice.h"
#include "run/runner.h"
#include "run/testfile.h"

enum { SLICES_MOST = 5 }; // runs

bool slices_possible(const RunOptions *o);

typedef struct {
  const char *cache; // where the trace build is kept
  // As those of CloseHooks.
  double (*limit)(void *context, const char *test, double full);
  bool (*go_on)(void *context);
  void *context;
} SliceOptions;

typedef struct {
  size_t sliced, tried; // of runs with wrong output
  char *note; // why one was not sliced, or what of it is not known; NULL: all
              // is well. Caller frees
} SliceResult;

// Slices the first SLICES_MOST of these failing runs, as long as there is time,
// and adds what it finds to their hits.
void slice_failing(const SliceOptions *o, Runner *r, FoundUnit *found,
                   FoundRun *const *runs, size_t n, SliceResult *out);

// What the test should print: what the reference program does (--reference), or
// what stands in DIR/n.out (--expect). Appended to `out`.
int expected_output(Runner *r, const Test *test, double timeout, Str *out,
                    Err *err);

#endif
