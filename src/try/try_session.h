// Experiments on a stored session: its tests run again in builds of its programs
// that can be changed at any operation, and for each failure what repairs it is
// kept as a note (locate/try_note.h).
//
//   TryResultSummary result;
//   try_session(&options, runner, store, session, &result, err);
//   try_summary_release(&result);
//
// Nothing of the session is changed. All runs are confined.
#ifndef CULPRIT_TRY_TRY_SESSION_H
#define CULPRIT_TRY_TRY_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/try_note.h"
#include "look/close_look.h"
#include "run/runner.h"
#include "store/store.h"
#include "try/try_memory.h"
#include "try/try_runs.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  double seconds; // that the runs may take, without building
  uint64_t runs;  // of programs, at most
  uint64_t seed;
  uint64_t memory;    // bytes that a run may take
  const char *method; // whose ranking says where to begin
  size_t lines;       // of that ranking
  // Kinds of experiments.
  bool clauses, variables, statements, constants, insertions;
  TryCapture capture;
  bool diffs;    // try the changes in the source as well
  bool question; // look for an input that tells apart those that pass all tests
  bool resume;   // what was run before need not run again
  RunTests *run; // an adapter
  void *run_context;
  // The programs and libraries that the session's runs used; NULL: find out.
  const SeenModule *modules;
  size_t nmodules;
  // Called often: runs made, changes found. `runs` 0: building. May be NULL.
  void (*progress)(void *context, uint64_t runs, size_t found);
  void *progress_context;
} TryOptions;

typedef struct {
  uint64_t runs;    // of the search
  uint64_t decided; // of them, without the test's script
  uint64_t asked;   // runs made to tell apart changes that pass all tests
  double seconds;   // of the runs
  double building;  // seconds that the builds took
  size_t failures;  // that were looked at
  bool cut, interrupted;
  uint64_t recalled;   // of the runs: made before (resume)
  TriedStops stops;    // of the runs
  ARRAY(char *) notes; // a sentence each
} TrySummary;

// `like`: the options, root and oracle of the session, confinement included. -1:
// the store cannot be read or written to; all else that goes wrong is a note.
int try_session(const TryOptions *o, const Runner *like, Store *store,
                int64_t session, TrySummary *out, Err *err);
// Notes what --resume found, if that is not what it looked for. `changed`: "the
// programs have".
void memory_explain(MemoryState state, const char *changed, TrySummary *s);
void try_summary_release(TrySummary *s);

#endif
