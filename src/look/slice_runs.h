// Slices of failing tests: runs a test once more in the trace build, gets what
// it should have printed, and slices the first wrong byte (output_slice.h).
//
//   SliceRuns s;
//   slice_runs_open(&s, runner, program, cache, err);
//   slice_runs_one(&s, &test, &slice, err);
//   slice_runs_close(&s);
//   slice_hits(store, session, &slice, 1, &hits, err);
//
// The runner's pool must be idle; its first slot is used, its options say where
// tests run, for how long, what confines them, and by what they are judged.
#ifndef CULPRIT_LOOK_SLICE_RUNS_H
#define CULPRIT_LOOK_SLICE_RUNS_H

#include "look/output_slice.h"
#include "run/runner.h"
#include "run/testfile.h"
#include "util/bitset.h"

typedef struct {
  Runner *runner;
  SliceProgram program;
} SliceRuns;

// Is it known what a test of these options should print?
bool slice_runs_possible(const RunOptions *o);

// `cache`: where the trace build is kept.
int slice_runs_open(SliceRuns *s, Runner *runner, const char *program,
                    const char *cache, Err *err);
void slice_runs_close(SliceRuns *s);

// `out` is to be released even if it fails: no trace (a thread was started, the
// run was too short), or no expected output. runner->interrupted says if the
// user wants to stop.
int slice_runs_one(SliceRuns *s, const Test *test, OutputSlice *out, Err *err);

// What the test should print: what the reference program does (--reference), or
// what stands in DIR/n.out (--expect). Appended to `out`.
int expected_output(Runner *r, const Test *test, Str *out, Err *err);

// Makes the lines of n slices entities of the session. hits[i]: those of
// slice i.
int slice_hits(Store *store, int64_t session, const OutputSlice *slices,
               size_t n, Bitset *hits, Err *err);

#endif
