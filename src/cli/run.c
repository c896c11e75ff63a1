// culprit run: runs the tests, stores the results, prints the ranking.
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/adapter.h"
#include "adapter/suites.h"
#include "adapter/tree.h"
#include "cli/rank.h"
#include "cli/rebuild.h"
#include "cli/run.h"
#include "cli/run_close.h"
#include "cli/run_report.h"
#include "cli/run_try.h"
#include "command/cli.h"
#include "command/confine_options.h"
#include "command/given.h"
#include "process/words.h"
#include "run/context_file.h"
#include "run/summary.h"
#include "run/testfile.h"
#include "store/store_address.h"
#include "tally/known.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"

#define MB (1ull << 20)
enum {
  JOBS_MAX = 256,    // each takes descriptors of ours
  STOP_SECONDS = 20, // to keep what is done when a signal comes
};

// --- options ----------------------------------------------------------------

typedef struct {
  RunOptions run;
  RankOptions rank;
  const char *store;
  bool built; // by us, in the store
  bool makes; // make runs the tests as one, and builds as it goes
  bool quiet, no_build, watch, confined;
  bool bisect;  // exit statuses for `git bisect run`
  double close; // seconds for a closer look; below 0: not given
  bool tries;   // --try
  RunTryOptions tried;
  const char *base; // what relative paths are relative to; NULL: here
  const char *root; // the session's directory; NULL: here
  const char *source, *copied; // of what we built; NULL: nothing
  ConfineOptions confine;
  Arena arena;
} Options;

static void options_init(Options *o) {
  *o = (Options){0};
  rank_options_init(&o->rank);
  o->run.jobs = cli_default_jobs(JOBS_MAX);
  o->run.max_output = 256 * MB;
  o->run.rerun = true;
  o->run.segments = true;
  o->close = -1;
  run_try_options_init(&o->tried);
}

static void options_release(Options *o) {
  array_release(&o->run.build_options);
  array_release(&o->run.chosen);
  rank_options_release(&o->rank);
  confine_options_release(&o->confine);
  arena_release(&o->arena);
}

static const char *absolute(Options *o, const char *path) {
  char *full = path_absolute(path, o->base);
  const char *copy = arena_strdup(&o->arena, full);
  free(full);
  return copy;
}

// Paths that the options name, made absolute.
static void resolve_paths(Options *o) {
  const char **paths[] = {&o->run.exe, &o->run.tests, &o->run.reference,
                          &o->run.expect, &o->run.cwd};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (*paths[i])
      *paths[i] = absolute(o, *paths[i]);
  if (o->rank.known && !known_is_session(o->rank.known))
    o->rank.known = absolute(o, o->rank.known);
}

static int take_shard(const Option *o, void *field, const char *arg) {
  (void)o;
  return shard_parse(arg, field) ? 0 : -1;
}

static const OptionType option_shard = {take_shard, "K/N, K from 1 to N"};

static const Option options[] = {
    {.title = "Tests"},
    {"exe", "PROG", &option_text, offsetof(Options, run.exe),
     "program under test"},
    {"tests", "FILE", &option_text, offsetof(Options, run.tests),
     "list of tests, one per line: the shell words after PROG, or without "
     "--exe a whole command; blank lines and lines that begin with # are "
     "skipped"},
    {"build", "CMD", &option_text, offsetof(Options, run.build),
     "build a copy of the tree by this command, with CC set to culprit-cc"},
    {"build-option", "OPT", &option_list, offsetof(Options, run.build_options),
     "pass OPT to configure, cmake, meson or make, whichever builds the tree"},
    {"segment", "REGEX", &option_text, offsetof(Options, run.segment),
     "functions whose names match are tests inside a test program; takes "
     "effect when the program is compiled"},
    {"isolate", NULL, &option_flag, offsetof(Options, run.isolate),
     "run each test of cmocka or Check in a process of its own"},
    {"no-build", NULL, &option_flag, offsetof(Options, no_build),
     "never build a copy with culprit-cc"},
    {"test", "NAME", &option_list, offsetof(Options, run.chosen),
     "run only this test"},
    {"failed", NULL, &option_flag, offsetof(Options, run.failed),
     "run only the tests that failed last time, the same way; needs no other "
     "option"},
    {"add", NULL, &option_flag, offsetof(Options, run.add),
     "add to the newest session instead of starting a new one"},
    {"shard", "K/N", &option_shard, offsetof(Options, run.shard),
     "run only the K-th of N parts of the tests, for N machines; `culprit "
     "store "
     "merge` unites what they store"},
    {"watch", NULL, &option_flag, offsetof(Options, watch),
     "wait for a rebuild and run the failed tests again; once none fails, run "
     "all tests"},
    {"bisect", NULL, &option_flag, offsetof(Options, bisect),
     "for `git bisect run`: exit with status 125 (skip) where it would be 3 or "
     "4"},
    {.title = "Oracle (default: a test passes if it exits with status 0)"},
    {.rows = oracle_options, .at = offsetof(Options, run)},
    {"expect", "DIR", &option_text, offsetof(Options, run.expect),
     "test n must print what DIR/n.out holds and, if DIR/n.status exists, exit "
     "with that status"},
    {"failure-regex", "REGEX", &option_text,
     offsetof(Options, run.failure_regex),
     "lines of output that say that a test inside a test program failed"},
    {.rows = rank_known_options, .at = offsetof(Options, rank)},
    {.title = "Execution"},
    {"jobs", "N", &option_int, offsetof(Options, run.jobs),
     "tests at once (default: one per processor)", .letter = 'j',
     .max = JOBS_MAX},
    {"timeout", "SECONDS", &option_real, offsetof(Options, run.timeout),
     "limit for one test (default: 10; of the tests of a project 60, unless "
     "its "
     "files say otherwise; less once other tests have ended)"},
    {"max-output", "SIZE", &option_size, offsetof(Options, run.max_output),
     "limit for the output of one test, as 100M (default: 256M)"},
    {"cwd", "DIR", &option_text, offsetof(Options, run.cwd),
     "directory to run the tests in (default: the current one)"},
    {"scratch", NULL, &option_flag, offsetof(Options, run.scratch),
     "run each test in an empty directory of its own; CULPRIT_DIR names that "
     "of --cwd"},
    {"no-rerun", NULL, &option_no, offsetof(Options, run.rerun),
     "do not repeat failing tests to find flaky ones"},
    {"close", "SECONDS", &option_real0, offsetof(Options, close),
     "time for a closer look at the tests that matter (default: as long as the "
     "tests took, 5 to 10; 0: none)"},
    {"try", NULL, &option_flag, offsetof(Options, tries),
     "then change one thing at a time at the first suspects and see what "
     "repairs the failing tests, as `culprit try` does"},
    {"confine", NULL, &option_flag, offsetof(Options, confined),
     "discard what the tests write and refuse connections: for programs that "
     "you do not trust"},
    {.rows = confine_options, .at = offsetof(Options, confine)},
    {.title = "Output"},
    {.rows = rank_shown_options, .at = offsetof(Options, rank)},
    {.rows = rank_since_options, .at = offsetof(Options, rank)},
    {"json", NULL, &option_name, offsetof(Options, rank.format),
     "print the ranking as `culprit rank --json` does, and everything else on "
     "standard error"},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

// `ctest --test-dir DIR` is ctest in DIR.
static void take_test_dir(Options *o, char **words, size_t n) {
  static const char option[] = "--test-dir";
  size_t length = strlen(option), kept = 0;
  char **rest = arena_array(&o->arena, char *, n + 1);
  for (size_t i = 0; i < n; i++) {
    bool alone = !strcmp(words[i], option) && i + 1 < n;
    if (!alone && !(text_starts(words[i], option) && words[i][length] == '=')) {
      rest[kept++] = words[i];
      continue;
    }
    o->run.cwd = absolute(o, alone ? words[i + 1] : words[i] + length + 1);
    i += alone;
  }
  o->run.command = rest;
}

// As options_parse.
static int parse_arguments(Options *o, int argc, char **argv) {
  int first;
  int status = options_parse(&cmd_run, argc, argv, o, &first);
  if (status != OPTIONS_TAKEN)
    return status;
  confine_options_end(&o->confine, &o->arena);
  resolve_paths(o);
  o->run.timeout_given = o->run.timeout > 0;
  if (first >= argc)
    return OPTIONS_TAKEN;
  if (strcmp(argv[first - 1], "--") != 0)
    return options_wrong(&cmd_run, "'%s': write -- before the command",
                         argv[first]);
  o->run.command = argv + first;
  if (command_is(o->run.command, "ctest", NULL))
    take_test_dir(o, argv + first, (size_t)(argc - first));
  return OPTIONS_TAKEN;
}

static int wrong(const char *message) {
  return options_wrong(&cmd_run, "%s", message);
}

static int check_regex(const char *option, const char *pattern) {
  regex_t compiled;
  char reason[128];
  if (!pattern)
    return 0;
  int code = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);
  if (!code) {
    regfree(&compiled);
    return 0;
  }
  regerror(code, &compiled, reason, sizeof reason);
  cli_fail(EXIT_USAGE, "%s '%s': %s", option, pattern, reason);
  return -1;
}

// Options that do not fit together.
static int check_options(const RunOptions *o) {
  int oracles = !!o->reference + !!o->expect + !!o->oracle;
  if (oracles > 1)
    return wrong("give only one of --reference, --expect and --oracle");
  if (o->tests && o->command)
    return wrong("give either --tests or a command after --");
  if (o->exe && !o->tests)
    return wrong("--exe needs --tests FILE; a single command goes after --");
  if (o->reference && !o->exe)
    return wrong("--reference needs --exe, the program to compare with it");
  if (o->failed && o->add)
    return wrong("give either --failed or --add");
  if (check_regex("--segment", o->segment) ||
      check_regex("--failure-regex", o->failure_regex))
    return EXIT_USAGE;
  return OPTIONS_TAKEN;
}

// `culprit run --failed` alone: the options of the command that made the session
// (0: the newest), then those of this one.
static int take_stored_options(Options *o, Store *store, int64_t session,
                               int argc, char **argv, Err *err) {
  Suite suite = {0};
  Options fresh;
  Words words;
  options_init(&fresh);
  int rc = store_load(store, session, &suite, err);
  if (!rc) {
    char *line = arena_strdup(&fresh.arena, suite.command);
    fresh.base = fresh.root = arena_strdup(&fresh.arena, suite.cwd);
    fresh.run.cwd = fresh.base;
    if (!words_parse(&words, line, &fresh.arena) || words.argc < 2 ||
        strcmp(words.argv[1], "run") != 0 ||
        parse_arguments(&fresh, (int)words.argc - 1, words.argv + 1) !=
            OPTIONS_TAKEN)
      rc = err_set(err,
                   "`culprit run` did not make the %s session: name the "
                   "tests (--tests FILE)",
                   session ? "chosen" : "newest");
  }
  suite_release(&suite);
  fresh.run.add = false;
  fresh.base = NULL;
  if (!rc && parse_arguments(&fresh, argc, argv) != OPTIONS_TAKEN)
    rc = err_set(err, "--failed: see above");
  if (rc) {
    options_release(&fresh);
    return -1;
  }
  options_release(o);
  *o = fresh;
  return 0;
}

// --- showing ----------------------------------------------------------------

static bool show_progress, be_quiet;

// "0:42 left", once enough is done to tell.
static void print_rest(const Runner *r, double now, double start) {
  size_t rest = r->total - r->finished;
  if (!r->total || r->finished < 3 || !rest || now - start < 2)
    return;
  unsigned left =
      (unsigned)((now - start) / (double)r->finished * (double)rest + 0.5);
  fprintf(stderr, ", %u:%02u left", left / 60, left % 60);
}

static void print_progress(const Runner *r) {
  static double last, start;
  double now = clock_now();
  if (!r->finished || start <= 0)
    start = now;
  if (!r->finished && r->already && !r->fresh && !be_quiet &&
      !r->options->chosen.len) {
    if (r->options->failed)
      fprintf(stderr, "running the failed tests; %zu other%s kept\n",
              r->already, r->already == 1 ? " is" : "s are");
    else
      fprintf(stderr, "continuing: %zu test%s already done\n", r->already,
              r->already == 1 ? " is" : "s are");
  }
  if (!show_progress || now - last < 0.05)
    return;
  last = now;
  if (r->total)
    fprintf(stderr, "\r[%zu/%zu]", r->finished, r->total);
  else
    fprintf(stderr, "\r[%zu]", r->finished);
  if (r->failing)
    fprintf(stderr, " %zu failed", r->failing);
  print_rest(r, now, start);
  fputs("\033[K", stderr);
  fflush(stderr);
}

static void clear_progress(void) {
  if (show_progress)
    cli_progress_end();
}

static int report_interruption(const Runner *r) {
  Str text = {0};
  str_addf(&text, "%zu", r->already + r->finished);
  if (r->total)
    str_addf(&text, " of %zu", r->already + r->total);
  cli_interrupted("%s tests are done and kept", text.data);
  str_release(&text);
  return EXIT_INTERRUPTED;
}

static bool prints_json(const Options *o) {
  return !strcmp(o->rank.format, "json");
}

// Where people read: standard output, unless that is for a program.
static FILE *words_out(const Options *o) {
  return prints_json(o) ? stderr : stdout;
}

static void describe_known(const KnownCounts *known, Str *out) {
  if (known->failures || known->tests)
    str_addf(out, "  %zu known failure%s set aside (%zu test%s)\n",
             known->failures, plural(known->failures), known->tests,
             plural(known->tests));
}

// The summary, and what to do if there is nothing to rank. -1: rank it.
static int report_suite(const Suite *suite, const Options *o, const Runner *r,
                        const KnownCounts *known, double seconds,
                        const char *store) {
  VerdictCounts t = suite_count(suite);
  size_t fail = t.verdicts[VERDICT_FAIL], pass = t.verdicts[VERDICT_PASS];
  if (!o->quiet) {
    Str text = {0};
    summary_write(suite, seconds, &text);
    describe_known(known, &text);
    run_describe(&o->run, o->built, r, &text);
    if (!fail) {
      summary_missing_spectra(suite, &text);
      summary_notes(suite, &text);
    }
    escape_printf(words_out(o), "%sstore: %s\n", text.data, store);
    str_release(&text);
    fflush(stdout);
  }
  if (o->makes && fail && run_report_failed_build(suite))
    return EXIT_ENVIRONMENT;
  if (t.judged && t.no_spectrum == t.judged && !suite->nentities)
    return run_report_no_map(&o->run, o->makes, suite);
  if (fail > known->tests)
    return -1;
  if (o->run.shard.n && !suite->nruns)
    return EXIT_DONE; // fewer tests than shards
  if (!(pass || fail) || t.verdicts[VERDICT_FLAKY] || t.verdicts[VERDICT_ERROR])
    return cli_fail(EXIT_NO_VERDICT,
                    "no test fails reliably, but not all pass; see the reasons "
                    "above, then `culprit run --failed`");
  if (!o->quiet)
    fputs(fail ? "Only known failures: nothing to rank.\n"
               : "Nothing failed, so there is nothing to rank. Add a test that "
                 "shows\nthe fault, or an oracle that detects it: "
                 "--reference, --expect, --oracle.\n",
          words_out(o));
  return EXIT_DONE;
}

// Can more be had by looking closer?
static bool is_comparable(const Suite *suite) {
  return rank_has_spectra(suite, VERDICT_FAIL) &&
         rank_has_spectra(suite, VERDICT_PASS);
}

int run_adapter_again(void *adapter, Runner *r, Err *err) {
  return ((const Adapter *)adapter)->run(r, err);
}

// --try: experiments, confined, and the ranking by them.
static int try_after_run(const Options *o, const Adapter *adapter,
                         const Runner *r, const RankOptions *rank) {
  RunOptions confined = o->run;
  Runner like = *r;
  RunTry t = {.options = &o->tried,
              .quiet = o->quiet,
              .json = prints_json(o),
              .show_progress = show_progress,
              .modules = r->seen.items,
              .nmodules = r->seen.len};
  confined.confine = &o->confine.plan;
  like.options = &confined;
  return run_try(&t, run_adapter_again, (void *)adapter, &like, r->store,
                 r->session, rank);
}

// `status`: of report_suite. Returns an exit status.
static int rank(const Options *o, const Adapter *adapter, const Runner *r,
                bool closer, double seconds, int status) {
  RankOptions rank = o->rank;
  rank.session = r->session;
  bool alone = o->run.shard.n && !closer; // other shards have what is compared
  rank.none_ok = status >= 0 || alone;
  if (alone && status < 0 && !prints_json(o))
    return EXIT_FAILED;
  if (status >= 0 && (status != EXIT_DONE || !prints_json(o)))
    return status;
  bool tries = o->tries && status < 0 && closer;
  // Which tests matter shows when the shards are merged.
  double seconds_given = o->run.shard.n && o->close < 0 ? 0 : o->close;
  RunCloseOptions close = {.seconds = closer && status < 0 ? seconds_given : 0,
                           .tests_took = seconds,
                           .quiet = o->quiet,
                           .json = prints_json(o),
                           .later = tries && prints_json(o),
                           .watched = !prints_json(o) && isatty(STDOUT_FILENO),
                           .show_progress = show_progress};
  int ranked = run_close_rank(&close, &rank, run_adapter_again, (void *)adapter,
                              r, r->store);
  if (tries && ranked == EXIT_DONE)
    ranked = try_after_run(o, adapter, r, &rank);
  return ranked == EXIT_DONE && status < 0 ? EXIT_FAILED : ranked;
}

static int set_aside(const Options *o, Store *store, Suite *suite,
                     KnownCounts *counts, Err *err) {
  KnownFailures known = {0};
  if (o->rank.known && known_load(&known, o->rank.known, store, err))
    return -1;
  *counts = known_set_aside(&known, suite);
  known_release(&known);
  return 0;
}

static int report(const Options *o, const Adapter *adapter, const Runner *r,
                  double seconds) {
  Store *store = r->store;
  Suite suite = {0};
  Err err = {0};
  if (r->warning.text[0])
    cli_warn("%s", r->warning.text);
  KnownCounts known = {0};
  if (store_load(store, r->session, &suite, &err))
    return cli_error(&err);
  int status =
      set_aside(o, store, &suite, &known, &err)
          ? cli_error(&err)
          : report_suite(&suite, o, r, &known, seconds, store_dir(store));
  bool closer = is_comparable(&suite);
  suite_release(&suite);
  return rank(o, adapter, r, closer, seconds, status);
}

// --- running ----------------------------------------------------------------

// A session of an earlier build cannot be continued: once more, afresh.
static int run_adapter(const Adapter *a, Runner *r, Err *err) {
  int rc = a->run(r, err);
  if (!rc || !r->stale)
    return rc;
  cli_warn("the program was rebuilt; starting a new session");
  r->fresh = true;
  return a->run(r, err);
}

static int run_session(const Options *o, const Adapter *adapter, Runner *r) {
  Err err = {0}, second = {0};
  double start = clock_now();
  int rc = run_adapter(adapter, r, &err);
  // After an error a tests file continues where it was: the key of its session
  // says whether it is still the same work. Other sources start a new session.
  bool complete = !r->interrupted && !(rc && o->run.tests);
  clear_progress();
  if (r->confines)
    confine_explain(r->confines, (size_t)o->run.jobs);
  int closed = runner_close(r, complete, &second);
  if (!closed &&
      contexts_write(&r->contexts, store_dir(r->store), r->session, &second))
    closed = -1;
  stop_orderly(0);
  if (r->interrupted && !closed)
    return report_interruption(r);
  if (rc || closed)
    return cli_error(rc ? &err : &second);
  return report(o, adapter, r, clock_now() - start);
}

// What a build depends on besides the sources, a line each: the kind, the
// expression for tests, the user's command and options.
static void describe_build(const Options *o, const Tree *tree, Str *out) {
  str_addf(out, "%s\n%s\n%s\n", tree->kind,
           o->run.segment ? o->run.segment : "",
           o->run.build ? o->run.build : "");
  for (size_t i = 0; i < o->run.build_options.len; i++)
    str_addf(out, "%s\n", o->run.build_options.items[i]);
}

// A copy that was configured and built otherwise is no good.
static int prepare_build(const Options *o, const Tree *tree, const char *store,
                         Err *err) {
  char *path = mem_printf("%s/build.options", store);
  Str had = {0}, want = {0};
  Err ignored;
  int rc = 0;
  describe_build(o, tree, &want);
  if (fs_read(path, 0, &had, &ignored))
    str_clear(&had);
  if (strcmp(str_text(&had), want.data) != 0) {
    if (fs_exists(tree->dir))
      rc = dir_make_empty(tree->dir, err);
    rc = rc ? rc : fs_write(path, want.data, want.len, err);
  }
  str_release(&had);
  str_release(&want);
  free(path);
  return rc;
}

// A tree that culprit-cc did not build is built, out of the user's way.
static int build_tree(Options *o, const char *store) {
  Tree tree;
  Err err = {0};
  if (o->no_build || !tree_find(&tree, &o->run, store))
    return 0;
  char *log = mem_printf("%s/build.log", store);
  if (!o->quiet)
    escape_printf(stderr,
                  "culprit: building with culprit-cc in %s (%s; log: %s)\n",
                  tree.dir, tree.kind, log);
  Scratch guarded = SCRATCH_NONE; // for what the build would leave behind
  int rc = fs_mkdirs(store, &err) || scratch_open(&guarded, store, &err) ||
                   prepare_build(o, &tree, store, &err)
               ? -1
               : tree_build(&tree, o->run.jobs, log, &err);
  if (tree.switched && !o->quiet)
    escape_printf(stderr,
                  "culprit: this project builds its tests only with %s; "
                  "culprit turned that on\n",
                  tree.switched);
  scratch_close(&guarded);
  free(log);
  o->run.cwd = absolute(o, tree.work);
  o->source = absolute(o, tree.source);
  o->copied = absolute(o, tree.copied);
  o->built = true;
  if (!strcmp(tree.kind, "make") && scripts_there(o->run.cwd))
    o->run.command = NULL; // runs each; make would run them as one test
  if (!strcmp(tree.kind, "make"))
    o->run.make_cc = tree_make_variable(&tree, &o->arena);
  tree_release(&tree);
  return rc ? cli_error(&err) : 0;
}

static int choose_adapter(Options *o, const Adapter **adapter) {
  Err err = {0};
  if (adapter_find(adapter, &o->run, &err))
    return cli_error(&err);
  if ((*adapter)->run == automake_run && o->run.confine)
    return wrong("--confine: `make check` starts its tests itself; list them "
                 "in a file and give --tests FILE");
  o->makes = (*adapter)->run == make_run;
  if (o->run.shard.n && (o->makes || (*adapter)->run == command_run))
    return wrong("--shard: one command is one test, which cannot be shared "
                 "out; list the tests in a file and give --tests FILE");
  bool oracle = o->run.reference || o->run.expect || o->run.oracle;
  if ((*adapter)->run == automake_run && oracle)
    return wrong("`make check` judges its tests itself; leave out --reference, "
                 "--expect and --oracle");
  if (o->run.timeout <= 0)
    o->run.timeout = (*adapter)->timeout;
  return 0;
}

// The directory that paths are shown relative to, seen from a session's: that of
// the project, if it is not there or below. Caller frees.
static char *shown_from(const Options *o, const char *cwd) {
  char *dir = suite_dir(&o->run);
  char *source = o->source ? mem_strdup(o->source) : source_of_build(dir);
  free(dir);
  if (source && !path_lies_in(source, cwd))
    return source;
  free(source);
  return mem_strdup(cwd);
}

// With a store (--failed, --add), or without: it is then made once everything
// that the options name was found to be there.
static int run_tests(Options *o, const char *where, Store *store,
                     const char *command) {
  Err err = {0};
  const Adapter *adapter;
  stop_orderly(STOP_SECONDS);
  o->run.confine = o->confined ? &o->confine.plan : NULL;
  if (o->run.segment)
    setenv("CULPRIT_SEGMENT", o->run.segment, 1);
  char *beside = address_directory(where);
  int status = build_tree(o, beside);
  free(beside);
  if (!status)
    status = choose_adapter(o, &adapter);
  if (status)
    return status;
  char *cwd = path_absolute(".", o->root);
  char *root = shown_from(o, cwd);
  Runner r = {.command = command,
              .root = root,
              .cwd = cwd,
              .project = root,
              .progress = print_progress};
  if (!strcmp(root, cwd)) // perhaps the sources are in what is above
    r.project = o->copied && strcmp(o->copied, cwd) ? o->copied : NULL;
  Store *made = NULL;
  if (runner_open(&r, &o->run, &err) ||
      (!store && store_open(&made, where, STORE_CREATE, &err))) {
    status = cli_error(&err);
  } else {
    r.store = store ? store : made;
    KnownFailures known = {0}; // before anything runs: is it there?
    status = o->rank.known && known_load(&known, o->rank.known, r.store, &err)
                 ? cli_error(&err)
                 : run_session(o, adapter, &r);
    known_release(&known);
  }
  store_close(made);
  runner_forget(&r);
  free(r.split_text);
  free(root);
  free(cwd);
  return status;
}

int run_stored(Store *store, int64_t session, int jobs,
               const ConfinePlan *confine, RunAgainWork *work, void *context) {
  Options o;
  Err err = {0};
  const Adapter *adapter;
  char *none[] = {"run", NULL};
  options_init(&o);
  o.quiet = true;
  int status = take_stored_options(&o, store, session, 1, none, &err)
                   ? cli_error(&err)
                   : 0;
  if (!status)
    status = build_tree(&o, store_dir(store));
  o.run.confine = NULL; // as the adapter sees it; what runs is confined
  if (!status)
    status = choose_adapter(&o, &adapter);
  if (!status) {
    char *cwd = path_absolute(".", o.root), *root = shown_from(&o, cwd);
    Runner like = {.root = root, .cwd = cwd, .command = ""};
    o.run.confine = confine;
    o.run.jobs = jobs ? jobs : o.run.jobs;
    bool ready =
        !contexts_read(&like.contexts, store_dir(store), session, &err) &&
        !runner_open(&like, &o.run, &err);
    status = ready ? work(context, adapter, &like) : cli_error(&err);
    Err ignored;
    runner_close(&like, false, &ignored);
    contexts_release(&like.contexts);
    free(root);
    free(cwd);
  }
  options_release(&o);
  return status;
}

static int run_in_existing(Options *o, const char *dir, int argc, char **argv,
                           const char *command) {
  Err err = {0};
  Store *store;
  bool alone = o->run.failed && !o->run.tests && !o->run.command;
  if (store_open(&store, dir, STORE_EXISTING, &err))
    return cli_error(&err);
  int status;
  if (alone && take_stored_options(o, store, 0, argc, argv, &err))
    status = cli_error(&err);
  else
    status = run_tests(o, dir, store, command);
  store_close(store);
  return status;
}

static int run_with_options(Options *o, int argc, char **argv) {
  char *dir = store_find(o->store);
  char *command = cli_command_line(argv);
  int status = o->run.failed || o->run.add
                   ? run_in_existing(o, dir, argc, argv, command)
                   : run_tests(o, dir, NULL, command);
  free(command);
  free(dir);
  return status;
}

enum { BISECT_SKIPS = 125 };

static int bisect_status(int status) {
  return status == EXIT_ENVIRONMENT || status == EXIT_NO_VERDICT ? BISECT_SKIPS
                                                                 : status;
}

static int run_main(int argc, char **argv) {
  Options o;
  options_init(&o);
  int status = parse_arguments(&o, argc, argv);
  if (status == OPTIONS_TAKEN)
    status = check_options(&o.run);
  if (status == OPTIONS_TAKEN) {
    if (!o.run.cwd)
      o.run.cwd = absolute(&o, ".");
    be_quiet = o.quiet;
    cli_resumes(argv);
    show_progress = isatty(STDERR_FILENO) && !o.quiet;
    status = o.watch ? rebuild_watch(o.run.exe, o.store, argc, argv)
                     : run_with_options(&o, argc, argv);
    if (o.bisect)
      status = bisect_status(status);
  }
  options_release(&o);
  return status;
}

const Command cmd_run = {
    "run",
    "run the tests, store the results, print the ranking",
    run_main,
    .usage = "[options] [-- COMMAND...]",
    .about =
        "Run the tests, store the results, and print the lines to look at "
        "first. Without --tests and COMMAND, culprit finds the tests of the "
        "directory: automake, CMake (ctest), Meson, t/*.t (TAP), tests/*.sh, "
        "or a Makefile's target check, test or tests. "
        "It runs programs that use cmocka or Check test by test. It builds a "
        "source tree, or a tree that another compiler built, with culprit-cc "
        "in .culprit/build first.\n\n"
        "COMMAND is one test; `make check`, `make test`, `ctest`, `meson "
        "test`, `ninja test` and `prove` stand for the tests that they run.\n\n"
        "A signal, a sanitizer report, a broken contract or a timeout fails a "
        "test under every oracle.",
    .options = options,
    .end = "Exit status: 0 nothing failed, 1 tests failed, 2 usage, 3 "
           "environment, 4 no usable verdict (with --bisect 125 for both), 130 "
           "interrupted (the same "
           "command continues).",
    .runs_program = true};
