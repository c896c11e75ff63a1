// Records runs of a program and replays them: the trace build is made from the
// program's own bitcode, once, and kept.
#ifndef CULPRIT_INPUT_RECORDER_H
#define CULPRIT_INPUT_RECORDER_H

#include <stddef.h>

#include "program/trace_build.h"
#include "replay/replay.h"
#include "run/runner.h"
#include "run/testfile.h"
#include "util/err.h"

enum { RECORDER_THREADS = 16 };

typedef struct {
  TraceBuild build;
  Program program; // of thread 0
  // Replay binds a program to the trace's addresses, so each thread that
  // replays needs a copy of its own.
  Program *programs[RECORDER_THREADS]; // NULL: not loaded
  Runner *runner;                      // its pool and scratch area are used
  unsigned
      stream_max; // bytes of a recorded run; recorder_open() sets the usual
} Recorder;

// `cache`: where the trace build is kept.
int recorder_open(Recorder *r, Runner *runner, const char *program,
                  const char *cache, Err *err);
void recorder_close(Recorder *r);

// Loads the copies of threads 0 to n - 1.
int recorder_load_programs(Recorder *r, size_t n, Err *err);

// Records the runs of n tests as numbers 0 to n - 1, as many at once as the
// pool has slots. A run that is killed is recorded up to its end.
int recorder_record(Recorder *r, const Test *tests, size_t n, Err *err);
// The same as numbers from `first` on. Others may be replayed meanwhile.
int recorder_record_at(Recorder *r, size_t first, const Test *tests, size_t n,
                       Err *err);

// Replays number i of what was recorded. `out` is to be released even if it
// fails: no trace (the run was too short, a thread was started, ...).
int recorder_replay(Recorder *r, size_t i, const Inputs *in, ExprPool *pool,
                    const ReplayOptions *options, Path *out, Err *err);
// The same for one of several threads that replay at once.
int recorder_replay_in(Recorder *r, size_t thread, size_t i, const Inputs *in,
                       ExprPool *pool, const ReplayOptions *options, Path *out,
                       Err *err);

#endif
