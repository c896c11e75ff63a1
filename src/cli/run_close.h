// The closer look of `culprit run`: takes it, and prints the rankings before and
// after it.
#ifndef CULPRIT_CLI_RUN_CLOSE_H
#define CULPRIT_CLI_RUN_CLOSE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "adapter/adapter.h"
#include "cli/rank.h"
#include "run/runner.h"
#include "store/store.h"

typedef struct {
  double seconds;     // --close; 0: no look, below 0: as long as the tests took
  double tests_took;  // in seconds
  bool quiet;         // only the result
  bool json;          // words go to standard error
  bool show_progress; // on standard error
} RunCloseOptions;

// Ranks the session, after a closer look if that can be had: a ranking that is
// there already is printed as soon as the look takes longer than a second. `r`
// is closed, but has the modules it has seen. Returns an exit status.
int run_close_rank(const RunCloseOptions *o, const RankOptions *rank,
                   const Adapter *adapter, const Runner *r, Store *store);

#endif
