// Records runs of a program and replays them: the trace build is made from the
// program's own bitcode, once, and kept.
#ifndef CULPRIT_GENERATE_RECORDER_H
#define CULPRIT_GENERATE_RECORDER_H

#include <stddef.h>

#include "cfront/trace_build.h"
#include "run/runner.h"
#include "run/testfile.h"
#include "sym/replay.h"
#include "util/err.h"

typedef struct {
  TraceBuild build;
  Program program;
  Runner *runner; // its pool and scratch area are used
} Recorder;

// `cache`: where the trace build is kept.
int recorder_open(Recorder *r, Runner *runner, const char *program,
                  const char *cache, Err *err);
void recorder_close(Recorder *r);

// Records the runs of n tests, as many at once as the pool has slots. A run
// that is killed is recorded up to there.
int recorder_record(Recorder *r, const Test *tests, size_t n, Err *err);

// Replays number i of what was recorded last. `out` is to be released even if
// it fails: no trace (the run was too short, a thread was started, ...).
int recorder_replay(Recorder *r, size_t i, const Inputs *in, ExprPool *pool,
                    const ReplayOptions *options, Path *out, Err *err);

#endif
