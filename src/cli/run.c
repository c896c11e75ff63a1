// culprit run: run the tests, store the runs, print the ranking.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/adapter.h"
#include "adapter/suites.h"
#include "adapter/tree.h"
#include "cli/cli.h"
#include "cli/confine_options.h"
#include "cli/rank.h"
#include "cli/rebuild.h"
#include "process/words.h"
#include "run/summary.h"
#include "run/testfile.h"
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
  const char *store, *color;
  bool quiet, help, no_build, watch;
  bool built; // by us, in the store
  const char *base; // what relative paths are relative to; NULL: here
  const char *root; // the session's directory; NULL: here
  ConfineOptions confine;
  Arena arena;
} Options;

enum {
  OPT_EXE = 256,
  OPT_TESTS,
  OPT_REFERENCE,
  OPT_EXPECT,
  OPT_ORACLE,
  OPT_TIMEOUT,
  OPT_MAX_OUTPUT,
  OPT_CWD,
  OPT_SCRATCH,
  OPT_FAILED,
  OPT_ADD,
  OPT_NO_RERUN,
  OPT_WATCH,
  OPT_NO_BUILD,
  OPT_SEGMENT,
  OPT_FAILURE_REGEX,
  OPT_ISOLATE,
  OPT_ONLY,
  OPT_EXCLUDE,
  OPT_TOP,
  OPT_STORE,
  OPT_COLOR,
  OPT_CONFINE,
  OPT_ALLOW_WRITE,
  OPT_ALLOW_CONNECT,
};

static const struct option long_options[] = {
    {"exe", required_argument, NULL, OPT_EXE},
    {"tests", required_argument, NULL, OPT_TESTS},
    {"reference", required_argument, NULL, OPT_REFERENCE},
    {"expect", required_argument, NULL, OPT_EXPECT},
    {"oracle", required_argument, NULL, OPT_ORACLE},
    {"jobs", required_argument, NULL, 'j'},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"max-output", required_argument, NULL, OPT_MAX_OUTPUT},
    {"cwd", required_argument, NULL, OPT_CWD},
    {"scratch", no_argument, NULL, OPT_SCRATCH},
    {"failed", no_argument, NULL, OPT_FAILED},
    {"add", no_argument, NULL, OPT_ADD},
    {"no-rerun", no_argument, NULL, OPT_NO_RERUN},
    {"no-build", no_argument, NULL, OPT_NO_BUILD},
    {"segment", required_argument, NULL, OPT_SEGMENT},
    {"failure-regex", required_argument, NULL, OPT_FAILURE_REGEX},
    {"isolate", no_argument, NULL, OPT_ISOLATE},
    {"watch", no_argument, NULL, OPT_WATCH},
    {"only", required_argument, NULL, OPT_ONLY},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"top", required_argument, NULL, OPT_TOP},
    {"store", required_argument, NULL, OPT_STORE},
    {"color", required_argument, NULL, OPT_COLOR},
    {"confine", no_argument, NULL, OPT_CONFINE},
    {"allow-write", required_argument, NULL, OPT_ALLOW_WRITE},
    {"allow-connect", required_argument, NULL, OPT_ALLOW_CONNECT},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void print_help(void) {
  puts("usage: culprit run [options] [-- CMD...]\n"
       "\n"
       "Runs the tests, stores the runs, prints which lines to look at\n"
       "first. Without --tests and CMD it finds the tests of the directory:\n"
       "automake, CMake (ctest), Meson, t/*.t (TAP), tests/*.sh. Tests\n"
       "inside a test program (of a framework, or functions named test_*)\n"
       "are told apart. A source tree, or a build with another compiler, is\n"
       "built with culprit-cc in .culprit/build first.\n"
       "\n"
       "which tests\n"
       "  --exe PROG         the program under test\n"
       "  --tests FILE       one test a line: the shell words after PROG\n"
       "                     (without --exe: a whole command); blank lines\n"
       "                     and lines with # are skipped\n"
       "  -- CMD...          one test; `make check`, `make test`, `ctest`,\n"
       "                     `meson test`, `ninja test`, `prove`: each of\n"
       "                     theirs\n"
       "  --segment REGEX    functions whose names match are tests inside a\n"
       "                     test program; known when it is compiled\n"
       "  --isolate          run each test of cmocka or Check in a process\n"
       "                     of its own\n"
       "  --no-build         never build a copy with culprit-cc\n"
       "  --failed           only those that failed last time; needs no\n"
       "                     other option\n"
       "  --add              add to the newest session\n"
       "  --watch            then wait for a rebuild, run what failed again,\n"
       "                     and so on; all of them once nothing fails\n"
       "\n"
       "what is right (default: exit status 0); a signal, a sanitizer report,\n"
       "a broken contract or a timeout always fails\n"
       "  --reference PROG   same standard output and exit status as PROG\n"
       "  --expect DIR       standard output as in DIR/<n>.out for test n,\n"
       "                     exit status as in DIR/<n>.status, if it is there\n"
       "  --oracle CMD       CMD says: 0 good, 125 skip, 126 and 127 cannot\n"
       "                     be executed, other bad; it runs in the test's\n"
       "                     directory with CULPRIT_STDOUT, CULPRIT_STDERR\n"
       "                     (files), CULPRIT_STATUS, CULPRIT_TEST\n"
       "  --failure-regex REGEX  lines of output that say that a test inside\n"
       "                     a test program failed\n"
       "\n"
       "how they run\n"
       "  -j N               N at once (default: one per core)\n"
       "  --timeout S        seconds for one test (default: 10, or less once\n"
       "                     others have ended; make check: 300)\n"
       "  --max-output SIZE  of one test, as 100M (default: 256M)\n"
       "  --cwd DIR          where they run (default: here)\n"
       "  --scratch          each in an empty directory of its own; the one\n"
       "                     of --cwd is in CULPRIT_DIR\n"
       "  --no-rerun         do not run failing tests again to find flaky\n"
       "                     ones\n"
       "  --confine          nothing they write stays, and they connect\n"
       "                     nowhere: for programs that nobody has seen run\n"
       CONFINE_HELP
       "\n"
       "what is shown\n"
       "  --only PATH --exclude PATH   which source files are ranked\n"
       "  --top N|all        how many lines (default: 10)\n"
       "  --color WHEN       auto, always, never\n"
       "  -q, --quiet        the ranking only\n"
       "  --store DIR        where runs are kept (default: .culprit)\n"
       "\n"
       "Exit: 0 nothing failed, 1 tests failed, 2 usage, 3 environment,\n"
       "4 no usable verdict, 130 interrupted (the same command continues).");
}

static void options_init(Options *o) {
  *o = (Options){0};
  rank_options_init(&o->rank);
  o->run.jobs = cli_default_jobs(JOBS_MAX);
  o->run.max_output = 256 * MB;
  o->run.rerun = true;
  o->run.segments = true;
}

static void options_release(Options *o) {
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

static int take_color(Options *o, const char *text) {
  o->color = text;
  return cli_color(text, STDOUT_FILENO) < 0 ? -1 : 0;
}

// -1: `arg` is nothing the option takes.
static int take_option(void *options, int opt, const char *arg) {
  Options *o = options;
  RunOptions *run = &o->run;
  // clang-format off
  switch (opt) {
  case 'h': o->help = true; return 0;
  case 'q': o->quiet = true; return 0;
  case 'j': return cli_jobs(arg, JOBS_MAX, &run->jobs);
  case OPT_EXE: run->exe = absolute(o, arg); return 0;
  case OPT_TESTS: run->tests = absolute(o, arg); return 0;
  case OPT_REFERENCE: run->reference = absolute(o, arg); return 0;
  case OPT_EXPECT: run->expect = absolute(o, arg); return 0;
  case OPT_ORACLE: run->oracle = arg; return 0;
  case OPT_TIMEOUT: run->timeout_given = true; return cli_seconds(arg, &run->timeout);
  case OPT_MAX_OUTPUT: return cli_size(arg, SIZE_MAX, &run->max_output);
  case OPT_CWD: run->cwd = absolute(o, arg); return 0;
  case OPT_SCRATCH: run->scratch = true; return 0;
  case OPT_FAILED: run->failed = true; return 0;
  case OPT_ADD: run->add = true; return 0;
  case OPT_NO_RERUN: run->rerun = false; return 0;
  case OPT_NO_BUILD: o->no_build = true; return 0;
  case OPT_SEGMENT: run->segment = arg; return 0;
  case OPT_FAILURE_REGEX: run->failure_regex = arg; return 0;
  case OPT_ISOLATE: run->isolate = true; return 0;
  case OPT_WATCH: o->watch = true; return 0;
  case OPT_ONLY: array_push(&o->rank.only, arg); return 0;
  case OPT_EXCLUDE: array_push(&o->rank.exclude, arg); return 0;
  case OPT_TOP: return cli_top(arg, &o->rank.top);
  case OPT_STORE: o->store = arg; return 0;
  case OPT_COLOR: return take_color(o, arg);
  case OPT_CONFINE: run->confine = &o->confine.plan; return 0;
  case OPT_ALLOW_WRITE: return confine_take_write(&o->confine, &o->arena, arg);
  case OPT_ALLOW_CONNECT: return confine_take_connect(&o->confine, arg);
  default: return -1;
  }
  // clang-format on
}

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

static int parse_arguments(Options *o, int argc, char **argv) {
  int first = cli_options(argc, argv, "+j:qh", long_options, take_option, o);
  confine_options_end(&o->confine);
  if (first < 0 || first >= argc)
    return first < 0 ? -1 : 0;
  if (strcmp(argv[first - 1], "--") != 0) {
    cli_fail(EXIT_USAGE, "'%s': a command to run comes after --", argv[first]);
    return -1;
  }
  o->run.command = argv + first;
  if (command_is(o->run.command, "ctest", NULL))
    take_test_dir(o, argv + first, (size_t)(argc - first));
  return 0;
}

static int wrong(const char *message) {
  cli_fail(EXIT_USAGE, "%s", message);
  return -1;
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
    return wrong("--reference, --expect and --oracle: only one of them");
  if (o->tests && o->command)
    return wrong("--tests and a command after --: only one of them");
  if (o->exe && !o->tests)
    return wrong("--exe needs --tests (or give the whole command after --)");
  if (o->reference && !o->exe)
    return wrong("--reference needs --exe: it takes that program's place");
  if (o->failed && o->add)
    return wrong("--failed and --add: only one of them");
  if (check_regex("--segment", o->segment))
    return -1;
  return check_regex("--failure-regex", o->failure_regex);
}

// `culprit run --failed` alone: the options of the command that made the newest
// session, then those of this one.
static int take_stored_options(Options *o, Store *store, int argc, char **argv,
                               Err *err) {
  Suite suite = {0};
  Options fresh;
  Words words;
  options_init(&fresh);
  int rc = store_load(store, 0, &suite, err);
  if (!rc) {
    char *line = arena_strdup(&fresh.arena, suite.command);
    fresh.base = fresh.root = arena_strdup(&fresh.arena, suite.cwd);
    fresh.run.cwd = fresh.base;
    if (!words_parse(&words, line, &fresh.arena) || words.argc < 2 ||
        parse_arguments(&fresh, (int)words.argc - 1, words.argv + 1))
      rc = err_set(err, "the newest session was not made by `culprit run`: "
                        "name the tests (--tests FILE)");
  }
  suite_release(&suite);
  fresh.run.add = false;
  fresh.base = NULL;
  if (!rc && parse_arguments(&fresh, argc, argv))
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
  if (!r->finished && r->already && !r->fresh && !be_quiet) {
    if (r->options->failed)
      fprintf(stderr, "running what failed; %zu test%s kept\n", r->already,
              r->already == 1 ? " is" : "s are");
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
    fputs("\r\033[K", stderr);
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

static int report_no_map(const RunOptions *o) {
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

// What tests were found inside of tests.
static void describe_segments(const Options *o, const Runner *r, Str *out) {
  if (r->split_text)
    str_addf(out, "  %s\n", r->split_text);
  if (r->split > 1)
    str_addf(out, "  %zu more test%s made of %zu\n", r->split - 1,
             r->split == 2 ? " is" : "s are", r->split_others);
  if (r->undecided)
    str_addf(out,
             "  %zu test%s, but no part of %s can be blamed: %s as one\n"
             "  (--failure-regex says which lines of output mean failure)\n",
             r->undecided, r->undecided == 1 ? " fails" : "s fail",
             r->undecided == 1 ? "it" : "them",
             r->undecided == 1 ? "it counts" : "each counts");
  if (o->run.segment && !r->marked)
    str_addf(out,
             "  no function matching '%s' was found when %s was compiled%s\n",
             o->run.segment,
             o->run.exe       ? o->run.exe
             : o->run.command ? o->run.command[0]
                              : "the tests",
             o->built ? "" : ";\n  build it again with CULPRIT_SEGMENT set "
                             "to that expression");
}

// The summary, and what to do if there is nothing to rank. -1: rank it.
static int report_suite(const Suite *suite, const Options *o, const Runner *r,
                        double seconds, const char *store) {
  VerdictCounts t = suite_count(suite);
  size_t fail = t.verdicts[VERDICT_FAIL], pass = t.verdicts[VERDICT_PASS];
  if (!o->quiet) {
    Str text = {0};
    summary_write(suite, seconds, &text);
    describe_segments(o, r, &text);
    describe_limit(r, &text);
    if (!fail) {
      summary_missing_spectra(suite, &text);
      summary_notes(suite, &text);
    }
    escape_printf(stdout, "%sstore: %s\n", text.data, store);
    str_release(&text);
    fflush(stdout);
  }
  if (t.judged && t.no_spectrum == t.judged && !suite->nentities)
    return report_no_map(&o->run);
  if (fail)
    return -1;
  if (!pass || t.verdicts[VERDICT_FLAKY] || t.verdicts[VERDICT_ERROR])
    return cli_fail(EXIT_NO_VERDICT,
                    "no test failed each time it ran, but not all passed: "
                    "see the reasons above, then `culprit run --failed`");
  if (!o->quiet)
    puts("Nothing failed, so there is nothing to rank. Add a test that shows\n"
         "the fault, or an oracle that sees it: --reference, --expect, "
         "--oracle.");
  return EXIT_DONE;
}

static int rank(const Options *o, Store *store, int64_t session) {
  RankOptions rank = o->rank;
  rank.session = session;
  rank.color = cli_color(o->color, STDOUT_FILENO) == 1;
  int status = rank_print(store, &rank, stdout);
  return status == EXIT_DONE ? EXIT_FAILED : status;
}

static int report(const Options *o, Store *store, const Runner *r,
                  double seconds) {
  Suite suite = {0};
  Err err = {0};
  if (r->warning.text[0])
    cli_warn("%s", r->warning.text);
  if (store_load(store, r->session, &suite, &err))
    return cli_error(&err);
  int status = report_suite(&suite, o, r, seconds, store_dir(store));
  suite_release(&suite);
  return status < 0 ? rank(o, store, r->session) : status;
}

// --- running ----------------------------------------------------------------

// A session of an earlier build cannot be continued: once more, afresh.
static int run_adapter(const Adapter *a, Runner *r, Err *err) {
  int rc = a->run(r, err);
  if (!rc || !r->stale)
    return rc;
  cli_warn("the program was built anew since: this is a new session");
  r->fresh = true;
  return a->run(r, err);
}

static int run_session(const Options *o, const Adapter *adapter, Runner *r) {
  Err err = {0}, second = {0};
  double start = clock_now();
  int rc = run_adapter(adapter, r, &err);
  // After an error a tests file goes on where it was: the key of its session
  // tells whether it is still the same work. Other sources start anew.
  bool complete = !r->interrupted && !(rc && o->run.tests);
  clear_progress();
  if (r->confines)
    confine_explain(r->confines, (size_t)o->run.jobs);
  int closed = runner_close(r, complete, &second);
  stop_orderly(0);
  if (r->interrupted && !closed)
    return report_interruption(r);
  if (rc || closed)
    return cli_error(rc ? &err : &second);
  return report(o, r->store, r, clock_now() - start);
}

// Which functions are tests is known when they are compiled: a copy that was
// built with another expression is no good.
static int prepare_segment(const Options *o, const Tree *tree,
                           const char *store, Err *err) {
  char *path = mem_printf("%s/build.segment", store);
  const char *want = o->run.segment ? o->run.segment : "";
  Str had = {0};
  Err ignored;
  int rc = 0;
  if (fs_read(path, 0, &had, &ignored))
    str_clear(&had);
  if (strcmp(str_text(&had), want) != 0) {
    if (fs_exists(tree->dir))
      rc = dir_make_empty(tree->dir, err);
    rc = rc ? rc : fs_write(path, want, strlen(want), err);
  }
  str_release(&had);
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
                   prepare_segment(o, &tree, store, &err)
               ? -1
               : tree_build(&tree, o->run.jobs, log, &err);
  scratch_close(&guarded);
  free(log);
  o->run.cwd = absolute(o, tree.dir);
  o->built = true;
  if (!strcmp(tree.kind, "make") && scripts_there(o->run.cwd))
    o->run.command = NULL; // they can be told apart, make's tests cannot
  if (!strcmp(tree.kind, "make"))
    o->run.make_cc = tree_make_variable(&tree, &o->arena);
  tree_release(&tree);
  return rc ? cli_error(&err) : 0;
}

static int choose_adapter(Options *o, const Adapter **adapter) {
  Err err = {0};
  if (adapter_find(adapter, &o->run, &err))
    return cli_error(&err);
  if ((*adapter)->run == automake_run && o->run.confine) {
    wrong("--confine: `make check` starts its tests itself; give them as a "
          "tests file");
    return cli_usage_hint("run");
  }
  bool oracle = o->run.reference || o->run.expect || o->run.oracle;
  if ((*adapter)->run == automake_run && oracle) {
    wrong("`make check` judges its tests itself: no oracle option");
    return cli_usage_hint("run");
  }
  if (o->run.timeout <= 0)
    o->run.timeout = (*adapter)->timeout;
  return 0;
}

// With a store (--failed, --add), or without: it is then made once everything
// that the options name was found to be there.
static int run_tests(Options *o, const char *dir, Store *store,
                     const char *command) {
  Err err = {0};
  const Adapter *adapter;
  stop_orderly(STOP_SECONDS);
  if (o->run.segment)
    setenv("CULPRIT_SEGMENT", o->run.segment, 1);
  int status = build_tree(o, dir);
  if (!status)
    status = choose_adapter(o, &adapter);
  if (status)
    return status;
  char *root = path_absolute(".", o->root);
  Runner r = {.command = command, .root = root, .progress = print_progress};
  Store *made = NULL;
  if (runner_open(&r, &o->run, &err) ||
      (!store && store_open(&made, dir, STORE_CREATE, &err))) {
    status = cli_error(&err);
  } else {
    r.store = store ? store : made;
    status = run_session(o, adapter, &r);
  }
  store_close(made);
  free(r.split_text);
  free(root);
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
  if (alone && take_stored_options(o, store, argc, argv, &err))
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

// --- watching ---------------------------------------------------------------

// The words of this command without --watch.
static void words_of_round(WordList *out, int argc, char **argv) {
  array_push(out, "culprit");
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "--watch") != 0)
      array_push(out, argv[i]);
  array_push(out, NULL);
}

static void words_of_failed(WordList *out, const char *store) {
  const char *const words[] = {"culprit", "run", "--failed",
                               "--store", store, NULL};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    array_push(out, (char *)words[i]);
}

// What a rebuild changes: the program, or if none is named, the sources (those
// adapters build first).
static void files_to_watch(const Options *o, const char *dir, WordList *files,
                           Arena *arena) {
  Store *store;
  Suite suite = {0};
  Err err = {0};
  if (o->run.exe) {
    array_push(files, (char *)o->run.exe);
    return;
  }
  if (store_open(&store, dir, STORE_EXISTING, &err))
    return;
  if (!store_load(store, 0, &suite, &err))
    for (size_t i = 0; i < suite.nsources; i++)
      array_push(files, arena_strdup(arena, suite.sources[i].path));
  suite_release(&suite);
  store_close(store);
}

static int watch(const Options *o, int argc, char **argv) {
  char *dir = store_find(o->store);
  WordList all = {0}, failed = {0}, files = {0};
  Arena arena = {0};
  words_of_round(&all, argc, argv);
  words_of_failed(&failed, dir);
  int status = rebuild_round(&all);
  while (status == EXIT_DONE || status == EXIT_FAILED ||
         status == EXIT_NO_VERDICT) {
    files.len = 0;
    files_to_watch(o, dir, &files, &arena);
    if (!files.len) {
      status = cli_fail(EXIT_ENVIRONMENT, "--watch: there is nothing to watch");
      break;
    }
    fprintf(stderr, "watching %zu file%s; Ctrl-C ends it\n", files.len,
            files.len == 1 ? "" : "s");
    rebuild_wait(&files);
    bool some = status == EXIT_FAILED;
    status = rebuild_round(some ? &failed : &all);
    if (some && status == EXIT_DONE) {
      fprintf(stderr, "what failed passes now: running all tests\n");
      status = rebuild_round(&all);
    }
  }
  array_release(&all);
  array_release(&failed);
  array_release(&files);
  arena_release(&arena);
  free(dir);
  return status;
}

int cmd_run(int argc, char **argv) {
  Options o;
  options_init(&o);
  int status;
  if (parse_arguments(&o, argc, argv) || check_options(&o.run)) {
    status = cli_usage_hint("run");
  } else if (o.help) {
    print_help();
    status = EXIT_DONE;
  } else {
    if (!o.run.cwd)
      o.run.cwd = absolute(&o, ".");
    be_quiet = o.quiet;
    cli_resumes(argv);
    show_progress = isatty(STDERR_FILENO) && !o.quiet;
    status = o.watch ? watch(&o, argc, argv) : run_with_options(&o, argc, argv);
  }
  options_release(&o);
  return status;
}
