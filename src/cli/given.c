// The one failing input: see given.h.
#include "cli/given.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "run/process.h"
#include "util/str.h"

enum { FILE_MAX = 16 << 20 }; // bytes of a file that is an input

static int read_stdin(Str *out, bool *there, Err *err) {
  struct stat st;
  *there = !isatty(STDIN_FILENO) && !fstat(STDIN_FILENO, &st);
  char buffer[65536];
  ssize_t n = 0;
  while (*there && (n = read(STDIN_FILENO, buffer, sizeof buffer)) != 0) {
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return err_set(err, "cannot read standard input: %s", strerror(errno));
    str_addn(out, buffer, (size_t)n);
  }
  return 0;
}

int given_read(char *const *command, const char *cwd, const char *const *env,
               size_t n, Inputs *out, Err *err) {
  Str text = {0};
  bool there;
  int rc = read_stdin(&text, &there, err);
  if (!rc && there)
    inputs_add_stdin(out, str_text(&text), text.len);
  str_release(&text);
  if (!rc)
    rc = inputs_of_command(out, command, cwd, NULL, FILE_MAX, err);
  for (size_t i = 0; !rc && i < n; i++) {
    const char *value = getenv(env[i]);
    inputs_add_env(out, env[i], value ? value : "");
  }
  return rc;
}

int given_explain(GivenResult result) {
  switch (result) {
  case GIVEN_PASSES:
    return cli_fail(EXIT_NO_VERDICT,
                    "this input does not fail: the program ends well. Is the "
                    "right thing checked (--reference, --oracle)?");
  case GIVEN_FLAKY:
    return cli_fail(EXIT_NO_VERDICT,
                    "this input fails only sometimes: the program depends on "
                    "more than its input (the clock, random numbers, threads)");
  default:
    return cli_fail(EXIT_NO_VERDICT, "this input could not be run or judged");
  }
}

bool given_progress_shown;

void given_progress(const Runner *r) {
  static double last;
  double now = clock_now();
  if (!given_progress_shown || now - last < 0.05)
    return;
  last = now;
  fprintf(stderr, "\r[%zu] %zu failed\033[K", r->finished, r->failing);
  fflush(stderr);
}

void given_progress_end(void) {
  if (given_progress_shown)
    fputs("\r\033[K", stderr);
}
