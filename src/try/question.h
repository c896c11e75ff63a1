// What tells the changes apart that pass all tests ("survivors"): inputs near
// those of the tests are made (input/near_inputs.h) and run in the unchanged program
// and with each of the first survivors, until two of those print something else
// or end otherwise. That input is the question (locate/try_note.h): which
// of them is right, the user knows.
//
// Preferred are inputs for which the two programs end by themselves, of plain
// text, like a test; then those that tell most of the survivors apart. The runs of the input that is chosen are made
// three times: what prints something else each time is no difference.
//
// Limits: tests that run the program directly, not through a script or a shell;
// standard output and exit status, not standard error and files.
#ifndef CULPRIT_TRY_QUESTION_H
#define CULPRIT_TRY_QUESTION_H

#include "locate/try_note.h"
#include "try/try_patch.h"
#include "try/try_search.h"
#include "util/arena.h"

typedef struct {
  const TrySession *session;
  Runner *runner;
  const TryRunOptions *runs; // how tests are run
  const TryFound *found;     // with two survivors at least
  const TryPatch *patches;   // of each change in there
  size_t failure;            // of the suite
  const char *cache;         // for the trace build
  const char *scratch;       // a directory
  const char *keep;          // the directory for files of the input; is made
  double seconds;            // that it may take, without building
  double *end;               // when runs->go_on() will say no: is set
} QuestionOptions;

// Memory: arena, and question_release(). Adds to *runs how many were made. -1: the
// environment is broken; that no input can be made is no error.
int question_find(const QuestionOptions *o, TriedQuestion *out, uint64_t *runs,
                  Arena *arena, Err *err);

#endif
