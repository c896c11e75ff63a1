// What `culprit run` says beside the ranking: see run_report.h.
#include "cli/run_report.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/suites.h"
#include "command/cli.h"
#include "program/map.h"
#include "run/testfile.h"
#include "util/arena.h"
#include "util/mem.h"

// A Makefile builds as it tests: what ended that is to be seen.
static const char *failed_make(const Suite *suite) {
  for (size_t i = 0; i < suite->nfailures; i++)
    if (suite->failures[i].output && *suite->failures[i].output)
      return suite->failures[i].output;
  return NULL;
}

// The last lines of a text.
static const char *last_lines(const char *text, size_t n) {
  const char *at = text + strlen(text);
  while (at > text && n) {
    at--;
    n -= at > text && at[-1] == '\n';
  }
  return at;
}

enum { LINES_SHOWN = 15 }; // of make's output

// The compiler's last words, before make's: "1 error generated.\nmake: *** [".
static bool is_build_error(const char *output) {
  static const char pattern[] =
      "(errors? generated\\.|linker command failed [^\n]*)\n"
      "(make[^\n]*\n)*make[^\n]*: \\*\\*\\* \\[";
  regex_t regex;
  bool is = !regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) &&
            !regexec(&regex, output, 0, NULL, 0);
  regfree(&regex);
  return is;
}

bool run_report_failed_build(const Suite *suite) {
  const char *output = failed_make(suite);
  if (!output || !is_build_error(output))
    return false;
  cli_fail(EXIT_ENVIRONMENT,
           "make failed to build the tests with culprit-cc; the end of "
           "its output:\n%s",
           last_lines(output, LINES_SHOWN));
  return true;
}

int run_report_no_map(const RunOptions *o, bool makes, const Suite *suite) {
  const char *output = makes ? failed_make(suite) : NULL;
  if (output)
    return cli_fail(EXIT_ENVIRONMENT,
                    "make failed before a program built by culprit-cc ran; "
                    "the end of its output:\n%s",
                    last_lines(output, LINES_SHOWN));
  if (has_only_cxx("."))
    return cli_fail(EXIT_ENVIRONMENT,
                    "the sources here are C++, and culprit records only C: no "
                    "program that the tests ran left a spectrum");
  Arena arena = {0};
  char *program = o->command ? path_lookup(o->command[0], &arena) : NULL;
  if (program && program[0] != '/')
    program = arena_printf(&arena, "%s/%s", o->cwd, program);
  if (program) {
    char *reason = map_absence_reason(program);
    cli_fail(EXIT_ENVIRONMENT, "%s", reason);
    free(reason);
  } else {
    cli_fail(
        EXIT_ENVIRONMENT,
        "built without culprit-cc: no program that the tests ran left a "
        "spectrum, so there are no lines to rank. Likely reasons: a Makefile "
        "that sets CC itself (use `make CC=culprit-cc`), a build tree that "
        "remembers its old compiler (configure again in a clean one), tests "
        "that run an installed program instead of the built one, or tests "
        "that clear their environment");
  }
  arena_release(&arena);
  return EXIT_ENVIRONMENT;
}

// Which limit tests had, if that made a difference.
static void describe_limit(const Runner *r, Str *out) {
  if (!r->overran)
    return;
  str_addf(out,
           "  %zu test%s stopped after %.3g s (ten times the slowest other "
           "test, at least 1 s)\n  and repeated with the full limit: %zu "
           "hang%s\n",
           r->overran, r->overran == 1 ? " was" : "s were", r->limit, r->hung,
           r->hung == 1 ? "s" : "");
}

static void describe_disturbed(const Runner *r, Str *out) {
  if (r->disturbed)
    str_addf(out,
             "  %zu test%s beside others and pass%s alone: tests disturb each "
             "other;\n  culprit ran %s alone (-j1 avoids it)\n",
             r->disturbed, r->disturbed == 1 ? " fails" : "s fail",
             r->disturbed == 1 ? "es" : "", r->disturbed == 1 ? "it" : "them");
}

// What tests were found inside of tests.
static void describe_segments(const RunOptions *o, bool built, const Runner *r,
                              Str *out) {
  if (r->split_text)
    str_addf(out, "  %s\n", r->split_text);
  if (r->split > 1)
    str_addf(out, "  %zu more test%s %zu more inside\n", r->split - 1,
             r->split == 2 ? " has" : "s have", r->split_others);
  if (r->undecided)
    str_addf(out,
             "  %zu test%s, but no part of %s can be blamed: %s as one\n"
             "  (--failure-regex says which lines of output mean failure)\n",
             r->undecided, r->undecided == 1 ? " fails" : "s fail",
             r->undecided == 1 ? "it" : "them",
             r->undecided == 1 ? "it counts" : "each counts");
  if (o->segment && !r->marked)
    str_addf(out,
             "  no function matching '%s' was found when %s was compiled%s\n",
             o->segment,
             o->exe       ? o->exe
             : o->command ? o->command[0]
                          : "the tests",
             built ? ""
                   : ";\n  build it again with CULPRIT_SEGMENT set "
                     "to that expression");
}

static void describe_shard(const RunOptions *o, const Runner *r, Str *out) {
  if (!o->shard.n)
    return;
  str_addf(out, "  shard %u of %u", o->shard.k, o->shard.n);
  if (r->listed)
    str_addf(out, " of a list of %zu test%s", r->listed, plural(r->listed));
  str_add(out, "; `culprit store merge OUT IN...` unites the shards\n");
}

void run_describe(const RunOptions *o, bool built, const Runner *r, Str *out) {
  describe_shard(o, r, out);
  describe_segments(o, built, r, out);
  describe_limit(r, out);
  describe_disturbed(r, out);
}
