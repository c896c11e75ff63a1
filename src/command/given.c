// One failing input, explored in a session: see given.h.
#include "command/given.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/libtool.h"
#include "command/cli.h"
#include "process/process.h"
#include "process/words.h"
#include "run/context_file.h"
#include "run/testfile.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  JOBS_MAX = 64,
  BUDGET = 20,         // seconds
  TIMEOUT = 5,         // seconds of one run
  REDUCTION = 300,     // runs
  FILE_MAX = 16 << 20, // bytes of a file that is an input
  STOP_SECONDS = 5,    // to print what is found when a signal comes
};

// --- options ----------------------------------------------------------------

void given_init(GivenOptions *o, size_t max_tests) {
  *o = (GivenOptions){
      .budget = BUDGET, .timeout = TIMEOUT, .max_tests = max_tests};
  o->run.jobs = cli_default_jobs(JOBS_MAX);
  o->run.max_output = 8u << 20; // a loop that prints ends soon
  o->run.rerun = true;
  o->run.confine = &o->confine.plan;
}

void given_release(GivenOptions *o) {
  array_release(&o->env);
  confine_options_release(&o->confine);
  arena_release(&o->arena);
}

const Option oracle_options[] = {
    {"reference", "PROG", &option_text, offsetof(RunOptions, reference),
     "require the standard output and exit status of PROG with the same "
     "arguments"},
    {"oracle", "CMD", &option_text, offsetof(RunOptions, oracle),
     "let CMD judge: exit status 0 pass, 125 skip, 126 or 127 CMD cannot run, "
     "any other fail. CMD runs in the test's directory with CULPRIT_STDOUT, "
     "CULPRIT_STDERR (files), CULPRIT_STATUS and CULPRIT_TEST set"},
    {0}};

const Option given_input_options[] = {
    {"env", "NAME", &option_list, offsetof(GivenOptions, env),
     "environment variable that is input, too"},
    {"no-reduce", NULL, &option_flag, offsetof(GivenOptions, no_reduce),
     "do not minimise the failing input first"},
    {0}};

const Option given_run_options[] = {
    {.title = "Oracle (default: a run passes if it exits with status 0)"},
    {.rows = oracle_options, .at = offsetof(GivenOptions, run)},
    {.title = "Execution"},
    {"jobs", "N", &option_int, offsetof(GivenOptions, run.jobs),
     "runs at once (default: one per processor)", .letter = 'j',
     .max = JOBS_MAX},
    {"no-fork-server", NULL, &option_flag,
     offsetof(GivenOptions, no_fork_server),
     "execute the program anew for every run"},
    {.rows = confine_options, .at = offsetof(GivenOptions, confine)},
    {.title = "Output"},
    {.rows = option_quiet, .at = offsetof(GivenOptions, quiet)},
    {.rows = option_store, .at = offsetof(GivenOptions, store)},
    {0}};

int given_check(GivenOptions *o, const Command *c, int argc, char **argv,
                int first) {
  RunOptions *run = &o->run;
  if (first >= argc)
    return options_wrong(c, "name the program and its arguments after --");
  if (run->reference && run->oracle)
    return options_wrong(c, "--reference and --oracle: only one of them");
  if (run->reference)
    run->reference = cli_absolute(&o->arena, run->reference);
  run->timeout_given = run->timeout > 0;
  if (!run->timeout_given)
    run->timeout = o->timeout;
  run->command = argv + first;
  confine_options_end(&o->confine, &o->arena);
  return OPTIONS_TAKEN;
}

// --- the input --------------------------------------------------------------

static int read_input(const GivenOptions *o, Inputs *out, Err *err) {
  Str text = {0};
  bool there;
  int rc = cli_read_stdin(&text, &there, err);
  if (!rc && there)
    inputs_add_stdin(out, str_text(&text), text.len);
  str_release(&text);
  if (!rc)
    rc =
        inputs_of_command(out, o->run.command, o->run.cwd, NULL, FILE_MAX, err);
  for (size_t i = 0; !rc && i < o->env.len; i++) {
    const char *value = getenv(o->env.items[i]);
    inputs_add_env(out, o->env.items[i], value ? value : "");
  }
  return rc;
}

static int explain(GivenResult result, const char *note) {
  switch (result) {
  case GIVEN_PASSES:
    return cli_fail(EXIT_NO_VERDICT,
                    "this input passes; if its output is wrong, say what is "
                    "right with --reference or --oracle");
  case GIVEN_FLAKY:
    return cli_fail(EXIT_NO_VERDICT,
                    "this input fails only sometimes; the program depends on "
                    "more than its input (the clock, random numbers, threads)");
  default:
    return cli_fail(EXIT_NO_VERDICT,
                    "this input could not be run or judged%s%s",
                    note ? ": " : "", note ? note : "");
  }
}

// --- the session ------------------------------------------------------------

static bool show_progress;

static void print_progress(const Runner *r) {
  static double last;
  double now = clock_now();
  if (!show_progress || now - last < 0.05)
    return;
  last = now;
  fprintf(stderr, "\r[%zu] %zu failed\033[K", r->finished, r->failing);
  fflush(stderr);
}

// Returns an exit status.
static int explore(GivenOptions *o, const GivenJob *job, InputSearch *s,
                   const Inputs *in) {
  Err err = {0};
  GivenResult result;
  if (search_run_given(s, in, &result, &err))
    return cli_error(&err);
  if (s->runner->interrupted)
    return EXIT_INTERRUPTED;
  confine_explain(s->runner->confines, (size_t)o->run.jobs);
  if (result != GIVEN_FAILS)
    return explain(result, s->note);
  if (s->varies)
    cli_warn("this input %s; every failing run counts as the same failure",
             s->note);
  o->run.rerun = false; // made tests run once
  o->run.serve = !o->no_fork_server;
  if (!o->no_reduce && search_reduce(s, &err))
    return cli_error(&err);
  return job->work(job->context, s);
}

static int run_explorer(GivenOptions *o, const GivenJob *job, Runner *r,
                        const Inputs *in) {
  Err err = {0};
  InputSearch s = {.runner = r};
  char *dir =
      mem_printf("%s/made/%lld", store_dir(r->store), (long long)r->session);
  char *cache = mem_printf("%s/trace", store_dir(r->store));
  SearchOptions options = {.program = o->run.exe,
                           .cache = cache,
                           .dir = cli_absolute(&o->arena, dir),
                           .strategy = job->strategy,
                           .parts = job->parts,
                           .after = job->after,
                           .context = job->context,
                           .seconds = o->budget,
                           .max_tests = o->max_tests,
                           .max_reduction = REDUCTION};
  int status = search_open(&s, r, &options, &err) ? cli_error(&err)
                                                  : explore(o, job, &s, in);
  search_close(&s);
  free(dir);
  free(cache);
  return status;
}

static int run_session(GivenOptions *o, const GivenJob *job, Runner *r,
                       const Inputs *in) {
  Err err = {0};
  char *adapter = mem_printf("%s %.6f %d", job->name, clock_now(), getpid());
  int status;
  stop_orderly(STOP_SECONDS);
  if (runner_begin(r, adapter, &err) || runner_add_module(r, o->run.exe, &err))
    status = cli_error(&err);
  else
    status = run_explorer(o, job, r, in);
  free(adapter);
  given_progress_end();
  stop_orderly(0);
  if (contexts_write(&r->contexts, store_dir(r->store), r->session, &err) ||
      runner_close(r, true, &err))
    return cli_error(&err);
  if (status == EXIT_INTERRUPTED)
    return cli_interrupted("nothing to resume");
  return status == EXIT_DONE && job->finish ? job->finish(job->context, r)
                                            : status;
}

static int open_session(GivenOptions *o, const GivenJob *job, Runner *r) {
  Err err = {0};
  Inputs in = {0};
  int status;
  if (read_input(o, &in, &err) || runner_open(r, &o->run, &err))
    status = cli_error(&err);
  else
    status = cli_open_store(&r->store, o->store, STORE_CREATE);
  if (status == EXIT_DONE) {
    status = run_session(o, job, r, &in);
    store_close(r->store);
  }
  inputs_release(&in);
  return status;
}

// The program behind libtool's wrapper is run in its place.
static void unwrap(GivenOptions *o) {
  Libtool l;
  if (!libtool_read(&l, o->run.exe, &o->arena))
    return;
  const char *before = getenv("LD_LIBRARY_PATH");
  if (*l.libraries)
    setenv("LD_LIBRARY_PATH",
           before ? arena_printf(&o->arena, "%s:%s", l.libraries, before)
                  : l.libraries,
           1);
  if (!o->quiet)
    escape_printf(stderr, "culprit: %s is a libtool script; running %s\n",
                  o->run.command[0], l.program);
  o->run.command[0] = arena_strdup(&o->arena, l.program);
  o->run.exe = o->run.command[0];
}

static int find_program(GivenOptions *o) {
  char *path = path_lookup(o->run.command[0], &o->arena);
  if (!path)
    return cli_fail(EXIT_USAGE, "%s: no such program", o->run.command[0]);
  o->run.exe = cli_absolute(&o->arena, path);
  unwrap(o);
  o->run.cwd = cli_absolute(&o->arena, ".");
  return EXIT_DONE;
}

int given_run(GivenOptions *o, const GivenJob *job, char **argv) {
  int found = find_program(o);
  if (found != EXIT_DONE)
    return found;
  show_progress = isatty(STDERR_FILENO) && !o->quiet;
  char *command = cli_command_line(argv);
  Runner r = {.command = command, .root = o->run.cwd};
  r.progress = print_progress;
  int status = open_session(o, job, &r);
  runner_forget(&r);
  free(command);
  return status;
}

// --- a stored session ---------------------------------------------------------

static GivenParse *parser_of(const Suite *suite) {
  return text_starts(suite->command, "culprit input ")  ? input_given
         : text_starts(suite->command, "culprit near ") ? near_given
                                                        : NULL;
}

bool given_made(const Suite *suite) { return parser_of(suite) != NULL; }

// In the session's directory.
static int take_stored(GivenOptions *o, const Suite *suite, Arena *arena) {
  Words words;
  char *line = arena_strdup(arena, suite->command);
  if (!words_parse(&words, line, arena) || words.argc < 2)
    return cli_fail(EXIT_USAGE,
                    "session %lld: its command line cannot be read: %s",
                    (long long)suite->session, suite->command);
  int status = parser_of(suite)(o, (int)words.argc - 1, words.argv + 1);
  return status == OPTIONS_TAKEN ? find_program(o) : status;
}

int given_stored(Store *store, const Suite *suite, int jobs,
                 const ConfinePlan *confine,
                 int (*work)(void *context, const Runner *like),
                 void *context) {
  GivenOptions o = {0};
  Arena arena = {0};
  Err err = {0};
  int here = cli_enter(suite->cwd);
  int status = here < 0 ? EXIT_ENVIRONMENT : take_stored(&o, suite, &arena);
  if (here >= 0 && cli_return(here))
    status = EXIT_ENVIRONMENT;
  if (status == EXIT_DONE) {
    Runner like = {.root = o.run.cwd, .command = ""};
    o.run.confine = confine;
    o.run.jobs = jobs ? jobs : o.run.jobs;
    bool ready = !contexts_read(&like.contexts, store_dir(store),
                                suite->session, &err) &&
                 !runner_open(&like, &o.run, &err);
    status = ready ? work(context, &like) : cli_error(&err);
    Err ignored;
    runner_close(&like, false, &ignored);
    contexts_release(&like.contexts);
  }
  given_release(&o);
  arena_release(&arena);
  return status;
}

void given_print_reduction(const InputSearch *e, FILE *out) {
  const SearchStats *s = &e->stats;
  if (s->reduction)
    fprintf(out, "reduced from %zu to %zu byte%s in %zu run%s\n",
            s->bytes_before, s->bytes_after, plural(s->bytes_after),
            s->reduction, plural(s->reduction));
}

void given_progress_end(void) {
  if (show_progress)
    cli_progress_end();
}
