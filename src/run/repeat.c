// Repetitions of tests that failed: see repeat.h.
#include "run/repeat.h"

enum { ENOUGH_ALONE = 16 };

static RepeatStep repeat_first(Repeat *r, bool beside, size_t steady) {
  r->was_beside = beside;
  r->alone = beside && steady < ENOUGH_ALONE;
  r->attempt = 1;
  return REPEAT_NEXT;
}

RepeatStep repeat_step(Repeat *r, Verdict v, bool beside, size_t *steady) {
  if (r->attempt == 0 && v == VERDICT_FAIL)
    return repeat_first(r, beside, *steady);
  if (r->attempt == 1 && r->was_beside && beside && v != VERDICT_FAIL) {
    r->alone = true;
    return REPEAT_INSTEAD;
  }
  if (r->attempt == 1 && r->alone && v == VERDICT_PASS) {
    *steady = 0;
    r->attempt = 2;
    return REPEAT_NEXT;
  }
  *steady += r->attempt == 1 && r->alone && v == VERDICT_FAIL;
  return REPEAT_END;
}

bool repeat_was_disturbed(const Repeat *r, Verdict last) {
  return r->attempt == 2 && last == VERDICT_PASS;
}
