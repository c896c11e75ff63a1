// The adapter `automake`: the project's own `make check`, test by test.
//
// We run make with the log drivers of all its Makefiles overridden, so that
// every test is started by `culprit automake-driver` (cli/automake_driver.c).
// The driver runs the project's own driver unchanged, with run files going to a
// directory of the test's own, and leaves a record in the spool; we take the
// records into the store while make is running.
//
// A closer look starts the drivers itself, as make had started them
// (driver_context.h): make would remove the logs of all tests.
//
// Which failures make check found is known from the records; make's own status
// only tells whether something else went wrong (a build error).
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/adapter.h"
#include "adapter/driver_context.h"
#include "adapter/logdriver.h"
#include "adapter/spool.h"
#include "adapter/suites.h"
#include "oracle/contract_failures.h"
#include "oracle/failure.h"
#include "oracle/sanitizer.h"
#include "process/words.h"
#include "run/testfile.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  LOOK = 100,      // milliseconds between looks into the spool
  GRACE = 3,       // seconds for make to clean up when interrupted
  TAIL_LINES = 15, // of make's output in messages
  TAIL_BYTES = 1400,
};

typedef struct {
  Runner *runner;
  char *dir; // the build directory
  char *spool, *log;
  LogDrivers drivers;
  TestTimes times;  // of an earlier session, to share tests out by
  unsigned *shards; // of the tests that have one
  WordList argv;
  Arena arena;
  bool bad; // some test failed as make sees it
  Outcome make;
} MakeCheck;

// --- finding out ------------------------------------------------------------

bool automake_detect(const RunOptions *o) {
  if (o->command && !command_is(o->command, "make", "check"))
    return false;
  char *dir = suite_dir(o);
  bool yes = is_automake_dir(dir);
  free(dir);
  return yes;
}

// --- judging ----------------------------------------------------------------

// Its log is what it wrote.
static Trial trial_of(const MakeCheck *c, const SpoolResult *result,
                      const Outcome *end) {
  return (Trial){.root = c->runner->root,
                 .out = result->log,
                 .merged = true,
                 .outcome = end};
}

static void add_result_failure(const SpoolResult *result, const Trial *t,
                               Run *run) {
  Str message = {0};
  str_add(&message, result->result);
  if (result->status >= 0)
    str_addf(&message, " (exit status %d)", result->status);
  failure_add_status(run, t, message.data, result->result);
  str_release(&message);
}

static void judge(const MakeCheck *c, const SpoolResult *result, Run *run) {
  static const char *const bad[] = {"FAIL", "ERROR", "XPASS", NULL};
  static const char *const skip[] = {"SKIP", "XFAIL", NULL};
  const char *root = c->runner->root;
  Outcome end = {.end = result->end, .status = result->status};
  Trial t = trial_of(c, result, &end);
  run->status = result->status;
  run->seconds = result->seconds;
  run->verdict = VERDICT_FAIL;
  run_note_signal(run, result->sent);
  bool killed = result->end != END_EXIT && result->end != END_UNSTARTED &&
                result->end != END_SIGNAL;
  bool report =
      !text_is_one_of(result->result, skip) &&
      (sanitizer_scan(result->log, root, run) || contract_failed(run));
  if (killed)
    failure_add_end(run, &end, root, c->runner->timeout, 0);
  else if (report)
    return;
  else if (text_is_one_of(result->result, bad))
    add_result_failure(result, &t, run);
  else if (text_is_one_of(result->result, skip))
    run->verdict = VERDICT_SKIP;
  else if (!strcmp(result->result, "PASS"))
    run->verdict = VERDICT_PASS;
  else {
    run->verdict = VERDICT_ERROR;
    run_add_note(run, "its log driver left no result in the .trs file");
  }
}

// --- limits -----------------------------------------------------------------

static int write_config(MakeCheck *c, Err *err) {
  const Runner *r = c->runner;
  SpoolConfig config = {.timeout = r->timeout,
                        .limit = runner_limit(r, r->timeout),
                        .rerun = r->options->rerun,
                        .shard = (int)r->options->shard.k,
                        .shards = (int)r->options->shard.n,
                        .root = c->dir,
                        .source = (char *)r->root,
                        .close = ""};
  return spool_write_config(c->spool, &config, err);
}

// Tests that start from now on get the limit that follows from this one.
static int note_limits(MakeCheck *c, const SpoolRecord *rec, const Run *run,
                       Err *err) {
  Runner *r = c->runner;
  double before = runner_limit(r, r->timeout);
  if (run->verdict == VERDICT_PASS)
    runner_note_duration(r, run->seconds);
  if (rec->overran > 0) {
    r->limit = rec->overran;
    r->overran++;
    r->hung += rec->results[0].end == END_TIMEOUT;
  }
  return runner_limit(r, r->timeout) == before ? 0 : write_config(c, err);
}

// --- records ----------------------------------------------------------------

static int run_of_record(MakeCheck *c, const SpoolRecord *rec, int attempt,
                         Run *run, Segments *segments, Err *err) {
  const SpoolResult *result = &rec->results[attempt];
  Outcome end = {.end = result->end, .status = result->status};
  Trial t = trial_of(c, result, &end);
  run->test = mem_strdup(rec->test);
  run->command = mem_strdup(rec->command);
  int rc = runner_collect(c->runner, result->run, run, segments, err);
  if (!rc) {
    judge(c, result, run);
    failure_add_output(run, &t);
    runner_judge_segments(c->runner, segments, run, &t, rec->test, attempt > 0);
  }
  fs_remove_tree(result->run);
  if (attempt || c->runner->close) // make has the first one's log
    unlink(result->log);
  return rc;
}

static void take_context(Runner *r, const SpoolRecord *rec) {
  Str text = {0};
  Err ignored;
  if (*rec->context && !fs_read(rec->context, 0, &text, &ignored)) {
    size_t size = text.len;
    array_push(&r->contexts,
               (TestContext){mem_strdup(rec->test), str_take(&text), size});
  }
  str_release(&text);
  unlink(rec->context);
}

// Passed twice alone, after it had failed beside others: that counts.
static int add_undisturbed(MakeCheck *c, Run *runs, const Segments *segments,
                           size_t undecided, Err *err) {
  Segments only[2] = {segments[2], {0}};
  c->runner->undecided = undecided;
  runner_note_disturbed(c->runner, &runs[2], &runs[0]);
  return runner_add_segments(c->runner, &runs[2], NULL, only, err);
}

static int take_record(MakeCheck *c, const SpoolRecord *rec, Err *err) {
  Run runs[ATTEMPTS_MOST] = {0};
  Segments segments[ATTEMPTS_MOST] = {0};
  int n = rec->nresults, rc = 0;
  size_t undecided = c->runner->undecided;
  if (!c->runner->close)
    take_context(c->runner, rec);
  for (int i = 0; !rc && i < n; i++)
    rc = run_of_record(c, rec, i, &runs[i], &segments[i], err);
  Repeat last = {.attempt = n - 1};
  Verdict first = runs[0].verdict;
  if (!rc && repeat_was_disturbed(&last, runs[ATTEMPTS_MOST - 1].verdict))
    rc = add_undisturbed(c, runs, segments, undecided, err);
  else if (!rc)
    rc = runner_add_segments(c->runner, &runs[0], n > 1 ? &runs[1] : NULL,
                             segments, err);
  c->bad = c->bad || first == VERDICT_FAIL || first == VERDICT_ERROR;
  rc = rc || note_limits(c, rec, &runs[0], err) ? -1 : 0;
  for (int i = 0; i < ATTEMPTS_MOST; i++) {
    run_release(&runs[i]);
    segments_release(&segments[i]);
  }
  return rc;
}

static int take_records(MakeCheck *c, Err *err) {
  for (;;) {
    SpoolRecord rec = {0};
    int rc = spool_take_record(c->spool, &rec, err);
    int taken = rc > 0 ? take_record(c, &rec, err) : rc;
    spool_record_release(&rec);
    if (rc <= 0 || taken)
      return taken;
  }
}

// --- make -------------------------------------------------------------------

static int find_drivers(MakeCheck *c, Err *err) {
  logdrivers_find(&c->drivers, c->dir);
  if (c->drivers.drivers.len)
    return 0;
  return err_set(
      err,
      "%s: its Makefiles have no log driver (automake's old serial "
      "test harness, or no TESTS at all), so culprit cannot tell the "
      "tests apart; remove `serial-tests` from AM_INIT_AUTOMAKE, run "
      "`autoreconf` and configure again, or list the tests in a "
      "file (--tests FILE)",
      c->dir);
}

static bool has_jobs_option(char *const *command) {
  for (size_t i = 1; command && command[i]; i++)
    if (text_starts(command[i], "-j") || text_starts(command[i], "--jobs"))
      return true;
  return false;
}

static void build_argv(MakeCheck *c) {
  const RunOptions *o = c->runner->options;
  if (o->command) {
    array_push_all(&c->argv, o->command);
  } else {
    const char *make = getenv("MAKE"); // may hold options
    Words w;
    if (!make || !words_parse(&w, make, &c->arena) || !w.argc)
      words_parse(&w, "make", &c->arena);
    array_push_all(&c->argv, w.argv);
    array_push(&c->argv, "check");
  }
  array_push(&c->argv, "-k");
  if (!has_jobs_option(o->command))
    array_push(&c->argv, arena_printf(&c->arena, "-j%d", o->jobs));
  Str ours = {0};
  char self[PATH_MAX] = "culprit";
  readlink("/proc/self/exe", self, sizeof self - 1);
  words_quote(&ours, self);
  str_add(&ours, " automake-driver");
  logdrivers_override(&c->drivers, ours.data, &c->argv);
  array_push(&c->argv, NULL);
  str_release(&ours);
}

// Tests that need not run are named to the driver, with the result it is to
// report to make.
static int write_done(MakeCheck *c, Err *err) {
  static const char *const words[VERDICTS] = {
      [VERDICT_PASS] = "PASS",   [VERDICT_FAIL] = "FAIL",
      [VERDICT_SKIP] = "SKIP",   [VERDICT_FLAKY] = "FAIL",
      [VERDICT_ERROR] = "ERROR",
  };
  Runner *r = c->runner;
  Str text = {0};
  for (size_t i = 0; i < r->done.len; i++) {
    Verdict v = r->done.items[i].verdict;
    str_addf(&text, "%s %s\n", words[v], r->done.items[i].test);
    r->already += !r->done.items[i].inferred;
    c->bad = c->bad || (v != VERDICT_PASS && v != VERDICT_SKIP);
  }
  char *path = mem_printf("%s/done", c->spool);
  int rc = fs_write(path, str_text(&text), text.len, err);
  free(path);
  str_release(&text);
  return rc;
}

// Which tests there are, only make knows: the driver asks for the shard of each.
static int write_shards(const MakeCheck *c, Err *err) {
  Str text = {0};
  for (size_t i = 0; i < c->times.n; i++)
    str_addf(&text, "%u %s\n", c->shards[i], c->times.names[i]);
  char *path = mem_printf("%s/shards", c->spool);
  int rc = fs_write(path, str_text(&text), text.len, err);
  free(path);
  str_release(&text);
  return rc;
}

// Before the session begins: its key says how tests are shared out.
static int share_out(MakeCheck *c, Err *err) {
  Runner *r = c->runner;
  if (!r->options->shard.n)
    return 0;
  if (test_times_load(&c->times, r->store, err))
    return -1;
  c->shards = arena_array(&c->arena, unsigned, c->times.n);
  shards_assign(&c->times, c->times.names, c->times.n, r->options->shard.n,
                c->shards);
  r->shards = shards_digest(c->times.names, c->shards, c->times.n);
  return 0;
}

static int prepare(MakeCheck *c, Err *err) {
  Runner *r = c->runner;
  c->spool = arena_printf(&c->arena, "%s/spool", r->scratch.dir);
  c->log = arena_printf(&c->arena, "%s/make-check.log", store_dir(r->store));
  char *log = path_absolute(c->log, NULL);
  c->log = arena_strdup(&c->arena, log);
  free(log);
  if (dir_make_empty(c->spool, err) || write_config(c, err) ||
      write_done(c, err) || (r->options->shard.n && write_shards(c, err)))
    return -1;
  build_argv(c);
  return 0;
}

// Our own make must not take the options of one that runs us.
static char **make_environment(MakeCheck *c) {
  char *extra[] = {arena_printf(&c->arena, SPOOL_ENV "=%s", c->spool),
                   "PYTHONUNBUFFERED=1", NULL};
  char **env = environment_with(extra, &c->arena);
  if (!getenv("MAKELEVEL"))
    return env;
  size_t n = 0;
  for (size_t i = 0; env[i]; i++)
    if (!text_starts(env[i], "MAKEFLAGS=") && !text_starts(env[i], "MFLAGS=") &&
        !text_starts(env[i], "MAKELEVEL="))
      env[n++] = env[i];
  env[n] = NULL;
  return env;
}

// The tests hang below drivers of ours, which clean up when asked to end.
static int interrupt(MakeCheck *c, Err *err) {
  Runner *r = c->runner;
  r->interrupted = true;
  pool_terminate(r->pool, 0);
  size_t slot;
  for (double end = clock_now() + GRACE; clock_now() < end;)
    if (pool_wait(r->pool, LOOK, &slot, &c->make) == POOL_ENDED)
      break;
  return take_records(c, err);
}

static int watch_make(MakeCheck *c, Err *err) {
  for (;;) {
    size_t slot;
    PoolEvent event = pool_wait(c->runner->pool, LOOK, &slot, &c->make);
    if (event == POOL_INTERRUPTED)
      return interrupt(c, err);
    if (take_records(c, err))
      return -1;
    if (event == POOL_ENDED)
      return 0;
  }
}

static int run_make(MakeCheck *c, Err *err) {
  static const Redirect merge = {.mode = REDIRECT_DUP, .fd = 2, .from = 1};
  Test test = {.name = "make", .argv = c->argv.items};
  Spawn spawn = {.env = make_environment(c),
                 .cwd = c->runner->options->cwd,
                 .out = c->log};
  test_prepare(&test, NULL, &c->arena, &spawn);
  spawn.redirects = &merge;
  spawn.nredirects = 1;
  pool_start(c->runner->pool, 0, &spawn);
  int rc = watch_make(c, err);
  pool_kill_all(c->runner->pool);
  return rc;
}

// --- what make itself had to say --------------------------------------------

// "make[2]: *** [Makefile:9: foo.o] Error 1": is that something else than a
// failing test?
static bool is_other_error(const char *line) {
  static const char *const ours[] = {"check",          "check-TESTS",
                                     "check-am",       "check-recursive",
                                     "test-suite.log", NULL};
  const char *at = strstr(line, "*** [");
  if (!at)
    return strstr(line, "*** No rule to make target") != NULL;
  const char *end = strchr(at, ']');
  if (!end)
    return false;
  const char *target = end;
  while (target > at && target[-1] != ' ' && target[-1] != '[')
    target--;
  char name[256];
  size_t n = (size_t)(end - target);
  if (n >= sizeof name)
    return true;
  memcpy(name, target, n);
  name[n] = '\0';
  return !text_is_one_of(name, ours) && !text_ends(name, ".log");
}

// The start of the first line that reports such an error; NULL: none.
static const char *find_other_error(const char *text) {
  for (const char *line = text; *line;) {
    size_t n = strcspn(line, "\n");
    char copy[512];
    snprintf(copy, sizeof copy, "%.*s", (int)n, line);
    if (is_other_error(copy))
      return line;
    line += n + (line[n] == '\n');
  }
  return NULL;
}

// The last lines of `text` up to `end`.
static const char *tail_start(const char *text, const char *end) {
  const char *at = end;
  for (int lines = 0; at > text && end - at < TAIL_BYTES; at--)
    if (at[-1] == '\n' && ++lines > TAIL_LINES)
      break;
  return at;
}

// make failed although no test did.
static int other_failure(const MakeCheck *c, const char *text, Err *err) {
  const char *error = find_other_error(text);
  const char *end = error ? error + strcspn(error, "\n") : text + strlen(text);
  const char *start = tail_start(text, end);
  return err_set(err,
                 "`make check` failed, but not because of a failing test; "
                 "from %s:\n%.*s",
                 c->log, (int)(end - start), start);
}

// Tests failed, and make complains about something else besides: say so.
static void warn_about_other_errors(MakeCheck *c, const char *text) {
  const char *error = find_other_error(text);
  if (error)
    err_set(&c->runner->warning,
            "make reports other errors besides failing tests, so some "
            "tests may not have run: "
            "%.*s (see %s)",
            (int)strcspn(error, "\n"), error, c->log);
}

static int check_make(MakeCheck *c, Err *err) {
  Runner *r = c->runner;
  if (c->make.end == END_UNSTARTED)
    return err_set(err, "make check: %s", c->make.problem);
  if (!r->finished && !r->already && !r->options->shard.n &&
      c->make.status == 0)
    return err_set(err, "`make check` ran no test in %s; its output is in %s",
                   c->dir, c->log);
  if (c->make.status == 0)
    return 0;
  int rc = 0;
  Str text = {0};
  Err ignored;
  fs_read(c->log, 0, &text, &ignored);
  // Whether a test of another shard fails is not known here.
  if (c->bad || (r->options->shard.n && r->finished))
    warn_about_other_errors(c, str_text(&text));
  else
    rc = other_failure(c, str_text(&text), err);
  str_release(&text);
  return rc;
}

// --- a closer look ----------------------------------------------------------

typedef struct {
  char *spool;
  Spawn spawn;
  bool busy;
  Arena arena; // of this test
} AgainSlot;

static int by_place(const void *a, const void *b, void *hooks) {
  const CloseHooks *close = hooks;
  const TestContext *x = *(const TestContext *const *)a;
  const TestContext *y = *(const TestContext *const *)b;
  size_t at = close->place(close->context, x->test);
  size_t other = close->place(close->context, y->test);
  return at != other ? (at > other) - (at < other) : strcmp(x->test, y->test);
}

// Each test has a configuration of its own.
static int write_again(MakeCheck *c, AgainSlot *s, const char *test, Err *err) {
  const Runner *r = c->runner;
  double limit = r->close->limit(r->close->context, test, r->timeout);
  SpoolConfig config = {.timeout = limit,
                        .limit = limit,
                        .source = (char *)r->root,
                        .root = c->dir,
                        .close = (char *)r->close->dir};
  return dir_make_empty(s->spool, err) ||
                 spool_write_config(s->spool, &config, err)
             ? -1
             : 0;
}

static char **words_again(const DriverContext *context, Arena *arena) {
  size_t n = 0;
  while (context->argv[n])
    n++;
  char **argv = arena_array(arena, char *, n + 3);
  char self[PATH_MAX] = "culprit";
  readlink("/proc/self/exe", self, sizeof self - 1);
  argv[0] = arena_strdup(arena, self);
  argv[1] = "automake-driver";
  memcpy(argv + 2, context->argv, n * sizeof *argv);
  return argv;
}

static char **variables_again(const DriverContext *context, char *spool,
                              Arena *arena) {
  size_t n = 0;
  while (context->env[n])
    n++;
  char **env = arena_array(arena, char *, n + 2);
  env[0] = spool;
  memcpy(env + 1, context->env, n * sizeof *env);
  return env;
}

// A test whose context cannot be read is passed over.
static int start_again(MakeCheck *c, size_t slot, AgainSlot *s,
                       const TestContext *t, Err *err) {
  DriverContext context;
  Arena *a = &s->arena;
  arena_release(a);
  if (!driver_context_read(&context, t->text, t->size, a))
    return 0;
  if (write_again(c, s, t->test, err))
    return -1;
  char *spool = arena_printf(a, SPOOL_ENV "=%s", s->spool);
  char **argv = words_again(&context, a);
  s->spawn = (Spawn){.path = argv[0],
                     .argv = argv,
                     .env = variables_again(&context, spool, a),
                     .cwd = context.cwd,
                     .out = arena_printf(a, "%s/out", s->spool),
                     .err = arena_printf(a, "%s/err", s->spool),
                     .redirects = context.redirects,
                     .nredirects = context.nredirects,
                     .mark = spool};
  s->busy = true;
  pool_start(c->runner->pool, slot, &s->spawn);
  return 0;
}

typedef ARRAY(const TestContext *) AgainList;

static int run_again(MakeCheck *c, AgainSlot *slots, size_t nslots,
                     const AgainList *list, Err *err) {
  Runner *r = c->runner;
  size_t next = 0, busy = 0, slot;
  while (r->close->go_on(r->close->context)) {
    for (size_t i = 0; i < nslots && next < list->len; i++)
      if (!slots[i].busy) {
        if (start_again(c, i, &slots[i], list->items[next++], err))
          return -1;
        busy += slots[i].busy;
      }
    if (!busy && next == list->len)
      return 0;
    PoolEvent event = pool_wait(r->pool, LOOK, &slot, &c->make);
    r->interrupted |= event == POOL_INTERRUPTED;
    if (event != POOL_ENDED)
      continue;
    slots[slot].busy = false;
    busy--;
    c->spool = slots[slot].spool;
    if (take_records(c, err))
      return -1;
  }
  return 0;
}

static int look_again(MakeCheck *c, Err *err) {
  Runner *r = c->runner;
  size_t nslots = (size_t)r->options->jobs;
  AgainSlot *slots = mem_array(AgainSlot, nslots);
  AgainList list = {0};
  for (size_t i = 0; i < r->contexts.len; i++)
    if (!runner_is_done(r, r->contexts.items[i].test))
      array_push(&list, &r->contexts.items[i]);
  if (list.len)
    qsort_r(list.items, list.len, sizeof *list.items, by_place,
            (void *)r->close);
  for (size_t i = 0; i < nslots; i++)
    slots[i].spool = arena_printf(&c->arena, "%s/again%zu", r->scratch.dir, i);
  int rc = run_again(c, slots, nslots, &list, err);
  pool_kill_all(r->pool);
  for (size_t i = 0; i < nslots; i++)
    arena_release(&slots[i].arena);
  array_release(&list);
  free(slots);
  return rc;
}

// --- experiments ------------------------------------------------------------

static const char *driver_option(const DriverContext *c, const char *name) {
  for (size_t i = 0; c->argv[i] && strcmp(c->argv[i], "--") != 0; i++)
    if (!strcmp(c->argv[i], name))
      return c->argv[i + 1];
  return NULL;
}

static TestRules *rules_of(const DriverContext *c, Arena *arena) {
  TestRules *rules = arena_new(arena, TestRules);
  const char *fails = driver_option(c, "--expect-failure");
  *rules = (TestRules){.skip_status = 77,
                       .error_status = 99,
                       .will_fail = fails && !strcmp(fails, "yes")};
  for (size_t i = 0; c->argv[i] && strcmp(c->argv[i], "--") != 0; i++)
    rules->tap |= strstr(c->argv[i], "tap-driver") != NULL;
  return rules;
}

// The environment that make gave to the driver, without what is ours.
static char **own_variables(const DriverContext *c, Arena *arena) {
  size_t n = 0, kept = 0;
  while (c->env[n])
    n++;
  char **env = arena_array(arena, char *, n + 1);
  for (size_t i = 0; i < n; i++)
    if (!text_starts(c->env[i], "CULPRIT"))
      env[kept++] = c->env[i];
  return env;
}

// The test itself, without its driver. False: its context cannot be read.
static bool test_of_context(const TestContext *t, Arena *arena, Test *out) {
  DriverContext c;
  if (!driver_context_read(&c, t->text, t->size, arena))
    return false;
  char **words = c.argv;
  while (*words && strcmp(*words, "--") != 0)
    words++;
  *out = (Test){.name = t->test,
                .argv = words + 1,
                .env = own_variables(&c, arena),
                .cwd = c.cwd,
                .redirects = c.redirects,
                .nredirects = c.nredirects,
                .rules = rules_of(&c, arena)};
  return *words && words[1];
}

static int give_tests(MakeCheck *c, Err *err) {
  Runner *r = c->runner;
  ARRAY(Test) tests = {0};
  for (size_t i = 0; i < r->contexts.len; i++) {
    Test test;
    if (test_of_context(&r->contexts.items[i], &c->arena, &test))
      array_push(&tests, test);
  }
  int rc = tests.len ? r->close->tests(r->close->context, r, tests.items,
                                       tests.len, err)
                     : err_set(err, "how make started the tests is not known; "
                                    "run them again with `culprit run`");
  array_release(&tests);
  return rc;
}

static int automake_look(Runner *r, Err *err) {
  MakeCheck c = {.runner = r, .dir = suite_dir(r->options)};
  int rc = runner_begin(r, "automake", err);
  if (!rc)
    rc = r->close->tests ? give_tests(&c, err) : look_again(&c, err);
  arena_release(&c.arena);
  free(c.dir);
  return rc;
}

int automake_run(Runner *r, Err *err) {
  if (r->close)
    return automake_look(r, err);
  MakeCheck c = {.runner = r, .dir = suite_dir(r->options)};
  int rc = find_drivers(&c, err);
  if (!rc)
    rc = share_out(&c, err);
  if (!rc)
    rc = runner_begin(r, "automake", err);
  if (!rc)
    rc = prepare(&c, err);
  if (!rc && r->progress)
    r->progress(r);
  if (!rc)
    rc = run_make(&c, err);
  if (!rc && !r->interrupted)
    rc = check_make(&c, err);
  logdrivers_release(&c.drivers);
  test_times_release(&c.times);
  array_release(&c.argv);
  arena_release(&c.arena);
  free(c.dir);
  return rc;
}
