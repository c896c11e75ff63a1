// Tests that are scripts, decided without the script.
//
// A script is run once unchanged, and each start of the program in it recorded
// (capture/capture_format.h). An experiment then repeats only these starts. If
// every one of them writes, leaves and returns what it did, the script would
// have seen the same, and the verdict is that of the unchanged run. At the first
// start that does something else the repetition ends: what the script would do
// then is not known, and it is run.
//
// One thing can be known: if the script was run for an experiment whose first
// other start did the same, and has not started the program since, its verdict
// holds for this experiment, too.
//
// A test is decided this way only if the unchanged run, repeated, is the same
// again: what depends on time, process numbers or files of others is not.
#ifndef CULPRIT_TRY_CAPTURED_H
#define CULPRIT_TRY_CAPTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "try/try_runs.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef enum {
  CAPTURED_UNKNOWN,
  CAPTURED_BUSY,  // is being recorded or repeated for the first time
  CAPTURED_READY, // can be decided without its script
  CAPTURED_NEVER,
} CapturedState;

// What a repetition came to.
typedef struct {
  bool same;     // as in the unchanged run
  bool known;    // if not: the two numbers are
  size_t starts; // that it made, the other one included
  uint64_t deed; // a hash of what that one did
} CapturedAnswer;

typedef struct {
  CapturedAnswer answer;
  TriedVerdict *verdicts;
} CapturedVerdict;

typedef struct {
  CapturedState state;
  unsigned scripts; // times that its script was run
  char *records;    // directory
  size_t nverdicts;
  TriedVerdict *verdicts; // of the unchanged run
  ARRAY(CapturedVerdict) others;
} CapturedTest;

typedef struct {
  bool enabled;
  char *program;      // culprit-capture
  char *dir;          // of all of it
  char *bin;          // for CULPRIT_CLOSE while recording
  const char *builds; // of the programs, under the same names
  CapturedTest *tests;
  size_t ntests;
  uint64_t decided; // runs without a script
  Arena arena;
} CapturedTests;

// Makes the directories below `scratch`. Leaves it disabled if anything is
// missing.
int captured_open(CapturedTests *c, const char *scratch, const char *builds,
                  size_t ntests, Err *err);
void captured_close(CapturedTests *c);

// Is the script to be recorded before this run of the test? `unchanged`: that
// run is one of the script as it is, and costs nothing more.
bool captured_wants(const CapturedTests *c, size_t test, bool unchanged);
// From here until captured_keep or captured_refuse the test is busy. Fails if
// the directory cannot be made.
int captured_begin(CapturedTests *c, size_t test, Err *err);
// The script ended with these verdicts. False: what was recorded is of no use.
bool captured_recorded(CapturedTests *c, size_t test,
                       const TriedVerdict *verdicts, size_t n);
void captured_keep(CapturedTests *c, size_t test);
void captured_refuse(CapturedTests *c, size_t test);

// Variables of a run that records, to be added to `list` (3 of them).
size_t captured_variables(const CapturedTests *c, size_t test, const char *from,
                          char **list, Arena *arena);
// Variables of a run that repeats (1).
size_t captured_repeat_variables(const CapturedTests *c, char **list,
                                 Arena *arena);

// How a repetition ended: its status, and the file of its output.
CapturedAnswer captured_answer(int status, const char *out);
// The verdicts that follow from it; NULL: the script must tell.
const TriedVerdict *captured_decide(CapturedTests *c, size_t test,
                                    const CapturedAnswer *a);
// The script has told, after the program was started so many times.
void captured_learn(CapturedTests *c, size_t test, const CapturedAnswer *a,
                    uint64_t starts, const TriedVerdict *verdicts);

#endif
