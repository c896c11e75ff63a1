// Loops of the source: which one a line is in, for runs that never came out.
#ifndef CULPRIT_REPORT_LOOPS_H
#define CULPRIT_REPORT_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "depend/cfg.h"
#include "store/store.h"
#include "tally/deaths.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  uint32_t source, first, last; // lines
  uint64_t turns; // how often the condition that could end it decided to go on;
                  // 0: not counted, or it has none
  bool watched;   // that is how often it turned, at least, in TURNS_SECONDS
} SourceLoop;
typedef ARRAY(SourceLoop) SourceLoops;

// The loops that the first run which shows the failure had not left when it was
// stopped: the innermost one around each line of its stack, each once, from the
// innermost call outwards. Nothing if that run did not hang. `store`: has the
// counts of CULPRIT_MODE=counts; without these, turns are those that were seen
// before it was stopped (Death.turns).
// "still in the loop at a.c:3-5 after 12 turns", or ", which turned at least
// 700 times in 0.5 s", or neither.
void loop_describe(const Suite *suite, const SourceLoop *l, Str *out);

int loops_running(const Suite *suite, const Deaths *d, Store *store,
                  size_t failure, SourceLoops *out, Err *err);

#endif
