// The default oracle: an exit status other than 0 fails.
#include "oracle/failure.h"
#include "oracle/kinds.h"


int exit_check(const char *arg, Err *err) {
  (void)arg, (void)err;
  return 0;
}

int exit_judge(const char *arg, const Trial *t, Run *run, Err *err) {
  (void)arg, (void)err;
  run->verdict = t->outcome->status ? VERDICT_FAIL : VERDICT_PASS;
  if (t->outcome->status)
    failure_add_status(run, t, NULL);
  return 0;
}
