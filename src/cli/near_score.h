// How good the report of `culprit near` is when the fault is known (--fault):
// the score over the program dependence graph (eval/pdg_score.h), from the statements
// of the report.
#ifndef CULPRIT_CLI_NEAR_SCORE_H
#define CULPRIT_CLI_NEAR_SCORE_H

#include <stddef.h>

#include "eval/pdg_score.h"
#include "near/near.h"
#include "util/err.h"

// Edges followed one way at a time (the paper's score), and both ways at once.
typedef struct {
  PdgScore directed, both;
} NearScore;

typedef struct {
  NearScore report;    // of the report; 0 if nothing passes
  NearScore neighbour; // of the classical nearest neighbour's (NearNeighbour)
} NearScores;

// `faults`: n times FILE:LINE[,LINE]. The graph is made from what the program
// carries, in the explorer's directory.
int near_score(const Near *n, const char *const *faults, size_t nfaults,
               NearScores *out, Err *err);

#endif
