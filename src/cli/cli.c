// What all commands share: see cli.h.
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/words.h"
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

int cli_fail(int status, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say("culprit: ", fmt, ap);
  va_end(ap);
  return status;
}

static bool told;

void cli_interrupted_end(void) {
  if (!told)
    cli_interrupted("%s", "");
}

int cli_interrupted(const char *fmt, ...) {
  told = true;
  Str text = {0};
  va_list ap;
  va_start(ap, fmt);
  char *kept = NULL;
  if (vasprintf(&kept, fmt, ap) < 0)
    kept = NULL;
  va_end(ap);
  str_addf(&text, "%s%s", kept && *kept ? ": " : "", kept ? kept : "");
  cli_fail(EXIT_INTERRUPTED, "interrupted%s%s", str_text(&text),
           stop_hint_text());
  str_release(&text);
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

// What a signal broke off is no error of its own.
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

int cli_seconds(const char *text, double *out) {
  char *end;
  *out = strtod(text, &end);
  return end == text || *end || !isfinite(*out) || *out <= 0 ? -1 : 0;
}

int cli_count(const char *text, size_t *out) {
  int64_t n;
  if (cli_number(text, &n))
    return -1;
  *out = (size_t)n;
  return 0;
}

int cli_size(const char *text, size_t max, size_t *out) {
  static const char units[] = "KMG";
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  if (!isdigit((unsigned char)*text) || errno || n < 1)
    return -1;
  const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
  unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
  if (end[unit != NULL] || n > max >> shift)
    return -1;
  *out = (size_t)n << shift;
  return 0;
}

int cli_jobs(const char *text, int max, int *out) {
  int64_t n;
  if (cli_number(text, &n) || n > max)
    return -1;
  *out = (int)n;
  return 0;
}

int cli_top(const char *text, size_t *out) {
  *out = SIZE_MAX;
  return strcmp(text, "all") != 0 ? cli_count(text, out) : 0;
}

int cli_default_jobs(int max) {
  cpu_set_t set;
  int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
  return n < 1 ? 1 : n > max ? max : n;
}

const char *cli_absolute(Arena *arena, const char *path) {
  char *full = path_absolute(path, NULL);
  const char *copy = arena_strdup(arena, full);
  free(full);
  return copy;
}

char *cli_command_line(char **argv) {
  Str line = {0};
  str_add(&line, "culprit ");
  words_quote_all(&line, argv);
  return str_take(&line);
}

// How many of the options begin with the n letters; one that is exactly that
// counts alone. *out: the last of them.
static size_t match_options(const struct option *longs, const char *name,
                            size_t n, const struct option **out) {
  size_t found = 0;
  *out = NULL;
  for (const struct option *o = longs; o->name; o++) {
    if (strncmp(o->name, name, n) != 0)
      continue;
    *out = o;
    if (strlen(o->name) == n)
      return 1;
    found++;
  }
  return found;
}

// The option that was probably meant; NULL: none is near.
static const char *nearest_option(const char *word, int n,
                                  const struct option *longs) {
  char *name = mem_printf("%.*s", n, word);
  while (longs->name && !text_is_slip(name, longs->name))
    longs++;
  free(name);
  return longs->name;
}

static void explain_unknown(const char *word, int n,
                            const struct option *longs) {
  const char *meant = nearest_option(word, n, longs);
  if (meant)
    cli_fail(EXIT_USAGE, "unrecognized option '--%.*s'; did you mean --%s?", n,
             word, meant);
  else
    cli_fail(EXIT_USAGE, "unrecognized option '--%.*s'", n, word);
}

static void explain_long(const char *word, const struct option *longs) {
  const struct option *option;
  int n = (int)strcspn(word + 2, "=");
  size_t found = match_options(longs, word + 2, (size_t)n, &option);
  if (!found)
    explain_unknown(word + 2, n, longs);
  else if (found > 1)
    cli_fail(EXIT_USAGE, "option '--%.*s' is ambiguous", n, word + 2);
  else
    cli_fail(EXIT_USAGE, "option '--%s' %s argument", option->name,
             option->has_arg ? "needs an" : "takes no");
}

int cli_getopt(int argc, char **argv, const char *shorts,
               const struct option *longs, int *index) {
  opterr = 0; // getopt would print what it was given as it is
  int opt = getopt_long(argc, argv, shorts, longs, index);
  if (opt != '?')
    return opt;
  const char *word = argv[optind - 1];
  if (text_starts(word, "--"))
    explain_long(word, longs);
  else if (strchr(shorts, optopt))
    cli_fail(EXIT_USAGE, "option '-%c' needs an argument", optopt);
  else
    cli_fail(EXIT_USAGE, "unrecognized option '-%c'", optopt);
  return opt;
}

int cli_options(int argc, char **argv, const char *shorts,
                const struct option *longs, TakeOption *take, void *options) {
  int opt, index;
  optind = 0;
  while (index = -1,
         (opt = cli_getopt(argc, argv, shorts, longs, &index)) != -1) {
    if (opt == '?')
      return -1;
    if (!take(options, opt, optarg))
      continue;
    if (index < 0)
      cli_fail(EXIT_USAGE, "-%c %s: not a value it takes", opt, optarg);
    else
      cli_fail(EXIT_USAGE, "--%s %s: not a value it takes", longs[index].name,
               optarg);
    return -1;
  }
  return optind;
}

int cli_usage_hint(const char *command) {
  fprintf(stderr, "Try `culprit %s --help`.\n", command);
  return EXIT_USAGE;
}
