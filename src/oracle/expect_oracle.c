// Oracle: expected outputs in a directory, DIR/<n>.out and DIR/<n>.status.
#include "oracle/failure.h"
#include "oracle/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/fs.h"
#include "util/mem.h"

int expect_check(const char *arg, Err *err) {
  struct stat st;
  if (stat(arg, &st))
    return err_set(err, "--expect %s: %s", arg, strerror(errno));
  if (!S_ISDIR(st.st_mode))
    return err_set(err,
                   "--expect %s: not a directory; it must hold <n>.out "
                   "for test n",
                   arg);
  return 0;
}

// *status = -1 if there is no such file.
static int read_status(const char *path, int *status, Err *err) {
  *status = -1;
  if (!fs_exists(path))
    return 0;
  Str text = {0};
  int rc = fs_read(path, 64, &text, err);
  char *end = NULL;
  if (!rc) {
    long n = strtol(str_text(&text), &end, 10);
    end += strspn(end, " \t\r\n");
    if (!text.len || *end || n < 0 || n > 255)
      rc = err_set(err, "%s: not an exit status (0 to 255)", path);
    *status = (int)n;
  }
  str_release(&text);
  return rc;
}

int expect_judge(const char *arg, const Trial *t, Run *run, Err *err) {
  char *out = mem_printf("%s/%u.out", arg, t->number);
  char *file = mem_printf("%s/%u.status", arg, t->number);
  int status, rc = 0;
  if (!fs_exists(out)) {
    run->verdict = VERDICT_ERROR;
    run_add_note(run, "no expected output: %s does not exist", out);
  } else {
    rc = read_status(file, &status, err);
    if (!rc)
      rc = judge_output(t, out, status, "the expected one", run, err);
  }
  free(out);
  free(file);
  return rc;
}
