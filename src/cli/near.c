// culprit near: one failing input. Finds the passing run nearest to it and
// prints the branches at which they part.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/near_score.h"
#include "cli/rank.h"
#include "cli/run_close.h"
#include "cli/run_try.h"
#include "command/cli.h"
#include "command/given.h"
#include "near/near.h"
#include "process/process.h"
#include "process/words.h"
#include "try/force_branch.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  TESTS = 200, // made ones
  BUDGET = 10, // seconds
  TIMEOUT = 10,
  ORDER_OF_MODE = -1,
};

// --- options ----------------------------------------------------------------

typedef struct {
  GivenOptions given;
  NearOptions near;
  Texts faults;
  const char *trail;
  bool json, no_stored, no_force, tries;
  double close;         // seconds for a closer look; below 0: as they took
  CloseLookResult look; // what it came to
  int order;            // NearOrder; ORDER_OF_MODE: as the mode has it
} Options;

static const Option options[] = {
    {.title = "Which passing run"},
    {"order", "telling|nearest", &option_choice, offsetof(Options, order),
     "best run: telling (default), the one that departs at the branch that "
     "best separates failing from passing runs; nearest, the one whose last "
     "difference comes latest"},
    {"mode", "both|following|strict|stored", &option_choice,
     offsetof(Options, near.mode),
     "path behind a negated branch: following, free; strict, as in the failing "
     "run; both (default). stored: only runs of the store, make none. All but "
     "both imply --order nearest"},
    {"loops", "both|fewer|none", &option_choice, offsetof(Options, near.loops),
     "iterations: more or fewer than in the failing run (both, default), "
     "fewer, "
     "or as many (none)"},
    {"no-stored", NULL, &option_flag, offsetof(Options, no_stored),
     "ignore the passing runs of the store"},
    {.title = "Effort"},
    {"budget", "SECONDS", &option_real, offsetof(Options, given.budget),
     "time for the search (default: 10)"},
    {"max-tests", "N", &option_count, offsetof(Options, given.max_tests),
     "run at most N made inputs (default: 200)"},
    {"timeout", "SECONDS", &option_real, offsetof(Options, given.run.timeout),
     "limit for one run (default: 10)"},
    {"close", "SECONDS", &option_real0, offsetof(Options, close),
     "time for a closer look at the runs, for --order telling (default: as "
     "long as the search took, 5 to 10); 0: none"},
    {"paths", "N", &option_count, offsetof(Options, near.paths),
     "ask the solver at most N queries (default: 4000)"},
    {"depth", "N", &option_count, offsetof(Options, near.depth),
     "negate at most N branches together (default: 8)"},
    {"detours", "N", &option_count0, offsetof(Options, near.detours),
     "allow N other branches in one made run (default: 40)"},
    {"inputs-per-path", "N", &option_count, offsetof(Options, near.inputs),
     "try N inputs for one path (default: 1)"},
    {.rows = given_input_options, .at = offsetof(Options, given)},
    {"no-minimise", NULL, &option_flag, offsetof(Options, near.keep_all),
     "do not exchange variables to see which of them matter"},
    {"no-force", NULL, &option_flag, offsetof(Options, no_force),
     "do not force the branches that differ to see whether the failing run "
     "then passes"},
    {"try", NULL, &option_flag, offsetof(Options, tries),
     "then change one thing at a time at the first suspects and see what "
     "repairs the failing runs, as `culprit try` does"},
    {.rows = given_run_options, .at = offsetof(Options, given)},
    {"json", NULL, &option_flag, offsetof(Options, json),
     "print JSON, for programs"},
    {"trail", "FILE", &option_text, offsetof(Options, trail),
     "write every path that was tried to FILE: branches as FILE:LINE:INSTANCE, "
     "mode, answer of the solver, separated by tabs"},
    {"fault", "FILE:LINE[,LINE]...", &option_list, offsetof(Options, faults),
     "known fault: with --json, score the report over the program dependence "
     "graph"},
    {0}};

// --- reporting --------------------------------------------------------------

// What was tried, for people.
static void print_tried(const Options *o, const Near *n, FILE *out) {
  const NearStats *s = &n->stats;
  given_print_reduction(n->search, out);
  run_close_describe(&o->look, "runs", out);
  fprintf(out,
          "%zu condition%s on the failing path; %zu quer%s to the solver: %zu "
          "unsatisfiable, %zu undecided; %zu path%s pruned\n",
          s->conditions, plural(s->conditions), s->queries,
          s->queries == 1 ? "y" : "ies", s->unsat, s->unknown, s->pruned,
          plural(s->pruned));
  if (s->stored)
    fprintf(out, "%zu passing run%s of the store %s compared\n", s->stored,
            plural(s->stored), s->stored == 1 ? "was" : "were");
  fprintf(out,
          "%zu input%s run: %zu pass%s, %zu fail%s the same way, %zu "
          "otherwise; %.1f s\n",
          s->tests, s->tests == 1 ? " was" : "s were", s->passing,
          s->passing == 1 ? "es" : "", s->same, verb_s(s->same), s->others,
          clock_now() - n->search->start);
  if (s->unreplayed)
    escape_printf(out, "%zu passing run%s could not be compared: %s\n",
                  s->unreplayed, s->unreplayed == 1 ? "" : "s",
                  n->problem.text);
  if (!s->complete)
    fputs("the search is incomplete; --budget, --max-tests and --paths limit "
          "it\n",
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
  str_addf(more, ",\"seconds\":%.3f", clock_now() - n->search->start);
  return 0;
}

// How the closer look went, as in the JSON of a ranking.
static void add_close(const CloseLookResult *r, Str *out) {
  char *members = run_close_members(r);
  if (*r->ended || r->notes.len)
    str_addf(out,
             ",\"close\":{\"ended\":\"%s\",\"failing\":%zu,\"passing\":%zu,"
             "\"of_failing\":%zu,\"of_passing\":%zu%s}",
             r->ended, r->failing, r->passing, r->of_failing, r->of_passing,
             members);
  free(members);
}

static int report_nothing(const Options *o, const Near *n) {
  print_tried(o, n, stderr);
  if (!o->json && n->found.len)
    near_print_text(n, o->given.run.cwd, stdout);
  return cli_fail(EXIT_NO_VERDICT,
                  n->stats.conditions || n->options.mode == NEAR_STORED
                      ? "no passing input was found"
                      : "no condition on the path depends on the input: "
                        "is it read from somewhere else (--env)?");
}

static int report(const Options *o, const Near *n) {
  const char *root = o->given.run.cwd;
  Str more = {0};
  Err err = {0};
  if (score_report(o, n, &more))
    return EXIT_USAGE;
  add_close(&o->look, &more);
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
                  n->search->message ? n->search->message : "");
  near_print_text(n, root, stdout);
  if (!o->given.quiet)
    print_tried(o, n, stdout);
  return EXIT_FAILED;
}

// --- a closer look ----------------------------------------------------------

static int look_closer(void *context, InputSearch *s, Err *err) {
  Options *o = context;
  const Runner *r = s->runner;
  CloseLookOptions look = {
      .seconds = run_close_seconds(o->close, clock_now() - s->start),
      .run = search_run_again,
      .modules = r->seen.items,
      .nmodules = r->seen.len};
  if (look.seconds <= 0)
    return 0;
  given_progress_end();
  int rc = close_look(&look, r, r->store, r->session, &o->look, err);
  s->runner->interrupted |= o->look.interrupted;
  return rc;
}

// --- all of it --------------------------------------------------------------

static int search_near(void *context, InputSearch *e) {
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
    if (!o->no_force && !e->runner->interrupted)
      force_branches(&near);
    given_progress_end();
    status = report(o, &near);
    if (o->tries && status == EXIT_FAILED)
      status = EXIT_DONE; // finish() goes on
  }
  near_close(&near);
  return status;
}

// --try: experiments with the made tests, and the ranking by them.
static int try_made(void *context, Runner *r) {
  const Options *o = context;
  RunTryOptions tried;
  RankOptions rank;
  run_try_options_init(&tried);
  rank_options_init(&rank);
  RunTry t = {.options = &tried,
              .quiet = o->given.quiet,
              .show_progress = isatty(STDERR_FILENO) && !o->given.quiet};
  int status =
      run_try(&t, search_run_again, NULL, r, r->store, r->session, &rank);
  rank_options_release(&rank);
  return status == EXIT_DONE ? EXIT_FAILED : status;
}

static int find_near(Options *o, char **argv) {
  if (o->no_stored)
    o->near.stored = 0;
  if (o->order != ORDER_OF_MODE)
    o->near.order = (NearOrder)o->order;
  else if (o->near.mode != NEAR_BOTH)
    o->near.order = NEAR_NEAREST;
  if (o->trail && !(o->near.trail = fopen(o->trail, "w")))
    return cli_fail(EXIT_ENVIRONMENT, "%s: %s", o->trail, strerror(errno));
  o->near.look = look_closer;
  o->near.look_context = o;
  GivenJob job = {.name = "near",
                  .strategy = strategy_at(0),
                  .work = search_near,
                  .finish = try_made,
                  .context = o};
  int status = given_run(&o->given, &job, argv);
  if (o->near.trail && fclose(o->near.trail))
    return cli_fail(EXIT_ENVIRONMENT, "%s: %s", o->trail, strerror(errno));
  return status;
}

static void options_init(Options *o) {
  *o = (Options){.near = near_defaults,
                 .order = ORDER_OF_MODE,
                 .close = -1,
                 .look.ended = ""};
  given_init(&o->given, TESTS);
  o->given.timeout = TIMEOUT;
  o->given.budget = BUDGET;
}

static void options_release(Options *o) {
  close_look_release(&o->look);
  given_release(&o->given);
  array_release(&o->faults);
}

static int parse(Options *o, int argc, char **argv) {
  int first;
  int status = options_parse(&cmd_near, argc, argv, o, &first);
  return status == OPTIONS_TAKEN
             ? given_check(&o->given, &cmd_near, argc, argv, first)
             : status;
}

int near_given(GivenOptions *out, int argc, char **argv) {
  Options o;
  options_init(&o);
  int status = parse(&o, argc, argv);
  *out = o.given;
  o.given = (GivenOptions){0};
  options_release(&o);
  return status;
}

static int near_main(int argc, char **argv) {
  Options o;
  options_init(&o);
  int status = parse(&o, argc, argv);
  if (status == OPTIONS_TAKEN && o.tries && o.json)
    status = options_wrong(&cmd_near, "--try prints a ranking; take `culprit "
                                      "input --try --json`, or one of the two");
  if (status == OPTIONS_TAKEN)
    status = find_near(&o, argv);
  options_release(&o);
  return status;
}

const Command cmd_near = {
    "near",
    "find the passing run nearest to a failing one",
    near_main,
    .usage = "[options] -- PROG [ARGS...] [< FILE]",
    .about = "PROG, built with culprit-cc, fails on this input. Find an input "
             "that passes and whose run is as near to the failing one as "
             "possible, and print the branches that differ. The input is "
             "standard input, the arguments, and the files that they name.",
    .options = options,
    .end = "Exit status: 1 passing run found, 2 usage, 3 environment, 4 the "
           "input passes, or no passing input was found, 130 interrupted.",
    .runs_program = true};
