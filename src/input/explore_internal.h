// What explore.c (runs inputs natively) and explore_round.c (chooses, solves
// and replays) share.
#ifndef CULPRIT_INPUT_EXPLORE_INTERNAL_H
#define CULPRIT_INPUT_EXPLORE_INTERNAL_H

#include "input/explore.h"
#include "model/run.h"
#include "run/testfile.h"
#include "util/arena.h"

// How one test of a batch ended.
struct Judged {
  char *test;
  Verdict verdict;
  bool shows;
  bool done;
};

// Inputs as tests.
typedef struct {
  Test *tests;
  struct Judged *judged;
  size_t n;
  Arena arena;
} MadeBatch;

// Names them and writes their files. To be released (arena) even if it fails.
int made_batch_write(Explorer *e, const char *prefix, const Inputs *inputs,
                     size_t n, MadeBatch *b, Err *err);
// Runs and judges them.
int made_batch_run(Explorer *e, MadeBatch *b, Err *err);

// Adds the time since `start` to a sum; returns the present.
double explore_count_time(double *sum, double start);

#endif
