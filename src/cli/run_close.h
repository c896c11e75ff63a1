// The closer look of `culprit run` and `culprit input`: takes it, and prints the
// rankings before and after it.
#ifndef CULPRIT_CLI_RUN_CLOSE_H
#define CULPRIT_CLI_RUN_CLOSE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/rank.h"
#include "look/close_look.h"
#include "run/runner.h"
#include "store/store.h"

typedef struct {
  double seconds;     // --close; 0: no look, below 0: as long as the tests took
  double tests_took;  // in seconds
  bool quiet;         // only the result
  bool json;          // words go to standard error
  bool later;         // the ranking is printed by somebody else
  bool watched;       // somebody waits: standard output is a terminal
  bool show_progress; // on standard error
} RunCloseOptions;

// Ranks the session, after a closer look if that can be had: a ranking that is
// there already is printed as soon as the look takes longer than a second, if
// somebody waits for it. `r` is closed, but has the modules it has seen. Returns an exit status.
int run_close_rank(const RunCloseOptions *o, const RankOptions *rank,
                   RunTests *run, void *context, const Runner *r, Store *store);

// How long a look may take: as given (below 0: not), as CULPRIT_LOOK says, or
// as long as the tests took, within bounds. 0: there is to be none.
double run_close_seconds(double given, double took);
// What a look came to, in words; `tests`: what they are called.
void run_close_describe(const CloseLookResult *r, const char *tests, FILE *out);
// The same for RankOptions.more_close: members of the JSON. Caller frees.
char *run_close_members(const CloseLookResult *r);

#endif
