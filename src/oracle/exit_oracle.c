// The default oracle: an exit status other than 0 fails.
#include "oracle/failure.h"
#include "oracle/kinds.h"

#include <stdio.h>

int exit_check(const char *arg, Err *err) {
  (void)arg, (void)err;
  return 0;
}

int exit_judge(const char *arg, const Trial *t, Run *run, Err *err) {
  (void)arg, (void)err;
  run->verdict = t->outcome->status ? VERDICT_FAIL : VERDICT_PASS;
  char what[64];
  snprintf(what, sizeof what, "exit status %d", t->outcome->status);
  if (t->outcome->status)
    failure_add_status(run, t, what, NULL);
  return 0;
}
