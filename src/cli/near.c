// culprit near: one failing input. Looks for the passing run nearest to it and
// tells at which branches they part.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/given.h"
#include "cli/near_score.h"
#include "near/near.h"
#include "process/process.h"
#include "process/words.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  TESTS = 200, // made ones
  BUDGET = 10, // seconds
};

// --- options ----------------------------------------------------------------

typedef struct {
  GivenOptions given;
  NearOptions near;
  ARRAY(const char *) faults;
  const char *trail;
  bool json, ordered;
} Options;

enum {
  OPT_JSON = GIVEN_OWN,
  OPT_MODE,
  OPT_ORDER,
  OPT_LOOPS,
  OPT_PATHS,
  OPT_DEPTH,
  OPT_DETOURS,
  OPT_INPUTS,
  OPT_NO_STORED,
  OPT_NO_MINIMISE,
  OPT_TRAIL,
  OPT_FAULT
};

static const struct option long_options[] = {
    GIVEN_LONG_OPTIONS,
    {"json", no_argument, NULL, OPT_JSON},
    {"mode", required_argument, NULL, OPT_MODE},
    {"order", required_argument, NULL, OPT_ORDER},
    {"loops", required_argument, NULL, OPT_LOOPS},
    {"paths", required_argument, NULL, OPT_PATHS},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"detours", required_argument, NULL, OPT_DETOURS},
    {"inputs-per-path", required_argument, NULL, OPT_INPUTS},
    {"no-stored", no_argument, NULL, OPT_NO_STORED},
    {"no-minimise", no_argument, NULL, OPT_NO_MINIMISE},
    {"trail", required_argument, NULL, OPT_TRAIL},
    {"fault", required_argument, NULL, OPT_FAULT},
    {0},
};

static void print_help(void) {
  puts(
      "usage: culprit near [options] -- PROG [ARGS...] [< FILE]\n"
      "\n"
      "PROG, built with culprit-cc, fails on this input. Looks for an input\n"
      "that passes and whose run is as near to the failing one as possible,\n"
      "and prints the branches that went another way there. The inputs are\n"
      "standard input, the arguments, and files named by them.\n"
      "\n"
      "which run is wanted\n"
      "  --order O          telling (default): parts where failing and "
      "passing\n"
      "                     runs do; nearest: the last difference comes "
      "latest\n"
      "  --mode M           the rest of the path: following goes as it likes,\n"
      "                     strict stays as it was, both (default); stored:\n"
      "                     passing runs of the store only, nothing is made.\n"
      "                     Of all but both the nearest is wanted\n"
      "  --loops L          both (default): more or fewer iterations; fewer;\n"
      "                     none: as many as in the failing run\n"
      "  --no-stored        do not look at passing runs of the store\n"
      "\n"
      "how much is tried\n"
      "  --budget S         seconds in all (default: 10)\n"
      "  --max-tests N      runs of made inputs (default: 200)\n"
      "  --paths N          questions to the solver (default: 4000)\n"
      "  --depth N          branches turned round at once (default: 8)\n"
      "  --detours N        other ways in one made run (default: 40)\n"
      "  --inputs-per-path N\n"
      "                     default: 1\n"
      "  --env NAME         this environment variable is input, too\n"
      "  --no-reduce        do not make the failing input smaller first\n"
      "  --no-minimise      do not run it with variables exchanged to see "
      "which\n"
      "                     of them matter\n"
      "\n"
      "what is right (default: exit status 0, no signal)\n"
      "  --reference PROG   same standard output and exit status as PROG\n"
      "  --oracle CMD       as for culprit run\n"
      "  --timeout S        seconds for one run (default: 10)\n"
      "  -j N               N at once (default: one per core)\n"
      CONFINE_HELP
      "\n"
      "what is shown\n"
      "  --json             for programs\n"
      "  --trail FILE       write every path that was tried, tabs between:\n"
      "                     branches as FILE:LINE:INSTANCE, mode, what the\n"
      "                     solver said\n"
      "  --fault FILE:LINE  the fault is known: with --json, the score of the\n"
      "                     report over the program dependence graph\n"
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
  static const char *const words[] = {"both", "following", "strict", "stored",
                                      NULL};
  int i = find_word(arg, words);
  *out = i < 0 ? NEAR_BOTH : (NearMode)i;
  return i < 0 ? -1 : 0;
}

static int take_order(Options *o, const char *arg) {
  static const char *const words[] = {"telling", "nearest", NULL};
  int i = find_word(arg, words);
  o->ordered = true;
  o->near.order = i == 1 ? NEAR_NEAREST : NEAR_TELLING;
  return i < 0 ? -1 : 0;
}

static int take_loops(const char *arg, NearLoops *out) {
  static const char *const words[] = {"both", "fewer", "none", NULL};
  int i = find_word(arg, words);
  *out = i < 0 ? LOOPS_BOTH : (NearLoops)i;
  return i < 0 ? -1 : 0;
}

// A number from 0.
static int take_number(const char *arg, size_t *out) {
  *out = 0;
  return strcmp(arg, "0") ? cli_count(arg, out) : 0;
}

static int take_option(void *options, int opt, const char *arg) {
  Options *o = options;
  // clang-format off
  switch (opt) {
  case OPT_JSON: o->json = true; return 0;
  case OPT_MODE: return take_mode(arg, &o->near.mode);
  case OPT_ORDER: return take_order(o, arg);
  case OPT_LOOPS: return take_loops(arg, &o->near.loops);
  case OPT_PATHS: return cli_count(arg, &o->near.paths);
  case OPT_DEPTH: return cli_count(arg, &o->near.depth);
  case OPT_DETOURS: return take_number(arg, &o->near.detours);
  case OPT_INPUTS: return cli_count(arg, &o->near.inputs);
  case OPT_NO_STORED: o->near.stored = 0; return 0;
  case OPT_NO_MINIMISE: o->near.keep_all = true; return 0;
  case OPT_TRAIL: o->trail = arg; return 0;
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
    fprintf(out, "reduced from %zu to %zu byte%s in %zu run%s\n",
            e->bytes_before, e->bytes_after, plural(e->bytes_after),
            e->reduction, plural(e->reduction));
  fprintf(out,
          "%zu condition%s on the failing path; %zu question%s to the solver: "
          "%zu without an answer, %zu undecided, %zu end%s pruned\n",
          s->conditions, plural(s->conditions), s->queries, plural(s->queries),
          s->unsat, s->unknown, s->pruned, plural(s->pruned));
  if (s->stored)
    fprintf(out, "%zu passing run%s of the store %s compared\n", s->stored,
            plural(s->stored), s->stored == 1 ? "was" : "were");
  fprintf(out,
          "%zu input%s run: %zu pass%s, %zu fail%s the same way, %zu "
          "otherwise; %.1f s\n",
          s->tests, s->tests == 1 ? " was" : "s were", s->passing,
          s->passing == 1 ? "es" : "", s->same, verb_s(s->same), s->others,
          clock_now() - n->explorer->start);
  if (s->unreplayed)
    escape_printf(out, "%zu passing run%s could not be compared: %s\n",
                  s->unreplayed, s->unreplayed == 1 ? "" : "s",
                  n->problem.text);
  if (!s->complete)
    fputs("not all was tried: --budget, --max-tests and --paths say how much "
          "is\n",
          out);
}

static void add_score(Str *out, const char *name, const NearScore *s) {
  const PdgScore *d = &s->directed;
  str_addf(out,
           ",\"%s\":{\"score\":%.6f,\"examined\":%zu,\"layers\":%zu,"
           "\"both_ways\":%.6f}",
           name, d->score, d->examined, d->layers, s->both.score);
}

// Appends members for JSON. -1 after a message.
static int score_report(const Options *o, const Near *n, Str *more) {
  Err err = {0};
  NearScores s;
  if (!o->faults.len)
    return 0;
  if (near_score(n, o->faults.items, o->faults.len, &s, &err)) {
    cli_fail(EXIT_USAGE, "%s", err.text);
    return -1;
  }
  add_score(more, "score", &s.report);
  if (n->neighbour.test)
    add_score(more, "neighbour", &s.neighbour);
  str_addf(more, ",\"seconds\":%.3f", clock_now() - n->explorer->start);
  return 0;
}

static int report_nothing(const Options *o, const Near *n) {
  print_tried(n, stderr);
  if (!o->json && n->found.len)
    near_print_text(n, o->given.run.cwd, stdout);
  return cli_fail(EXIT_NO_VERDICT,
                  n->stats.conditions || n->options.mode == NEAR_STORED
                      ? "no input was found that passes"
                      : "no condition on the path depends on the input: "
                        "is it read from somewhere else (--env)?");
}

static int report(const Options *o, const Near *n) {
  const char *root = o->given.run.cwd;
  Str more = {0};
  Err err = {0};
  if (score_report(o, n, &more))
    return EXIT_USAGE;
  if (o->json)
    near_print_json(n, root, str_text(&more), stdout);
  str_release(&more);
  if (!near_best(n))
    return report_nothing(o, n);
  if (near_keep(n, &err))
    return cli_error(&err);
  if (o->json)
    return EXIT_FAILED;
  if (!o->given.quiet)
    escape_printf(stdout, "given: %s\n",
                  n->explorer->message ? n->explorer->message : "");
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
  } else if (e->runner->interrupted && !near_best(&near)) {
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
  if (o->near.mode != NEAR_BOTH && !o->ordered)
    o->near.order = NEAR_NEAREST;
  if (o->trail && !(o->near.trail = fopen(o->trail, "w")))
    return cli_fail(EXIT_ENVIRONMENT, "%s: %s", o->trail, strerror(errno));
  GivenJob job = {.name = "near",
                  .strategy = strategy_at(0),
                  .work = search_near,
                  .context = o};
  int status = given_run(&o->given, &job, argv);
  if (o->near.trail && fclose(o->near.trail))
    return cli_fail(EXIT_ENVIRONMENT, "%s: %s", o->trail, strerror(errno));
  return status;
}

int cmd_near(int argc, char **argv) {
  Options o = {.near = near_defaults};
  given_init(&o.given, TESTS);
  o.given.run.timeout = 10;
  o.given.budget = BUDGET;
  int status = find_near(&o, argc, argv);
  given_release(&o.given);
  array_release(&o.faults);
  return status;
}
