// Loops of the source: which one a line is in, for runs that never came out.
#ifndef CULPRIT_REPORT_LOOPS_H
#define CULPRIT_REPORT_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "locate/cfg.h"
#include "store/store.h"
#include "tally/deaths.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  uint32_t source, first, last; // lines
  uint64_t turns; // how often the condition that could end it decided to go on;
                  // 0: not counted, or it has none
} SourceLoop;
typedef ARRAY(SourceLoop) SourceLoops;

// The loops that the first run which shows the failure had not left when it was
// stopped: the innermost one around each line of its stack, each once, from the
// innermost call outwards. Nothing
// if that run did not hang. `store`: has the counts of CULPRIT_MODE=counts.
int loops_running(const Suite *suite, const Deaths *d, Store *store,
                  size_t failure, SourceLoops *out, Err *err);

#endif
