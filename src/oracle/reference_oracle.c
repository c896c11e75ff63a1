// Oracle: the same standard output and exit status as a reference program.
#include "oracle/failure.h"
#include "oracle/kinds.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fs.h"

int reference_check(const char *arg, Err *err) {
  if (!fs_exists(arg))
    return err_set(err,
                   "reference program %s: %s; --reference names the "
                   "program whose output is right",
                   arg, strerror(errno));
  if (!fs_executable(arg))
    return err_set(err, "reference program %s: not an executable file", arg);
  return 0;
}

// It does not know what is right here; other tests it may well judge.
static void skip_test(const char *arg, const Trial *t, Run *run) {
  run->verdict = VERDICT_SKIP;
  if (t->second->end == END_SIGNAL) {
    char *how = signal_name(-t->second->status);
    run_add_note(run, NOTE_REFERENCE " %s itself died by %s", arg, how);
    free(how);
  } else if (t->second->end == END_TIMEOUT) {
    run_add_note(run,
                 NOTE_REFERENCE " %s was still running after %g s (--timeout "
                                "allows more)",
                 arg, t->timeout);
  } else {
    run_add_note(run, NOTE_REFERENCE " %s exceeded a limit (%s)", arg,
                 t->second->end == END_OUTPUT ? "--max-output allows more"
                                              : "too many processes");
  }
}

int reference_judge(const char *arg, const Trial *t, Run *run, Err *err) {
  const Outcome *second = t->second;
  assert(second);
  if (second->end == END_UNSTARTED)
    return err_set(err, "test %s: the reference program did not start: %s",
                   t->test, second->problem);
  if (second->end != END_EXIT) {
    skip_test(arg, t, run);
    return 0;
  }
  return judge_output(t, t->second_out, second->status, "the reference", run,
                      err);
}
