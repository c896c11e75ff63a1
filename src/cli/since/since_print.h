// What `culprit since` prints: the commit, the hunks, the lines in them.
#ifndef CULPRIT_CLI_SINCE_SINCE_PRINT_H
#define CULPRIT_CLI_SINCE_SINCE_PRINT_H

#include <stdio.h>

#include "since/commits.h"
#include "since/line_suspects.h"
#include "since/taken_back.h"

typedef struct {
  const CommitSearch *search;
  CommitsEnd found;
  bool hunks_only; // --hunks: of all that changed since the good version
  const TakenBack *back;
  BackEnd back_end;
  const LineSuspects *suspects;
  size_t failing, fixed; // tests, and those that pass without the hunks
  size_t passing, kept;  // other tests that pass, and those that still do
  Texts broken;          // the others
  bool checked;          // all tests were run
  size_t elsewhere;      // failing tests that pass at the guilty commit
  const char *patch;     // takes the hunks back
  Texts patches;         // each of them alone
  size_t builds, commit_builds, reused;
  double seconds;
} SinceResult;

int since_print_text(const SinceResult *r, FILE *out, Err *err);
int since_print_json(const SinceResult *r, FILE *out, Err *err);

#endif
