// Do the runs that were looked at so far decide the order of the first lines? They
// do if the runs of two rounds in a row give the same order, by the default
// method. That is tried out in a copy of the store.
#ifndef CULPRIT_LOOK_CLOSE_DECISION_H
#define CULPRIT_LOOK_CLOSE_DECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "look/found_unit.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"

enum {
  DECISION_LINES = 20,   // of each failure
  DECISION_FAILURES = 4, // the most frequent ones
};

typedef struct {
  Store *copy;
  int64_t session;
  ARRAY(uint32_t) order; // the lines after the last round
} CloseDecision;

// `dir` is made.
int close_decision_open(CloseDecision *d, Store *store, int64_t session,
                        const char *dir, Err *err);
void close_decision_close(CloseDecision *d); // zeroed is fine

// Ranks with these runs. *decided: the order is that of the call before.
int close_decision_round(CloseDecision *d, FoundUnit *found,
                         const FoundRun *runs, size_t n, bool *decided,
                         Err *err);

#endif
