// What all commands share: see cli.h.
#include "command/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/words.h"
#include "store/store_address.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

static void say(const char *prefix, const char *fmt, va_list ap) {
  fflush(stdout);
  fputs(prefix, stderr);
  escape_vprintf(stderr, fmt, ap);
  fputc('\n', stderr);
}

void cli_vfail(const char *fmt, va_list ap) { say("culprit: ", fmt, ap); }

int cli_fail(int status, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  cli_vfail(fmt, ap);
  va_end(ap);
  return status;
}

static bool interruption_printed;

void cli_interrupted_end(void) {
  if (!interruption_printed)
    cli_interrupted("%s", "");
}

int cli_interrupted(const char *fmt, ...) {
  interruption_printed = true;
  va_list ap;
  va_start(ap, fmt);
  char *kept = NULL;
  if (vasprintf(&kept, fmt, ap) < 0)
    kept = NULL;
  va_end(ap);
  cli_fail(EXIT_INTERRUPTED, "interrupted%s%s%s", kept && *kept ? ": " : "",
           kept ? kept : "", stop_hint_text());
  free(kept);
  return EXIT_INTERRUPTED;
}

void cli_resumes(char **argv) {
  static char *hint; // stays: a handler reads it
  if (hint)
    return;
  char *command = cli_command_line(argv);
  hint = mem_printf("; run the same command again to continue: %s", command);
  free(command);
  stop_hint(hint);
}

// An error that a signal caused is an interruption.
int cli_error(const Err *err) {
  if (stop_requested())
    return EXIT_INTERRUPTED;
  return cli_fail(EXIT_ENVIRONMENT, "%s", err->text);
}

void cli_warn(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say("culprit: warning: ", fmt, ap);
  va_end(ap);
}

bool cli_color(void) {
  const char *no_color = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  return !(no_color && *no_color) && isatty(STDOUT_FILENO) && term &&
         strcmp(term, "dumb") != 0;
}

int cli_default_jobs(int max) {
  cpu_set_t set;
  int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
  return n < 1 ? 1 : n > max ? max : n;
}

int cli_open_store(Store **out, const char *option, StoreMode mode) {
  Err err;
  char *dir = store_find(option);
  int rc = store_open(out, dir, mode, &err);
  free(dir);
  return rc ? cli_error(&err) : EXIT_DONE;
}

void cli_progress_end(void) {
  if (isatty(STDERR_FILENO))
    fputs("\r\033[K", stderr);
}

int cli_read_stdin(Str *out, bool *there, Err *err) {
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

const char *cli_absolute(Arena *arena, const char *path) {
  char *full = path_absolute(path, NULL);
  const char *copy = arena_strdup(arena, full);
  free(full);
  return copy;
}

int cli_enter(const char *dir) {
  int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (here >= 0 && !chdir(dir))
    return here;
  cli_fail(EXIT_ENVIRONMENT, "%s: %s", dir, strerror(errno));
  if (here >= 0)
    close(here);
  return -1;
}

int cli_return(int here) {
  int rc = fchdir(here);
  close(here);
  if (rc)
    cli_fail(EXIT_ENVIRONMENT, "the directory is gone");
  return rc;
}

// "--store=postgresql://u:p@h/d" without the password.
static char *without_secret(const char *word) {
  const char *at = strchr(word, '=');
  at = at && text_starts(word, "--") ? at + 1 : word;
  char *shown = address_shown(at);
  char *out = mem_printf("%.*s%s", (int)(at - word), word, shown);
  free(shown);
  return out;
}

char *cli_command_line(char **argv) {
  Str line = {0};
  ARRAY(char *) words = {0};
  for (; *argv; argv++)
    array_push(&words, without_secret(*argv));
  array_push(&words, NULL);
  str_add(&line, "culprit ");
  words_quote_all(&line, words.items);
  for (size_t i = 0; i < words.len; i++)
    free(words.items[i]);
  array_release(&words);
  return str_take(&line);
}
