// What all commands share: see cli.h.
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *prefix, const char *fmt, va_list ap) {
  fflush(stdout);
  fputs(prefix, stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
}

int cli_fail(int status, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say("culprit: ", fmt, ap);
  va_end(ap);
  return status;
}

int cli_error(const Err *err) {
  return cli_fail(EXIT_ENVIRONMENT, "%s", err->text);
}

void cli_warn(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say("culprit: warning: ", fmt, ap);
  va_end(ap);
}

int cli_color(const char *option, int fd) {
  if (!option || !strcmp(option, "auto")) {
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return !(no_color && *no_color) && isatty(fd) && term &&
           strcmp(term, "dumb") != 0;
  }
  if (!strcmp(option, "always"))
    return 1;
  if (!strcmp(option, "never"))
    return 0;
  return -1;
}

int cli_number(const char *text, int64_t *out) {
  char *end;
  errno = 0;
  long long n = strtoll(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || errno || n < 1)
    return -1;
  *out = n;
  return 0;
}

int cli_others(const char *text, bool *pass) {
  *pass = !strcmp(text, "pass");
  return *pass || !strcmp(text, "exclude") ? 0 : -1;
}

int cli_usage_hint(const char *command) {
  fprintf(stderr, "Try `culprit %s --help`.\n", command);
  return EXIT_USAGE;
}
