// Oracle: a shell command that looks at the output.
#include "oracle/failure.h"
#include "oracle/kinds.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

enum { GOOD = 0, SKIP = 125, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

int command_check(const char *arg, Err *err) {
  if (!arg[strspn(arg, " \t\n")])
    return err_set(err, "--oracle: the command is empty; name one that "
                        "exits with 0 if the test passed");
  return 0;
}

// The first line of a file, for messages; " " if there is none.
static void first_line(const char *path, Str *out) {
  Err ignored = {0};
  int fd = fs_open_regular(AT_FDCWD, path, false, &ignored);
  if (fd >= 0) {
    fs_read_fd(fd, path, 256, out, &ignored);
    close(fd);
  }
  if (!out->data)
    str_add(out, "");
  out->len = strcspn(out->data, "\r\n");
  out->data[out->len] = '\0';
}

static int environment_error(const char *arg, const Trial *t, Err *err) {
  Str why = {0};
  first_line(t->second_err, &why);
  err_set(err,
          "test %s: the oracle command could not be executed (exit status %d): "
          "%s%s%s",
          t->test, t->second->status, arg, why.len ? ": " : "", why.data);
  str_release(&why);
  return -1;
}

int command_judge(const char *arg, const Trial *t, Run *run, Err *err) {
  const Outcome *second = t->second;
  assert(second);
  char message[96];
  if (second->end == END_UNSTARTED)
    return err_set(err, "test %s: the oracle command: %s", t->test,
                   second->problem);
  if (second->end != END_EXIT) {
    run->verdict = VERDICT_ERROR;
    run_add_note(run, "the oracle command %s",
                 second->end == END_SIGNAL ? "was killed by a signal"
                                           : "did not end within the limits");
    return 0;
  }
  switch (second->status) {
  case GOOD:
    run->verdict = VERDICT_PASS;
    return 0;
  case SKIP:
    run->verdict = VERDICT_SKIP;
    return 0;
  case NOT_EXECUTABLE:
  case NOT_FOUND:
    return environment_error(arg, t, err);
  }
  run->verdict = VERDICT_FAIL;
  snprintf(message, sizeof message, "oracle command: exit status %d",
           second->status);
  failure_add(run, "oracle", "", NULL, message);
  return 0;
}
