// culprit near: one failing input. Looks for the passing run nearest to it and
// tells at which branches they part.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/given.h"
#include "generate/near.h"
#include "run/process.h"
#include "run/words.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  JOBS_MAX = 64,
  BUDGET = 20,         // seconds
  TESTS = 300,         // made ones
  REDUCTION = 300,     // runs
};

// --- options ----------------------------------------------------------------

typedef struct {
  RunOptions run;
  double budget;
  size_t max_tests;
  bool no_reduce, quiet, help, json;
  const char *store;
  ARRAY(const char *) env;
  Arena arena;
} Options;

enum {
  OPT_BUDGET = 256,
  OPT_MAX_TESTS,
  OPT_ENV,
  OPT_NO_REDUCE,
  OPT_REFERENCE,
  OPT_ORACLE,
  OPT_TIMEOUT,
  OPT_JSON,
  OPT_STORE,
};

static const struct option long_options[] = {
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"max-tests", required_argument, NULL, OPT_MAX_TESTS},
    {"env", required_argument, NULL, OPT_ENV},
    {"no-reduce", no_argument, NULL, OPT_NO_REDUCE},
    {"reference", required_argument, NULL, OPT_REFERENCE},
    {"oracle", required_argument, NULL, OPT_ORACLE},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"json", no_argument, NULL, OPT_JSON},
    {"jobs", required_argument, NULL, 'j'},
    {"store", required_argument, NULL, OPT_STORE},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
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

static void options_init(Options *o) {
  *o = (Options){.budget = BUDGET, .max_tests = TESTS};
  o->run.jobs = cli_default_jobs(JOBS_MAX);
  o->run.timeout = 10;
  o->run.max_output = 64u << 20;
  o->run.rerun = true;
}

static void options_release(Options *o) {
  array_release(&o->env);
  arena_release(&o->arena);
}

static const char *absolute(Options *o, const char *path) {
  char *full = path_absolute(path, NULL);
  const char *copy = arena_strdup(&o->arena, full);
  free(full);
  return copy;
}

// -1: `arg` is nothing the option takes.
static int take_option(Options *o, int opt, const char *arg) {
  // clang-format off
  switch (opt) {
  case 'h': o->help = true; return 0;
  case 'q': o->quiet = true; return 0;
  case 'j': return cli_jobs(arg, JOBS_MAX, &o->run.jobs);
  case OPT_BUDGET: return cli_seconds(arg, &o->budget);
  case OPT_MAX_TESTS: return cli_count(arg, &o->max_tests);
  case OPT_ENV: array_push(&o->env, arg); return 0;
  case OPT_NO_REDUCE: o->no_reduce = true; return 0;
  case OPT_REFERENCE: o->run.reference = absolute(o, arg); return 0;
  case OPT_ORACLE: o->run.oracle = arg; return 0;
  case OPT_TIMEOUT: return cli_seconds(arg, &o->run.timeout);
  case OPT_JSON: o->json = true; return 0;
  case OPT_STORE: o->store = arg; return 0;
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
  if (o->help)
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

static int report(const Options *o, const Near *n) {
  const char *root = o->run.cwd;
  if (!n->found) {
    print_tried(n, stderr);
    return cli_fail(EXIT_NO_VERDICT,
                    n->stats.conditions
                        ? "no input was found that passes"
                        : "no condition on the path depends on the input: "
                          "is it read from somewhere else (--env)?");
  }
  if (o->json) {
    near_print_json(n, root, stdout);
    return EXIT_FAILED;
  }
  if (!o->quiet)
    printf("given: %s\n", n->explorer->message ? n->explorer->message : "");
  near_print_text(n, root, stdout);
  if (!o->quiet)
    print_tried(n, stdout);
  return EXIT_FAILED;
}

// --- all of it --------------------------------------------------------------

// Returns an exit status.
static int search_near(Options *o, Near *n, const Inputs *in) {
  Err err = {0};
  GivenResult result;
  Explorer *e = n->explorer;
  if (explore_given(e, in, &result, &err))
    return cli_error(&err);
  if (e->runner->interrupted)
    return EXIT_INTERRUPTED;
  if (result != GIVEN_FAILS)
    return given_explain(result);
  o->run.rerun = false; // made tests run once
  if ((!o->no_reduce && explore_reduce(e, &err)) || near_search(n, &err))
    return cli_error(&err);
  given_progress_end();
  return e->runner->interrupted && !n->found ? EXIT_INTERRUPTED : report(o, n);
}

static int run_explorer(Options *o, Runner *r, const Inputs *in) {
  Err err = {0};
  Explorer e = {.runner = r};
  Near near;
  char *dir =
      mem_printf("%s/made/%lld", store_dir(r->store), (long long)r->session);
  char *full = path_absolute(dir, NULL);
  char *cache = mem_printf("%s/trace", store_dir(r->store));
  ExploreOptions options = {.program = o->run.exe,
                            .cache = cache,
                            .dir = full,
                            .strategy = strategy_at(0),
                            .seconds = o->budget,
                            .max_tests = o->max_tests,
                            .max_reduction = REDUCTION};
  int status;
  if (explore_open(&e, r, &options, &err)) {
    status = cli_error(&err);
  } else {
    near_open(&near, &e);
    status = search_near(o, &near, in);
    near_close(&near);
  }
  explore_close(&e);
  free(dir);
  free(full);
  free(cache);
  return status;
}

static int run_session(Options *o, Runner *r, const Inputs *in) {
  Err err = {0};
  char *adapter = mem_printf("near %.6f %d", clock_now(), (int)getpid());
  int status;
  if (runner_begin(r, adapter, &err) || runner_add_module(r, o->run.exe, &err))
    status = cli_error(&err);
  else
    status = run_explorer(o, r, in);
  free(adapter);
  if (runner_close(r, true, &err))
    return cli_error(&err);
  return status == EXIT_INTERRUPTED ? cli_fail(status, "interrupted") : status;
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

static int find_near(Options *o, const char *command) {
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

int cmd_near(int argc, char **argv) {
  Options o;
  options_init(&o);
  int status = EXIT_DONE;
  if (parse_arguments(&o, argc, argv)) {
    status = cli_usage_hint("near");
  } else if (o.help) {
    print_help();
  } else {
    Str command = {0};
    str_add(&command, "culprit ");
    words_quote_all(&command, argv);
    status = find_near(&o, str_text(&command));
    str_release(&command);
  }
  options_release(&o);
  return status;
}
