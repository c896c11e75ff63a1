// How good the report of `culprit near` is when the fault is known (--fault):
// the score over the program dependence graph (eval/pdg.h), from the statements
// of the report.
#ifndef CULPRIT_CLI_NEAR_SCORE_H
#define CULPRIT_CLI_NEAR_SCORE_H

#include <stddef.h>

#include "eval/pdg.h"
#include "generate/near.h"
#include "util/err.h"

// `faults`: n times FILE:LINE[,LINE]. The graph is made from what the program
// carries, in the explorer's directory. A search that found nothing scores 0.
int near_score(const Near *n, const char *const *faults, size_t nfaults,
               PdgScore *out, Err *err);

#endif
