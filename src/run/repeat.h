// Which executions of a test that failed are repeated, and how.
//
// Tests that write to the same files disturb each other. One that failed beside
// others is repeated alone, and if it passes then, once more: it counts as
// passed. Where all of many fail alone too, further ones are repeated beside
// others, and alone only if that makes a difference.
#ifndef CULPRIT_RUN_REPEAT_H
#define CULPRIT_RUN_REPEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/run.h"

enum { ATTEMPTS_MOST = 3 };

typedef struct {
  int attempt;     // 0, 1, 2: of the last execution
  bool was_beside; // the first execution, which failed, was beside others
  bool alone;      // repetitions are to run alone
} Repeat;

typedef enum {
  REPEAT_END,
  REPEAT_NEXT,   // `attempt` is the next one
  REPEAT_INSTEAD // `attempt` once more: what it gave does not count
} RepeatStep;

// The execution has its verdict; `beside`: others ran beside it. `steady`: how
// many tests in a row failed alone as they did beside others, of all tests.
RepeatStep repeat_step(Repeat *r, Verdict v, bool beside, size_t *steady);

// Does the last attempt count, because it passed alone for the second time?
bool repeat_was_disturbed(const Repeat *r, Verdict last);

#endif
