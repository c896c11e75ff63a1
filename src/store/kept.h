// Counts that a server keeps as runs come in, so that a ranking need not read
// every spectrum: how many runs of each verdict, and of each failure, executed
// each entity. For this folder, and for who reads Suite.kept.
//
// A batch of runs adds one row per kind, verdict and failure: a list of entities
// with what to add, which may be less than 0 where a run was replaced. So
// writers never wait for each other. Sixteen rows of a level are folded into
// one of the next by whoever adds the sixteenth: of n batches 16 log n rows are
// left.
//
// The kinds of CLOSE_KINDS are not kept: few runs have them, and their ranking
// weighs runs.
#ifndef CULPRIT_STORE_KEPT_H
#define CULPRIT_STORE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/err.h"
#include "util/str.h"

// --- sums of a batch -------------------------------------------------------

typedef struct {
  int64_t session;
  EntityKind kind;       // ENTITY_KINDS: how many runs
  Verdict verdict;       // VERDICT_ERROR: any other
  const char *signature; // of a failure; NULL: all runs of that verdict
  int64_t runs;
  int32_t *counts;
  size_t n;
} BatchSum;

typedef ARRAY(BatchSum) BatchSums;

// Counts a run with a spectrum, or takes it out (sign -1). `signatures` lives as
// long as the sums; one may be there twice.
void kept_count(BatchSums *sums, int64_t session, Verdict verdict,
                const Texts *signatures, const Bitset hits[ENTITY_KINDS],
                int sign);
// Adds the sums to the store, inside a transaction.
int kept_write(Store *s, const BatchSums *sums, Err *err);
void kept_release(BatchSums *sums);

// Takes the run with this number out of its session's counts, before it is
// deleted.
int kept_forget_run(Store *s, int64_t session, int64_t run, BatchSums *sums,
                    Arena *names, Err *err);

// Folds what can be folded, unless another process does so.
int kept_fold(Store *s, int64_t session, Err *err);

// --- reading ---------------------------------------------------------------

// Sets suite->kept, if there are counts of exactly its runs, and enough runs to
// make it worth while.
int kept_load(Store *s, Suite *suite, Err *err);

#endif
