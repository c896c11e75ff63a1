// The statements that exactly the same runs execute as a given one: no method
// that looks at coverage alone can tell them apart from it.
#ifndef CULPRIT_TALLY_TWINS_H
#define CULPRIT_TALLY_TWINS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  bool *covers;               // per run: it executes the statement
  bool *sliced;               // per run: its first wrong byte depends on it
  ARRAY(uint32_t) statements; // the others, in source order
} Twins;

// Looks at all runs of the session that left a spectrum. A statement that none
// of them executes has no twins. Release even if it fails.
int twins_find(Twins *t, Store *store, const Suite *suite, uint32_t statement,
               Err *err);
void twins_release(Twins *t);

#endif
