// culprit input: one failing input and no tests. Makes passing and failing
// neighbours of it, then ranks.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/given.h"
#include "cli/rank.h"
#include "input/explore.h"
#include "locate/fault.h"
#include "locate/current_ranking.h"
#include "process/process.h"
#include "run/testfile.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  TESTS = 500, // made ones
  LOSSES_SHOWN = 5,
};

// --- options ----------------------------------------------------------------

typedef struct {
  GivenOptions given;
  RankOptions rank;
  const Strategy *strategy;
  bool list;
  const char *color;
  ARRAY(const char *) seeds;
  const char *trail;
  FILE *trail_file;
} Options;

enum {
  OPT_STRATEGY = GIVEN_OWN,
  OPT_LIST,
  OPT_SEED,
  OPT_FAULT,
  OPT_TRAIL,
  OPT_METHOD,
  OPT_ONLY,
  OPT_EXCLUDE,
  OPT_TOP,
  OPT_JSON,
  OPT_COLOR,
};

static const struct option long_options[] = {
    GIVEN_LONG_OPTIONS,
    {"strategy", required_argument, NULL, OPT_STRATEGY},
    {"list-strategies", no_argument, NULL, OPT_LIST},
    {"seed", required_argument, NULL, OPT_SEED},
    {"fault", required_argument, NULL, OPT_FAULT},
    {"trail", required_argument, NULL, OPT_TRAIL},
    {"method", required_argument, NULL, OPT_METHOD},
    {"only", required_argument, NULL, OPT_ONLY},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"top", required_argument, NULL, OPT_TOP},
    {"json", no_argument, NULL, OPT_JSON},
    {"color", required_argument, NULL, OPT_COLOR},
    {0},
};

static void print_help(void) {
  puts(
      "usage: culprit input [options] -- PROG [ARGS...] [< FILE]\n"
      "\n"
      "PROG, built with culprit-cc, fails on this input. Makes inputs near it\n"
      "by solving for the branches it did not take, runs them, and prints\n"
      "which lines to look at first. The inputs are standard input, the\n"
      "arguments, and files named by them. The made tests are kept.\n"
      "\n"
      "what is made\n"
      "  --strategy S       what comes first (default: mix)\n"
      "  --list-strategies  show all of them\n"
      "  --budget S         seconds in all (default: 20)\n"
      "  --max-tests N      made tests (default: 500)\n"
      "  --seed FILE        another standard input that fails the same way;\n"
      "                     may be repeated\n"
      "  --env NAME         this environment variable is input, too\n"
      "  --no-reduce        do not make the failing input smaller first\n"
      "\n"
      "what is right (default: exit status 0, no signal); what fails in\n"
      "another way than the given input is set aside\n"
      "  --reference PROG   same standard output and exit status as PROG\n"
      "  --oracle CMD       as for culprit run\n"
      "  --timeout S        seconds for one run (default: 5)\n"
      "  -j N               N at once (default: one per core)\n"
      "  --no-fork-server   execute the program anew for every run\n"
      CONFINE_HELP
      "\n"
      "what is shown\n"
      "  --method M         default: ochiai\n"
      "  --fault FILE:LINE  the fault is known: say how far down the list it "
      "is\n"
      "  --trail FILE       write that after every round of tests, tabs\n"
      "                     between: tests, seconds, rank, executed, best,\n"
      "                     made tests that fail the same way\n"
      "  --only PATH --exclude PATH, --top N|all, --json\n"
      "  --color WHEN, -q, --store DIR   as for culprit run\n"
      "\n"
      "Exit: 1 ranking printed, 2 usage, 3 environment, 4 the input does not\n"
      "fail, or nothing passes to compare with, 130 interrupted.");
}

static void list_strategies(void) {
  const Strategy *s;
  for (size_t i = 0; (s = strategy_at(i)); i++)
    printf("  %-10s %s\n", s->name, s->doc);
}

static void options_init(Options *o) {
  *o = (Options){.strategy = strategy_at(0)};
  given_init(&o->given, TESTS);
  rank_options_init(&o->rank);
  o->rank.method = INPUT_METHOD;
}

static void options_release(Options *o) {
  given_release(&o->given);
  rank_options_release(&o->rank);
  array_release(&o->seeds);
  if (o->trail_file)
    fclose(o->trail_file);
}

static int take_strategy(Options *o, const char *name) {
  o->strategy = strategy_find(name);
  return o->strategy ? 0 : -1;
}

static int take_color(Options *o, const char *text) {
  o->color = text;
  return cli_color(text, STDOUT_FILENO) < 0 ? -1 : 0;
}

static int take_option(void *options, int opt, const char *arg) {
  Options *o = options;
  // clang-format off
  switch (opt) {
  case OPT_STRATEGY: return take_strategy(o, arg);
  case OPT_LIST: o->list = true; return 0;
  case OPT_SEED: array_push(&o->seeds, arg); return 0;
  case OPT_FAULT: array_push(&o->rank.faults, arg); return 0;
  case OPT_TRAIL: o->trail = arg; return 0;
  case OPT_METHOD: o->rank.method = arg; return 0;
  case OPT_ONLY: array_push(&o->rank.only, arg); return 0;
  case OPT_EXCLUDE: array_push(&o->rank.exclude, arg); return 0;
  case OPT_TOP: return cli_top(arg, &o->rank.top);
  case OPT_JSON: o->rank.format = "json"; return 0;
  case OPT_COLOR: return take_color(o, arg);
  default: return given_take(&o->given, opt, arg);
  }
  // clang-format on
}

// --- further inputs ---------------------------------------------------------

// The given input with another standard input.
static int read_seed(const char *path, const Inputs *given, Inputs *out,
                     Err *err) {
  Str text = {0};
  if (fs_read(path, 0, &text, err))
    return -1;
  inputs_copy(out, given);
  for (size_t i = 0; i < out->sources.len; i++) {
    InputSource *s = &out->sources.items[i];
    if (s->kind != INPUT_STDIN)
      continue;
    inputs_resize(out, i, text.len, 0);
    memcpy(out->sources.items[i].bytes, str_text(&text), text.len);
  }
  str_release(&text);
  return 0;
}

// --- reporting --------------------------------------------------------------

static int by_count(const void *a, const void *b) {
  const Loss *x = a, *y = b;
  return x->count > y->count ? -1 : x->count < y->count;
}

static void print_losses(Explorer *e, FILE *out) {
  size_t n = e->losses.len;
  if (!n)
    return;
  qsort(e->losses.items, n, sizeof *e->losses.items, by_count);
  fputs("precision lost at: ", out);
  for (size_t i = 0; i < n && i < LOSSES_SHOWN; i++)
    escape_printf(out, "%s%s, %zu time%s", i ? "; " : "",
                  e->losses.items[i].name, e->losses.items[i].count,
                  e->losses.items[i].count == 1 ? "" : "s");
  if (n > LOSSES_SHOWN)
    fprintf(out, "; and %zu more function%s", n - LOSSES_SHOWN,
            plural(n - LOSSES_SHOWN));
  fputc('\n', out);
}

static void print_summary(Explorer *e, const Options *o) {
  const ExploreStats *s = &e->stats;
  escape_printf(stdout, "given: %s\n", e->message ? e->message : "");
  if (s->reduction)
    printf("reduced from %zu to %zu byte%s in %zu run%s\n", s->bytes_before,
           s->bytes_after, plural(s->bytes_after), s->reduction,
           plural(s->reduction));
  printf("made %zu test%s (%s) in %.1f s: %zu fail%s the same way, %zu pass%s, "
         "%zu set aside\n",
         s->tests, plural(s->tests), o->strategy->name, s->seconds, s->same,
         verb_s(s->same), s->passing, s->passing == 1 ? "es" : "", s->others);
  printf("writing %.1f s, running %.1f s, recording %.1f s, replaying %.1f s, "
         "choosing %.1f s, solving %.1f s\n",
         s->writing, s->running, s->recording, s->replaying, s->choosing,
         s->solving);
  printf("%zu of %zu took the predicted path (%zu different path%s); %zu "
         "branch%s infeasible, %zu undecided\n",
         s->confirmed, s->confirmed + s->diverged, s->paths, plural(s->paths),
         s->unsat, s->unsat == 1 ? " is" : "es are", s->unknown);
  print_losses(e, stdout);
  if (e->recorder.build.note)
    escape_printf(stdout, "note: %s\n", e->recorder.build.note);
  if (s->unreplayed)
    escape_printf(stdout, "%zu run%s could not be replayed: %s\n",
                  s->unreplayed, s->unreplayed == 1 ? "" : "s", e->problem);
  if (s->late)
    printf("%zu run%s not followed: the time was over\n", s->late,
           s->late == 1 ? " was" : "s were");
  if (s->cut)
    printf("%zu run%s followed only in part: killed, or more than %d million "
           "instructions\n",
           s->cut, s->cut == 1 ? " was" : "s were",
           EXPLORE_INSTRUCTIONS / 1000000);
  if (s->false_conditions)
    printf("%zu condition%s did not hold in %s own run: please report this\n",
           s->false_conditions, plural(s->false_conditions),
           s->false_conditions == 1 ? "its" : "their");
  escape_printf(stdout, "kept in %s\n\n", e->options.dir);
  fflush(stdout);
}

static int rank(void *context, Runner *r) {
  const Options *o = context;
  RankOptions rank = o->rank;
  rank.session = r->session;
  rank.color = cli_color(o->color, STDOUT_FILENO) == 1;
  int status = rank_print(r->store, &rank, stdout);
  return status == EXIT_DONE ? EXIT_FAILED : status;
}

// --- the trail of a known fault ---------------------------------------------

// How far down the list the fault is now; all 0: it is not in it.
static int find_rank(const Options *o, Runner *r, FaultScore *out, Err *err) {
  CurrentRanking now;
  Fault fault = {0};
  Err ignored;
  *out = (FaultScore){0};
  int rc = current_ranking_make(&now, r->store, r->session, o->rank.method, err);
  bool known = !rc && now.ranked;
  for (size_t i = 0; known && i < o->rank.faults.len; i++)
    known = !fault_add(&fault, &now.suite, o->rank.faults.items[i],
                       ENTITY_STATEMENT, &ignored);
  if (known)
    fault_score(&fault, &now.ranking, localizer_executed(&now.localizer),
                localizer_executable(&now.localizer), out);
  fault_release(&fault);
  current_ranking_release(&now);
  return rc;
}

static int leave_trail(void *context, const Explorer *e, Err *err) {
  const Options *o = context;
  FaultScore score;
  if (!o->trail_file)
    return 0;
  if (find_rank(o, e->runner, &score, err))
    return -1;
  fprintf(o->trail_file, "%zu\t%.3f\t%u\t%zu\t%u\t%zu\n", e->stats.tests,
          e->stats.seconds, score.rank, score.executed, score.rank_best,
          e->stats.same);
  if (fflush(o->trail_file))
    return err_set(err, "%s: %s", o->trail, strerror(errno));
  return 0;
}

// --- all of it --------------------------------------------------------------

static int explore_seeds(const Options *o, Explorer *e, Err *err) {
  for (size_t i = 0; i < o->seeds.len; i++) {
    Inputs seed = {0};
    int rc = read_seed(o->seeds.items[i], &e->original, &seed, err);
    if (!rc)
      rc = explore_seed(e, &seed, err);
    inputs_release(&seed);
    if (rc)
      return -1;
  }
  return 0;
}

static int explore(void *context, Explorer *e) {
  const Options *o = context;
  Err err = {0};
  if (explore_seeds(o, e, &err) || explore_near(e, &err))
    return cli_error(&err);
  given_progress_end();
  if (!o->given.quiet && strcmp(o->rank.format, "text"))
    print_losses(e, stderr);
  if (!o->given.quiet && !strcmp(o->rank.format, "text"))
    print_summary(e, o);
  return EXIT_DONE;
}

static int run_input(Options *o, char **argv) {
  if (o->trail && !(o->trail_file = fopen(o->trail, "w")))
    return cli_fail(EXIT_ENVIRONMENT, "%s: %s", o->trail, strerror(errno));
  GivenJob job = {.name = "input",
                  .strategy = o->strategy,
                  .after = leave_trail,
                  .work = explore,
                  .finish = rank,
                  .context = o};
  return given_run(&o->given, &job, argv);
}

static int input(Options *o, int argc, char **argv) {
  int first = cli_options(argc, argv, GIVEN_SHORT_OPTIONS, long_options,
                          take_option, o);
  if (first >= 0 && (o->given.help || o->list)) {
    if (o->given.help)
      print_help();
    else
      list_strategies();
    return EXIT_DONE;
  }
  if (first < 0 || given_check(&o->given, argc, argv, first))
    return cli_usage_hint("input");
  return run_input(o, argv);
}

int cmd_input(int argc, char **argv) {
  Options o;
  options_init(&o);
  int status = input(&o, argc, argv);
  options_release(&o);
  return status;
}
