// culprit near: one failing input. Looks for the passing run nearest to it and
// tells at which branches they part.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/given.h"
#include "cli/near_score.h"
#include "generate/near.h"
#include "run/process.h"
#include "run/words.h"
#include "util/fs.h"
#include "util/mem.h"

enum { TESTS = 300 }; // made ones

// --- options ----------------------------------------------------------------

typedef struct {
  GivenOptions given;
  NearOptions near;
  ARRAY(const char *) faults;
  bool json;
} Options;

enum { OPT_JSON = GIVEN_OWN, OPT_MODE, OPT_FAULT };

static const struct option long_options[] = {
    GIVEN_LONG_OPTIONS,
    {"json", no_argument, NULL, OPT_JSON},
    {"mode", required_argument, NULL, OPT_MODE},
    {"fault", required_argument, NULL, OPT_FAULT},
    {0},
};

static void print_help(void) {
  puts("usage: culprit near [options] -- PROG [ARGS...] [< FILE]\n"
       "\n"
       "PROG, built with culprit-cc, fails on this input. Looks for an input\n"
       "that passes and whose run is as near to the failing one as possible,\n"
       "and prints the branches that went another way there. The inputs are\n"
       "standard input, the arguments, and files named by them.\n"
       "\n"
       "  --budget S         seconds in all (default: 20)\n"
       "  --max-tests N      runs of made inputs (default: 300)\n"
       "  --env NAME         this environment variable is input, too\n"
       "  --no-reduce        do not make the failing input smaller first\n"
       "  --json             for programs\n"
       "\n"
       "what is right (default: exit status 0, no signal)\n"
       "  --reference PROG   same standard output and exit status as PROG\n"
       "  --oracle CMD       as for culprit run\n"
       "  --timeout S        seconds for one run (default: 10)\n"
       "  -j N               N at once (default: one per core)\n"
       "  -q, --store DIR    as for culprit run\n"
       "\n"
       "Exit: 1 a passing run was found, 2 usage, 3 environment, 4 the input\n"
       "does not fail, or no input was found that passes, 130 interrupted.");
}

// The index of a word among others; -1: it is none of them.
static int find_word(const char *word, const char *const *words) {
  for (int i = 0; words[i]; i++)
    if (!strcmp(word, words[i]))
      return i;
  return -1;
}

static int take_mode(const char *arg, NearMode *out) {
  static const char *const modes[] = {"both", "following", "strict", NULL};
  int i = find_word(arg, modes);
  *out = i < 0 ? NEAR_BOTH : (NearMode)i;
  return i < 0 ? -1 : 0;
}

static int take_option(void *options, int opt, const char *arg) {
  Options *o = options;
  // clang-format off
  switch (opt) {
  case OPT_JSON: o->json = true; return 0;
  case OPT_MODE: return take_mode(arg, &o->near.mode);
  case OPT_FAULT: array_push(&o->faults, arg); return 0;
  default: return given_take(&o->given, opt, arg);
  }
  // clang-format on
}

// --- reporting --------------------------------------------------------------

// What was tried, for people.
static void print_tried(const Near *n, FILE *out) {
  const ExploreStats *e = &n->explorer->stats;
  const NearStats *s = &n->stats;
  if (e->reduction)
    fprintf(out, "reduced from %zu to %zu bytes in %zu runs\n", e->bytes_before,
            e->bytes_after, e->reduction);
  fprintf(out,
          "%zu conditions on the failing path; %zu questions to the solver: "
          "%zu without an answer, %zu undecided\n",
          s->conditions, s->queries, s->unsat, s->unknown);
  fprintf(out,
          "%zu inputs were run: %zu pass, %zu fail the same way, %zu "
          "otherwise; %.1f s\n",
          s->tests, s->passing, s->same, s->others,
          clock_now() - n->explorer->start);
  if (s->unreplayed)
    fprintf(out, "%zu passing run%s could not be compared: %s\n", s->unreplayed,
            s->unreplayed == 1 ? "" : "s", n->problem.text);
  if (!s->complete)
    fputs("not all was tried: --budget and --max-tests say how much is\n", out);
}

// Appends members for JSON. -1 after a message.
static int score_report(const Options *o, const Near *n, Str *more) {
  Err err = {0};
  PdgScore s;
  if (!o->faults.len)
    return 0;
  if (near_score(n, o->faults.items, o->faults.len, &s, &err)) {
    cli_fail(EXIT_USAGE, "%s", err.text);
    return -1;
  }
  str_addf(more, ",\"score\":%.6f,\"examined\":%zu,\"layers\":%zu", s.score,
           s.examined, s.layers);
  return 0;
}

static int report(const Options *o, const Near *n) {
  const char *root = o->given.run.cwd;
  Str more = {0};
  if (score_report(o, n, &more))
    return EXIT_USAGE;
  if (!n->found) {
    print_tried(n, stderr);
    return cli_fail(EXIT_NO_VERDICT,
                    n->stats.conditions
                        ? "no input was found that passes"
                        : "no condition on the path depends on the input: "
                          "is it read from somewhere else (--env)?");
  }
  if (o->json) {
    near_print_json(n, root, str_text(&more), stdout);
    str_release(&more);
    return EXIT_FAILED;
  }
  if (!o->given.quiet)
    printf("given: %s\n", n->explorer->message ? n->explorer->message : "");
  near_print_text(n, root, stdout);
  if (!o->given.quiet)
    print_tried(n, stdout);
  return EXIT_FAILED;
}

// --- all of it --------------------------------------------------------------

static int search_near(void *context, Explorer *e) {
  const Options *o = context;
  Err err = {0};
  Near near;
  int status;
  near_open(&near, e, &o->near);
  if (near_search(&near, &err)) {
    status = cli_error(&err);
  } else if (e->runner->interrupted && !near.found) {
    status = EXIT_INTERRUPTED;
  } else {
    given_progress_end();
    status = report(o, &near);
  }
  near_close(&near);
  return status;
}

static int find_near(Options *o, int argc, char **argv) {
  int first = cli_options(argc, argv, GIVEN_SHORT_OPTIONS, long_options,
                          take_option, o);
  if (first >= 0 && o->given.help) {
    print_help();
    return EXIT_DONE;
  }
  if (first < 0 || given_check(&o->given, argc, argv, first))
    return cli_usage_hint("near");
  GivenJob job = {.name = "near",
                  .strategy = strategy_at(0),
                  .work = search_near,
                  .context = o};
  return given_run(&o->given, &job, argv);
}

int cmd_near(int argc, char **argv) {
  Options o = {0};
  given_init(&o.given, TESTS);
  o.given.run.timeout = 10;
  o.given.run.max_output = 64u << 20;
  int status = find_near(&o, argc, argv);
  given_release(&o.given);
  array_release(&o.faults);
  return status;
}
