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

int reference_judge(const char *arg, const Trial *t, Run *run, Err *err) {
  const Outcome *second = t->second;
  assert(second);
  if (second->end == END_UNSTARTED)
    return err_set(err, "test %s: the reference program did not start: %s",
                   t->test, second->problem);
  if (second->end == END_SIGNAL) {
    char *how = signal_name(-second->status);
    err_set(err,
            "test %s: the reference program %s itself died by %s; it cannot "
            "tell right from wrong there: mend it or take the test out",
            t->test, arg, how);
    free(how);
    return -1;
  }
  if (second->end != END_EXIT)
    return err_set(err,
                   "test %s: the reference program %s did not end within the "
                   "limits; raise --timeout or --max-output, or take the test "
                   "out",
                   t->test, arg);
  return judge_output(t, t->second_out, second->status, "the reference", run,
                      err);
}
