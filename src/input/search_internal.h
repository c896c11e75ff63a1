// What search.c (runs inputs natively) and search_round.c (chooses, solves and
// replays) share.
#ifndef CULPRIT_INPUT_SEARCH_INTERNAL_H
#define CULPRIT_INPUT_SEARCH_INTERNAL_H

#include "input/search.h"
#include "run/testfile.h"
#include "util/arena.h"

// Inputs as tests.
typedef struct MadeBatch {
  Test *tests;
  InputResult *results;
  size_t n;
  Arena arena;
} MadeBatch;

// Names them and writes their files. To be released (arena) even if it fails.
int made_batch_write(InputSearch *s, const char *prefix, const Inputs *inputs,
                     size_t n, MadeBatch *b, Err *err);
// Runs and judges them.
int made_batch_run(InputSearch *s, MadeBatch *b, Err *err);

void search_count_verdict(InputSearch *s, const InputResult *result);
// Makes tests without recording anything, until the budget ends, and a quarter
// of it more if that has ended.
int search_make_natively(InputSearch *s, Err *err);

// Adds the time since `start` to a sum; returns the present.
double search_count_time(double *sum, double start);

#endif
