// Compares output and exit status with the expected ones.
#include "oracle/failure.h"
#include "oracle/files_equal.h"
#include "oracle/kinds.h"

#include <stdio.h>

int judge_output(const Trial *t, const char *expected_out, int status,
                 const char *whom, Run *run, Err *err) {
  char message[128];
  int got = t->outcome->status;
  bool equal = false;
  if (files_equal(t->out, expected_out, &equal, err))
    return -1;
  run->verdict = VERDICT_PASS;
  if (status >= 0 && got != status) {
    snprintf(message, sizeof message, "exit status %d instead of %d", got,
             status);
    failure_add_exit(run, t->root, NULL, message);
  } else if (!equal) {
    snprintf(message, sizeof message, "standard output differs from %s", whom);
    failure_add(run, "output", "", NULL, message);
  }
  if (run->failures.len)
    run->verdict = VERDICT_FAIL;
  return 0;
}
