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
#include "generate/explore.h"
#include "locate/fault.h"
#include "locate/localizer.h"
#include "run/process.h"
#include "run/testfile.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  JOBS_MAX = 64,
  BUDGET = 20,         // seconds
  TESTS = 500,         // made ones
  REDUCTION = 300,     // runs
  LOSSES_SHOWN = 5,
};

// --- options ----------------------------------------------------------------

typedef struct {
  RunOptions run;
  RankOptions rank;
  const Strategy *strategy;
  double budget;
  size_t max_tests;
  bool no_reduce, quiet, help, list;
  const char *store, *color;
  ARRAY(const char *) seeds, env;
  const char *trail;
  FILE *trail_file;
  Arena arena;
} Options;

enum {
  OPT_STRATEGY = 256,
  OPT_LIST,
  OPT_BUDGET,
  OPT_MAX_TESTS,
  OPT_SEED,
  OPT_ENV,
  OPT_NO_REDUCE,
  OPT_REFERENCE,
  OPT_ORACLE,
  OPT_TIMEOUT,
  OPT_FAULT,
  OPT_TRAIL,
  OPT_METHOD,
  OPT_ONLY,
  OPT_EXCLUDE,
  OPT_TOP,
  OPT_JSON,
  OPT_STORE,
  OPT_COLOR,
};

static const struct option long_options[] = {
    {"strategy", required_argument, NULL, OPT_STRATEGY},
    {"list-strategies", no_argument, NULL, OPT_LIST},
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"max-tests", required_argument, NULL, OPT_MAX_TESTS},
    {"seed", required_argument, NULL, OPT_SEED},
    {"env", required_argument, NULL, OPT_ENV},
    {"no-reduce", no_argument, NULL, OPT_NO_REDUCE},
    {"reference", required_argument, NULL, OPT_REFERENCE},
    {"oracle", required_argument, NULL, OPT_ORACLE},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"fault", required_argument, NULL, OPT_FAULT},
    {"trail", required_argument, NULL, OPT_TRAIL},
    {"method", required_argument, NULL, OPT_METHOD},
    {"only", required_argument, NULL, OPT_ONLY},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"top", required_argument, NULL, OPT_TOP},
    {"json", no_argument, NULL, OPT_JSON},
    {"jobs", required_argument, NULL, 'j'},
    {"store", required_argument, NULL, OPT_STORE},
    {"color", required_argument, NULL, OPT_COLOR},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
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
      "\n"
      "what is shown\n"
      "  --method M         default: ochiai\n"
      "  --fault FILE:LINE  the fault is known: say how far down the list it "
      "is\n"
      "  --trail FILE       write that after every round of tests, tabs\n"
      "                     between: tests, seconds, rank, executed, best\n"
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
  *o = (Options){.budget = BUDGET, .max_tests = TESTS};
  rank_options_init(&o->rank);
  o->rank.method = "ochiai";
  o->strategy = strategy_at(0);
  o->run.jobs = cli_default_jobs(JOBS_MAX);
  o->run.timeout = 5;
  o->run.max_output = 8u << 20; // a loop that prints ends soon
  o->run.rerun = true;
}

static void options_release(Options *o) {
  rank_options_release(&o->rank);
  array_release(&o->seeds);
  array_release(&o->env);
  arena_release(&o->arena);
}

static const char *absolute(Options *o, const char *path) {
  char *full = path_absolute(path, NULL);
  const char *copy = arena_strdup(&o->arena, full);
  free(full);
  return copy;
}

static int take_strategy(Options *o, const char *name) {
  o->strategy = strategy_find(name);
  return o->strategy ? 0 : -1;
}

static int take_color(Options *o, const char *text) {
  o->color = text;
  return cli_color(text, STDOUT_FILENO) < 0 ? -1 : 0;
}

// -1: `arg` is nothing the option takes.
static int take_option(Options *o, int opt, const char *arg) {
  // clang-format off
  switch (opt) {
  case 'h': o->help = true; return 0;
  case 'q': o->quiet = true; return 0;
  case 'j': return cli_jobs(arg, JOBS_MAX, &o->run.jobs);
  case OPT_STRATEGY: return take_strategy(o, arg);
  case OPT_LIST: o->list = true; return 0;
  case OPT_BUDGET: return cli_seconds(arg, &o->budget);
  case OPT_MAX_TESTS: return cli_count(arg, &o->max_tests);
  case OPT_SEED: array_push(&o->seeds, arg); return 0;
  case OPT_ENV: array_push(&o->env, arg); return 0;
  case OPT_NO_REDUCE: o->no_reduce = true; return 0;
  case OPT_REFERENCE: o->run.reference = absolute(o, arg); return 0;
  case OPT_ORACLE: o->run.oracle = arg; return 0;
  case OPT_TIMEOUT: return cli_seconds(arg, &o->run.timeout);
  case OPT_FAULT: array_push(&o->rank.faults, arg); return 0;
  case OPT_TRAIL: o->trail = arg; return 0;
  case OPT_METHOD: o->rank.method = arg; return 0;
  case OPT_ONLY: array_push(&o->rank.only, arg); return 0;
  case OPT_EXCLUDE: array_push(&o->rank.exclude, arg); return 0;
  case OPT_TOP: return cli_top(arg, &o->rank.top);
  case OPT_JSON: o->rank.format = "json"; return 0;
  case OPT_STORE: o->store = arg; return 0;
  case OPT_COLOR: return take_color(o, arg);
  default: return -1;
  }
  // clang-format on
}

// Returns 0, or -1 after a message.
static int parse_arguments(Options *o, int argc, char **argv) {
  int opt, index = 0;
  optind = 0;
  while ((opt = getopt_long(argc, argv, "+j:qh", long_options, &index)) != -1) {
    if (opt == '?')
      return -1;
    if (take_option(o, opt, optarg)) {
      cli_fail(EXIT_USAGE, "%s%s %s: not a value it takes",
               opt == 'j' ? "-" : "--",
               opt == 'j' ? "j" : long_options[index].name, optarg);
      return -1;
    }
  }
  if (o->help || o->list)
    return 0;
  if (optind >= argc) {
    cli_fail(EXIT_USAGE, "name the program and its arguments after --");
    return -1;
  }
  if (o->run.reference && o->run.oracle) {
    cli_fail(EXIT_USAGE, "--reference and --oracle: only one of them");
    return -1;
  }
  o->run.command = argv + optind;
  return 0;
}

// --- the input --------------------------------------------------------------

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

static void print_losses(Explorer *e) {
  size_t n = e->losses.len;
  if (!n)
    return;
  qsort(e->losses.items, n, sizeof *e->losses.items, by_count);
  fputs("precision lost at: ", stdout);
  for (size_t i = 0; i < n && i < LOSSES_SHOWN; i++)
    printf("%s%s, %zu time%s", i ? "; " : "", e->losses.items[i].name,
           e->losses.items[i].count, e->losses.items[i].count == 1 ? "" : "s");
  if (n > LOSSES_SHOWN)
    printf("; and %zu more functions", n - LOSSES_SHOWN);
  putchar('\n');
}

static void print_summary(Explorer *e, const Options *o) {
  const ExploreStats *s = &e->stats;
  printf("given: %s\n", e->message ? e->message : "");
  if (s->reduction)
    printf("reduced from %zu to %zu bytes in %zu runs\n", s->bytes_before,
           s->bytes_after, s->reduction);
  printf("made %zu tests (%s) in %.1f s: %zu fail the same way, %zu pass, %zu "
         "set aside\n",
         s->tests, o->strategy->name, s->seconds, s->same, s->passing,
         s->others);
  printf("running %.1f s, replaying %.1f s, solving %.1f s\n", s->running,
         s->replaying, s->solving);
  printf("%zu went where they were predicted to go, %zu did not; %zu branches "
         "have no input that takes them, %zu are undecided\n",
         s->confirmed, s->diverged, s->unsat, s->unknown);
  print_losses(e);
  if (s->unreplayed)
    printf("%zu run%s could not be replayed: %s\n", s->unreplayed,
           s->unreplayed == 1 ? "" : "s", e->problem);
  if (s->false_conditions)
    printf("%zu conditions did not hold in their own run: please report this\n",
           s->false_conditions);
  printf("kept in %s\n\n", e->options.dir);
  fflush(stdout);
}

static int rank(const Options *o, Runner *r) {
  RankOptions rank = o->rank;
  rank.session = r->session;
  rank.color = cli_color(o->color, STDOUT_FILENO) == 1;
  int status = rank_print(r->store, &rank, stdout);
  return status == EXIT_DONE ? EXIT_FAILED : status;
}

// --- the trail of a known fault ---------------------------------------------

// How far down the list the fault is now; 0: it is not in it.
static int find_rank(const Options *o, Runner *r, FaultScore *out, Err *err) {
  Suite suite = {0};
  Workbench bench;
  Locator locator = {0};
  Ranking ranking = {0};
  Fault fault = {0};
  Localizer method;
  bool lacking;
  *out = (FaultScore){0};
  if (store_load(r->store, r->session, &suite, err))
    return -1;
  workbench_init(&bench, r->store, &suite);
  LocateOptions options = {.by = ENTITY_STATEMENT};
  Err ignored;
  bool ready = localizer_find(o->rank.method, &method) && suite.nfailures &&
               !locator_open(&locator, &bench, &method, &options, &ignored) &&
               !locator_load(&locator, &lacking, &ignored) &&
               !locator_rank(&locator, 0, &ranking, &ignored);
  for (size_t i = 0; ready && i < o->rank.faults.len; i++)
    ready = !fault_add(&fault, &suite, o->rank.faults.items[i],
                       ENTITY_STATEMENT, &ignored);
  if (ready)
    fault_score(&fault, &ranking, locator_executed(&locator),
                locator_executable(&locator), out);
  fault_release(&fault);
  ranking_release(&ranking);
  locator_close(&locator);
  workbench_release(&bench);
  suite_release(&suite);
  return 0;
}

static int leave_trail(void *context, const Explorer *e, Err *err) {
  Options *o = context;
  FaultScore score;
  if (find_rank(o, e->runner, &score, err))
    return -1;
  fprintf(o->trail_file, "%zu\t%.3f\t%u\t%zu\t%u\n", e->stats.tests,
          e->stats.seconds, score.rank, score.executed, score.rank_best);
  if (fflush(o->trail_file))
    return err_set(err, "%s: %s", o->trail, strerror(errno));
  return 0;
}

static int open_trail(Options *o, ExploreOptions *options, Err *err) {
  if (!o->trail)
    return 0;
  o->trail_file = fopen(o->trail, "w");
  if (!o->trail_file)
    return err_set(err, "%s: %s", o->trail, strerror(errno));
  options->after = leave_trail;
  options->context = o;
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

// Returns an exit status; EXIT_DONE: there is something to rank.
static int explore(Options *o, Explorer *e, const Inputs *in) {
  Err err = {0};
  GivenResult result;
  if (explore_given(e, in, &result, &err))
    return cli_error(&err);
  if (e->runner->interrupted)
    return EXIT_INTERRUPTED;
  if (result != GIVEN_FAILS)
    return given_explain(result);
  o->run.rerun = false; // made tests run once
  if ((!o->no_reduce && explore_reduce(e, &err)) || explore_seeds(o, e, &err) ||
      explore_near(e, &err))
    return cli_error(&err);
  return EXIT_DONE;
}

static int run_explorer(Options *o, Runner *r, const Inputs *in) {
  Err err = {0};
  Explorer e = {.runner = r};
  char *dir =
      mem_printf("%s/made/%lld", store_dir(r->store), (long long)r->session);
  char *full = path_absolute(dir, NULL);
  char *cache = mem_printf("%s/trace", store_dir(r->store));
  ExploreOptions options = {.program = o->run.exe,
                            .cache = cache,
                            .dir = full,
                            .strategy = o->strategy,
                            .seconds = o->budget,
                            .max_tests = o->max_tests,
                            .max_reduction = REDUCTION};
  int status;
  if (open_trail(o, &options, &err) || explore_open(&e, r, &options, &err))
    status = cli_error(&err);
  else
    status = explore(o, &e, in);
  given_progress_end();
  if (status == EXIT_DONE && !o->quiet && !strcmp(o->rank.format, "text"))
    print_summary(&e, o);
  explore_close(&e);
  if (o->trail_file)
    fclose(o->trail_file);
  free(dir);
  free(full);
  free(cache);
  return status;
}

static int run_session(Options *o, Runner *r, const Inputs *in) {
  Err err = {0};
  char *adapter = mem_printf("input %.6f %d", clock_now(), (int)getpid());
  int status;
  if (runner_begin(r, adapter, &err) ||
      runner_add_module(r, o->run.exe, &err)) {
    status = cli_error(&err);
  } else {
    status = run_explorer(o, r, in);
  }
  free(adapter);
  bool interrupted = r->interrupted;
  if (runner_close(r, true, &err))
    return cli_error(&err);
  if (interrupted && status != EXIT_DONE)
    return cli_fail(EXIT_INTERRUPTED, "interrupted");
  return status == EXIT_DONE ? rank(o, r) : status;
}

static int find_program(Options *o) {
  char *path = path_lookup(o->run.command[0], &o->arena);
  if (!path)
    return cli_fail(EXIT_USAGE, "%s: there is no such program",
                    o->run.command[0]);
  o->run.exe = absolute(o, path);
  o->run.cwd = absolute(o, ".");
  return EXIT_DONE;
}

static int input(Options *o, const char *command) {
  Err err = {0};
  Inputs in = {0};
  int status = find_program(o);
  if (status != EXIT_DONE)
    return status;
  Runner r = {.command = command, .root = o->run.cwd};
  r.progress = given_progress;
  char *dir = store_find(o->store);
  given_progress_shown = isatty(STDERR_FILENO) && !o->quiet;
  if (given_read(o->run.command, o->run.cwd, o->env.items, o->env.len, &in,
                 &err) ||
      runner_open(&r, &o->run, &err) ||
      store_open(&r.store, dir, STORE_CREATE, &err)) {
    status = cli_error(&err);
  } else {
    status = run_session(o, &r, &in);
    store_close(r.store);
  }
  inputs_release(&in);
  free(dir);
  return status;
}

int cmd_input(int argc, char **argv) {
  Options o;
  options_init(&o);
  int status;
  if (parse_arguments(&o, argc, argv)) {
    status = cli_usage_hint("input");
  } else if (o.help || o.list) {
    if (o.help)
      print_help();
    else
      list_strategies();
    status = EXIT_DONE;
  } else {
    Str command = {0};
    str_add(&command, "culprit ");
    words_quote_all(&command, argv);
    status = input(&o, str_text(&command));
    str_release(&command);
  }
  options_release(&o);
  return status;
}
