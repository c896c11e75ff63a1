// culprit since: which commit, and which hunks of it, made the tests fail.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rank.h"
#include "cli/since/since_print.h"
#include "command/cli.h"
#include "process/words.h"
#include "util/clock.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

enum { JOBS_MAX = 256, HUNK_TRIALS = 60 };

typedef struct {
  Texts tests, carry;
  const char *build, *store;
  int64_t session;
  double budget;
  int jobs;
  bool hunks, own_tests, json, quiet;
  const char *good;
  char **command; // the words behind --; NULL: none
} Options;

static const Option options[] = {
    {.title = "What to look for"},
    {"test", "NAME", &option_list, offsetof(Options, tests),
     "look for what made this test fail (default: all failing tests of the "
     "session)"},
    {"hunks", NULL, &option_flag, offsetof(Options, hunks),
     "split everything that changed since GOOD, without looking for a commit"},
    {"carry", "FILE", &option_list, offsetof(Options, carry),
     "take this file or directory to old versions as it is now, as those with "
     "tests are"},
    {"own-tests", NULL, &option_flag, offsetof(Options, own_tests),
     "try each version with its own tests"},
    {.title = "Execution"},
    {"build", "CMD", &option_text, offsetof(Options, build),
     "build a version by this command, with CC set to culprit-cc (default: as "
     "the session was built)"},
    {"budget", "SECONDS", &option_real, offsetof(Options, budget),
     "begin no build after this time and print what is known by then (default: "
     "no limit)"},
    {"jobs", "N", &option_int, offsetof(Options, jobs),
     "tests and compilers at once (default: as in the session)", .letter = 'j',
     .max = JOBS_MAX},
    {.title = "Output"},
    {"json", NULL, &option_flag, offsetof(Options, json),
     "print the result as JSON"},
    {.rows = option_quiet, .at = offsetof(Options, quiet)},
    {"session", "N", &option_number, offsetof(Options, session),
     "look at session N (default: the newest)"},
    {.rows = option_store, .at = offsetof(Options, store)},
    {0}};

// Everything of one search.
typedef struct {
  const Options *options;
  Suite suite; // the session, or the first run of the command
  LineSuspects suspects;
  Repository repo;
  Checkout checkout;
  Texts tests;          // that fail
  Texts words, command; // of `culprit run`
  Texts carried;        // files of tests, below the top directory
  const char *verb;     // "run" or "web"
  const char *build;    // in place
  char *dir;            // DIR of checkout.h
  Trials trials;
  CommitSearch search;
  TakenBack back;
  SinceResult result;
  double start;
  Arena arena;
} Since;

// --- the session's command ---------------------------------------------------

// Options of `culprit run` that a trial does not take over: with their
// arguments, and alone.
static const char *const left_with[] = {
    "--store", "--close", "--top",     "--color", "--since",
    "--test",  "--only",  "--exclude", "--known", NULL};
static const char *const left_alone[] = {"--json",   "--quiet",  "-q",
                                         "--watch",  "--try",    "--add",
                                         "--failed", "--bisect", NULL};

// A path in the user's tree becomes the same in the copy.
static const char *moved_path(Since *s, const char *word) {
  const char *equals = *word == '-' ? strchr(word, '=') : NULL;
  const char *path = equals ? equals + 1 : word;
  if (*path != '/' || !path_lies_in(path, s->repo.top))
    return word;
  const char *below = path_below(path, s->repo.top);
  return arena_printf(&s->arena, "%.*s%s/%s", (int)(path - word), word,
                      s->checkout.tree, below);
}

static bool is_left_out(const char *word, bool *argument) {
  const char *equals = strchr(word, '=');
  *argument = text_is_one_of(word, left_with);
  if (equals)
    for (size_t i = 0; left_with[i]; i++)
      if (!strncmp(word, left_with[i], (size_t)(equals - word)) &&
          !left_with[i][equals - word])
        return true;
  return *argument || text_is_one_of(word, left_alone);
}

// Files of tests that the command names: old versions get them.
static void carry_named(Since *s, const char *option, const char *file) {
  static const char *const names[] = {"--tests", "--expect", "--requests",
                                      NULL};
  if (!text_is_one_of(option, names))
    return;
  char *full = path_absolute(file, s->suite.cwd);
  if (path_lies_in(full, s->repo.top))
    array_push(&s->carried,
               arena_strdup(&s->arena, path_below(full, s->repo.top)));
  free(full);
}

static bool has_requests(const Words *words) {
  for (size_t i = 2; i < words->argc; i++)
    if (text_starts(words->argv[i], "--requests"))
      return true;
  return false;
}

// Returns an exit status.
static int take_command(Since *s) {
  Words words;
  char *line = arena_strdup(&s->arena, s->suite.command);
  bool parsed = words_parse(&words, line, &s->arena) && words.argc > 1;
  s->verb = parsed && !strcmp(words.argv[1], "web") ? "web" : "run";
  if (parsed && !strcmp(s->verb, "web") && !has_requests(&words))
    return cli_fail(EXIT_USAGE,
                    "session %lld explored the application, and exploring "
                    "another version makes other requests: list them, "
                    "`culprit web DIR --requests FILE`",
                    (long long)s->suite.session);
  if (!parsed || strcmp(words.argv[1], s->verb) != 0)
    return cli_fail(EXIT_USAGE,
                    "session %lld was made by `%s`: `culprit since` repeats "
                    "`culprit run`; give it a command behind --",
                    (long long)s->suite.session, s->suite.command);
  Texts *to = &s->words;
  bool exe = false, argument;
  for (size_t i = 2; i < words.argc; i++) {
    const char *word = words.argv[i];
    if (to == &s->words && !strcmp(word, "--")) {
      to = &s->command;
      continue;
    }
    if (to == &s->words && is_left_out(word, &argument)) {
      i += argument;
      continue;
    }
    exe |= to == &s->words && text_starts(word, "--exe");
    if (i + 1 < words.argc)
      carry_named(s, word, words.argv[i + 1]);
    array_push(to, moved_path(s, word));
  }
  if (exe && !s->options->build)
    return cli_fail(EXIT_USAGE,
                    "the session names its program (--exe), which you built: "
                    "say how with --build 'make'");
  if (exe)
    s->build = s->options->build;
  return EXIT_DONE;
}

static void add_options(Since *s) {
  const Options *o = s->options;
  if (o->build && !s->build) {
    array_push(&s->words, "--build");
    array_push(&s->words, o->build);
  }
  if (o->jobs) {
    array_push(&s->words, "--jobs");
    array_push(&s->words, arena_printf(&s->arena, "%d", o->jobs));
  }
}

// --- the failing tests -------------------------------------------------------

static const RunInfo *find_run(const Suite *suite, const char *test) {
  for (size_t i = 0; i < suite->nruns; i++)
    if (!strcmp(suite->runs[i].test, test))
      return &suite->runs[i];
  return NULL;
}

static int take_named_tests(Since *s) {
  const Texts *named = &s->options->tests;
  for (size_t i = 0; i < named->len; i++) {
    const RunInfo *run = find_run(&s->suite, named->items[i]);
    if (!run)
      return cli_fail(EXIT_USAGE,
                      "--test %s: the session has no such test; `culprit rank` "
                      "names the failing ones",
                      named->items[i]);
    if (run->verdict != VERDICT_FAIL)
      return cli_fail(EXIT_NO_VERDICT,
                      "--test %s: the verdict of this test is '%s', so there "
                      "is no change to look for",
                      named->items[i], verdict_name(run->verdict));
    array_push(&s->tests, run->test);
  }
  return EXIT_DONE;
}

static int take_tests(Since *s) {
  if (s->options->tests.len)
    return take_named_tests(s);
  for (size_t i = 0; i < s->suite.nruns; i++)
    if (s->suite.runs[i].verdict == VERDICT_FAIL)
      array_push(&s->tests, s->suite.runs[i].test);
  if (!s->tests.len)
    return cli_fail(EXIT_NO_VERDICT, "no test fails: there is no change to "
                                     "look for");
  return EXIT_DONE;
}

// --- showing -----------------------------------------------------------------

static void show_progress(void *context, const char *what, size_t builds) {
  const Since *s = context;
  if (s->options->quiet)
    return;
  escape_printf(stderr, "culprit: [%zu] %s\n", builds, what);
}

static int explain(const Since *s, CommitsEnd end) {
  const char *good = s->options->good ? s->options->good : "the good version";
  const char *log = s->trials.log;
  switch (end) {
  case COMMITS_PASS_NOW:
    return cli_fail(EXIT_NO_VERDICT,
                    "the failing tests pass in a copy of the tree as it is: "
                    "they depend on files that git ignores (name them with "
                    "--carry) or are flaky");
  case COMMITS_BROKEN_NOW:
    return cli_fail(EXIT_ENVIRONMENT,
                    "a copy of the tree as it is cannot be built and tested: "
                    "see %s; --carry FILE adds a file that git ignores, "
                    "--build CMD says how to build",
                    log);
  case COMMITS_GOOD_FAILS:
    return cli_fail(EXIT_NO_VERDICT,
                    "the tests fail in %s, too: name an earlier version, or "
                    "none to look for one",
                    good);
  case COMMITS_GOOD_BROKEN:
    return cli_fail(EXIT_ENVIRONMENT,
                    "%s cannot be built here: see %s; name another version",
                    good, log);
  case COMMITS_UNKNOWN_TESTS:
    return cli_fail(EXIT_NO_VERDICT,
                    "the failing tests do not exist in %s: name the files they "
                    "need with --carry",
                    good);
  case COMMITS_FLAKY:
    return cli_fail(EXIT_NO_VERDICT,
                    "the failing tests are flaky in %s: they cannot tell "
                    "versions apart",
                    good);
  case COMMITS_SPENT:
    return cli_fail(EXIT_NO_VERDICT,
                    "the budget is spent; the same command with a larger "
                    "--budget resumes");
  default:
    return cli_fail(EXIT_NO_VERDICT,
                    "the tests pass in no earlier version that can be built "
                    "here%s: name a good one, `culprit since GOOD`",
                    s->repo.shallow ? " (the clone is shallow: `git fetch "
                                      "--unshallow` gets the rest)"
                                    : "");
  }
}

// --- the search --------------------------------------------------------------

static void set_search(Since *s) {
  s->search = (CommitSearch){.checkout = &s->checkout,
                             .trials = &s->trials,
                             .tests = &s->tests,
                             .named = &s->carried,
                             .own_tests = s->options->own_tests};
}

static int find_commit(Since *s, CommitsEnd *end, Err *err) {
  CommitSearch *c = &s->search;
  if (commits_begin(c, end, err) || *end != COMMITS_FOUND)
    return *end == COMMITS_FOUND ? -1 : 0;
  if (commits_good(c, s->options->good, end, err) || *end != COMMITS_FOUND)
    return *end == COMMITS_FOUND ? -1 : 0;
  return s->options->hunks ? 0 : commits_bisect(c, end, err);
}

// What the guilty commit changed: against its (first) parent.
static int list_hunks(Since *s, Err *err) {
  CommitSearch *c = &s->search;
  char parent[OID_SIZE];
  if (s->options->hunks)
    return taken_back_list(&s->back, c->good, c->latest, err);
  if (!*c->guilty)
    return taken_back_list(&s->back, c->good, c->bad, err);
  char *name = mem_printf("%s^1", c->guilty);
  int rc = git_object(&s->checkout.repo, name, parent, err);
  free(name);
  return rc ? rc : taken_back_list(&s->back, parent, c->guilty, err);
}

static int find_hunks(Since *s, Err *err) {
  s->back = (TakenBack){.search = &s->search,
                        .trials = &s->trials,
                        .suspicion = line_suspects_of,
                        .context = &s->suspects,
                        .budget = HUNK_TRIALS};
  return list_hunks(s, err) ||
                 taken_back_minimize(&s->back, &s->result.back_end, err)
             ? -1
             : 0;
}

static int make_patch(Since *s, const char *tree, Str *out, Err *err) {
  const char *words[] = {"diff",
                         "--binary",
                         "--no-color",
                         "--no-ext-diff",
                         "--no-textconv",
                         "--src-prefix=a/",
                         "--dst-prefix=b/",
                         s->back.base,
                         tree,
                         NULL};
  return git_run(&s->checkout.repo, words, NULL, out, err);
}

// One for each hunk that is left, and one for all of them.
static int make_patches(Since *s, Str *all, Err *err) {
  char tree[OID_SIZE];
  int rc = make_patch(s, s->back.tree, all, err);
  for (size_t i = 0; !rc && i < s->back.hunks.len; i++) {
    Str one = {0};
    if (!s->back.hunks.items[i].kept)
      continue;
    rc = taken_back_one(&s->back, i, tree, err) ||
         make_patch(s, tree, &one, err);
    array_push(&s->result.patches,
               arena_strdup(&s->back.arena, str_text(&one)));
    str_release(&one);
  }
  return rc ? -1 : 0;
}

static bool is_tried(const Since *s, const char *test, bool *used) {
  for (size_t i = 0; i < s->tests.len; i++)
    if (!strcmp(s->tests.items[i], test)) {
      *used = s->search.used[i];
      return true;
    }
  return false;
}

// All tests without the hunks, against the session.
static int check_all(Since *s, Err *err) {
  Suite all;
  SinceResult *r = &s->result;
  if (trial_all(&s->trials, s->back.tree, "all tests without them", &all, err))
    return -1;
  r->checked = all.nruns > 0 && !s->back.on_commit;
  for (size_t i = 0; i < s->suite.nruns; i++) {
    const RunInfo *before = &s->suite.runs[i];
    const RunInfo *run = find_run(&all, before->test);
    bool used = false, passes = run && run->verdict == VERDICT_PASS;
    if (is_tried(s, before->test, &used)) {
      r->failing += used;
      r->fixed += used && passes;
      r->elsewhere += !used;
    } else if (before->verdict == VERDICT_PASS) {
      r->passing++;
      r->kept += passes;
      if (!passes && r->checked)
        array_push(&r->broken, before->test);
    }
  }
  suite_release(&all);
  return 0;
}

static int finish(Since *s, CommitsEnd end, Err *err) {
  SinceResult *r = &s->result;
  Str patch = {0};
  int rc = 0;
  r->search = &s->search;
  r->found = end;
  r->hunks_only = s->options->hunks;
  r->back = &s->back;
  r->suspects = &s->suspects;
  if (r->back_end == BACK_FOUND)
    rc = make_patches(s, &patch, err) || check_all(s, err) ? -1 : 0;
  r->patch = str_text(&patch);
  r->builds = s->trials.builds;
  r->reused = s->trials.reused;
  r->seconds = clock_now() - s->start;
  if (!rc)
    rc = s->options->json ? since_print_json(r, stdout, err)
                          : since_print_text(r, stdout, err);
  str_release(&patch);
  array_release(&r->patches);
  return rc;
}

static int search(Since *s, const TrialPlan *plan) {
  Err err = {0};
  CommitsEnd end = COMMITS_FOUND;
  if (trials_open(&s->trials, plan, &err))
    return cli_error(&err);
  set_search(s);
  if (find_commit(s, &end, &err))
    return cli_error(&err);
  if (end != COMMITS_FOUND && end != COMMITS_AMONG)
    return explain(s, end);
  s->result.commit_builds = s->trials.builds;
  if (find_hunks(s, &err) || finish(s, end, &err))
    return cli_error(&err);
  return EXIT_DONE;
}

// --- what it begins with -----------------------------------------------------

static int load_session(Since *s, Store *store) {
  Err err;
  if (store_load(store, s->options->session, &s->suite, &err))
    return cli_error(&err);
  if (repository_find(&s->repo, s->suite.cwd, &err))
    return cli_fail(EXIT_ENVIRONMENT,
                    "%s: %s; `culprit since` needs the history of the project",
                    s->suite.cwd, err.text);
  if (line_suspects_load(&s->suspects, store, s->suite.session, s->repo.top,
                         &err))
    return cli_error(&err);
  return EXIT_DONE;
}

// Behind --: the command runs once, in a copy of the tree as it is.
static int run_command(Since *s, TrialPlan *plan) {
  Texts none = {0};
  Trials first;
  Store *store;
  Err err = {0};
  TrialPlan all = *plan;
  all.tests = &none;
  if (trials_open(&first, &all, &err) ||
      trial_all(&first, s->checkout.now, "the tree as it is", &s->suite, &err))
    return cli_error(&err);
  trials_close(&first);
  if (!s->suite.nruns)
    return explain(s, COMMITS_BROKEN_NOW);
  if (store_open(&store, s->checkout.store, STORE_EXISTING, &err))
    return cli_error(&err);
  int rc = line_suspects_load(&s->suspects, store, 0, s->checkout.tree, &err);
  store_close(store);
  return rc ? cli_error(&err) : EXIT_DONE;
}

static int open_checkout(Since *s, Err *err) {
  char *store = store_find(s->options->store);
  char *full = path_absolute(store, NULL);
  s->dir = mem_printf("%s/since", full);
  free(full);
  free(store);
  for (size_t i = 0; i < s->options->carry.len; i++) {
    const char *path = cli_absolute(&s->arena, s->options->carry.items[i]);
    if (!path_lies_in(path, s->repo.top) || !fs_exists(path))
      return err_set(err, "--carry %s: there is no such file in %s",
                     s->options->carry.items[i], s->repo.top);
    array_push(&s->carried, path_below(path, s->repo.top));
  }
  return checkout_open(&s->checkout, &s->repo, s->dir, err);
}

static int since_here(Since *s) {
  const Options *o = s->options;
  Err err = {0};
  Store *store;
  int status = EXIT_DONE;
  if (!o->command) {
    status = cli_open_store(&store, o->store, STORE_EXISTING);
    if (status != EXIT_DONE)
      return status;
    status = load_session(s, store);
    store_close(store);
  } else if (repository_find(&s->repo, ".", &err)) {
    status = cli_error(&err);
  }
  if (status == EXIT_DONE && open_checkout(s, &err))
    status = cli_error(&err);
  if (status == EXIT_DONE && !o->command)
    status = take_command(s);
  for (char **word = o->command; word && *word; word++)
    array_push(&s->command, *word);
  if (status != EXIT_DONE)
    return status;
  add_options(s);
  if (checkout_snapshot(&s->checkout, &s->carried, &err))
    return cli_error(&err);
  TrialPlan plan = {.checkout = &s->checkout,
                    .below = s->repo.prefix,
                    .verb = s->verb ? s->verb : "run",
                    .words = &s->words,
                    .command = &s->command,
                    .build = s->build,
                    .tests = &s->tests,
                    .deadline = o->budget > 0 ? s->start + o->budget : 0,
                    .progress = show_progress,
                    .context = s};
  status = o->command ? run_command(s, &plan) : EXIT_DONE;
  if (status == EXIT_DONE)
    status = take_tests(s);
  return status == EXIT_DONE ? search(s, &plan) : status;
}

static void since_release(Since *s) {
  taken_back_release(&s->back);
  commits_release(&s->search);
  trials_close(&s->trials);
  checkout_close(&s->checkout);
  repository_release(&s->repo);
  line_suspects_release(&s->suspects);
  suite_release(&s->suite);
  array_release(&s->result.broken);
  array_release(&s->tests);
  array_release(&s->words);
  array_release(&s->command);
  array_release(&s->carried);
  free(s->dir);
  arena_release(&s->arena);
}

static int check_arguments(Options *o, int argc, char **argv, int first) {
  if (first < argc)
    o->good = argv[first++];
  if (first < argc)
    return options_wrong(&cmd_since, "'%s': write -- before the command",
                         argv[first]);
  if (o->hunks && !o->good)
    return options_wrong(&cmd_since, "--hunks: name the version to compare "
                                     "with, `culprit since --hunks GOOD`");
  return OPTIONS_TAKEN;
}

static int since_main(int argc, char **argv) {
  Options o = {0};
  int first, own = 1;
  while (own < argc && strcmp(argv[own], "--") != 0)
    own++;
  o.command = own + 1 < argc ? argv + own + 1 : NULL;
  int status = options_parse(&cmd_since, own, argv, &o, &first);
  if (status == OPTIONS_TAKEN)
    status = check_arguments(&o, own, argv, first);
  if (status == OPTIONS_TAKEN) {
    Since s = {.options = &o, .start = clock_now()};
    cli_resumes(argv);
    status = since_here(&s);
    since_release(&s);
  }
  array_release(&o.tests);
  array_release(&o.carry);
  return status;
}

const Command cmd_since = {
    "since",
    "find the commit and the hunks that made the tests fail",
    since_main,
    .usage = "[options] [GOOD] [-- COMMAND...]",
    .about =
        "Find the commit after which the failing tests of a session fail, and "
        "the hunks of it that matter: without them the failing tests pass. "
        "GOOD is a version where they pass; without it culprit goes back 1, 2, "
        "4, ... commits, tags first. COMMAND is a test as of `culprit run`, "
        "instead of the session's.\n\n"
        "Versions are built below .culprit/since. Your work tree, index, HEAD "
        "and stash are not touched. The same command resumes what was "
        "interrupted.",
    .options = options,
    .end = "Exit status: 0 found, 2 usage, 3 environment, 4 the tests do not "
           "fail, never passed or cannot tell, 130 interrupted (the same "
           "command continues)."};
