// A closer look at the runs of a session: the tests that matter run once more in
// close builds (program/trace_build.h), which record relations and pairs. What
// they show is stored with the session, for the methods that rank by it.
//
// Which runs, and in which order, is a function of the session
// (close_sample.h). They are taken until all are there, the order of the first
// lines is decided, or the time is up. A run that does not end as the stored one
// did is not taken. Nothing is stored before the end, and then all at once.
#ifndef CULPRIT_LOOK_CLOSE_LOOK_H
#define CULPRIT_LOOK_CLOSE_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/runner.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"

// Runs all tests that are not done: an adapter.
typedef int RunTests(void *context, Runner *r, Err *err);

typedef struct {
  double seconds; // time that it may take, builds included
  RunTests *run;
  void *run_context;
  // The programs and libraries that the session's runs used.
  const SeenModule *modules;
  size_t nmodules;
  // Called often: how many runs were taken, of how many. May be NULL.
  void (*progress)(void *context, size_t taken, size_t all);
  void *progress_context;
} CloseLookOptions;

typedef struct {
  const char *ended; // Suite.close; "": there was no look, the notes say why
  size_t failing, passing;       // that were looked at
  size_t of_failing, of_passing; // that could have been
  size_t dropped;                // ended otherwise than the stored ones
  double seconds;                // that it took
  bool interrupted;              // by the user
  ARRAY(char *) notes;           // a sentence each
} CloseLookResult;

// `like`: the options, root and oracle of the session; if it is still at work,
// its pool is idle and its runs are flushed. -1: the store cannot be
// written to; all else that goes wrong is a note.
int close_look(const CloseLookOptions *o, const Runner *like, Store *store,
               int64_t session, CloseLookResult *out, Err *err);
void close_look_release(CloseLookResult *r);

// Has the run the verdict of the stored one, and its failure (NULL: it has none)
// among its own?
bool close_ended_alike(Verdict verdict, const char *signature, const Run *now);

#endif
