// Oracles turn an execution into a verdict and failures.
//
//   exit       the exit status is 0 (the default)
//   reference  standard output and exit status are those of another program
//   expect     standard output is in a file DIR/<n>.out, the exit status in
//              DIR/<n>.status (no such file: any)
//   command    a command looks at the output: 0 good, 125 skip, other bad
//
// A signal, a sanitizer report, a broken contract, a timeout or a broken limit
// always fails, whatever the oracle would say.
//
// An oracle is one row of the table in oracle.c and one file. It runs nothing
// itself: if it needs a second process, the row says which, and the runner runs
// it beside the other tests.
#ifndef CULPRIT_ORACLE_ORACLE_H
#define CULPRIT_ORACLE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/run.h"
#include "oracle/rules.h"
#include "process/process.h"
#include "util/err.h"

// One execution, as an oracle sees it.
typedef struct {
  const char *test;      // its name, for messages
  unsigned number;       // its number, for file names
  const char *root;      // paths below it are shown relative to it
  const char *out, *err; // files with what it wrote
  bool merged;           // standard error went where standard output goes
  const char *stacks;    // of its threads when it was stopped; NULL or ""
  const Outcome *outcome;
  const TestRules *rules; // its runner's own; NULL: the oracle judges
  double timeout;         // the limits it ran under
  uint64_t max_output;
  const Outcome *second; // the second process; NULL: it was not needed
  const char *second_out, *second_err;
} Trial;

// How the note of a test begins that is skipped because the reference program
// gave no answer for it.
#define NOTE_REFERENCE "the reference program"

typedef enum {
  SECOND_NONE,
  SECOND_PROGRAM, // the same test with the oracle's program instead of its own
  SECOND_SHELL,   // the oracle's shell command, with the output's path
} Second;

typedef struct {
  const char *name;
  const char *option; // the option of `culprit run` that chooses it
  Second second;
  // Is the argument usable at all? The message names it and the remedy.
  int (*check)(const char *arg, Err *err);
  // Sets run->verdict, adds failures and notes. -1: the environment is broken,
  // no test can be judged this way.
  int (*judge)(const char *arg, const Trial *t, Run *run, Err *err);
} OracleKind;

typedef struct {
  const OracleKind *kind;
  const char *arg;
} Oracle;

// The kind by name; NULL: there is none.
const OracleKind *oracle_find(const char *name);
int oracle_check(const Oracle *o, Err *err);

// Adds the failures that need no oracle (and that of a test that could not be
// started). True: the verdict is settled.
bool oracle_settled(const Trial *t, Run *run);

// Judges a trial that oracle_settled left open, with its second process.
int oracle_judge(const Oracle *o, const Trial *t, Run *run, Err *err);

#endif
