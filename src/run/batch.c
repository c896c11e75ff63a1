// Runs a list of tests: see batch.h.
//
// Each slot of the pool takes one test at a time through its steps: execute it,
// collect its spectrum, execute the oracle's second process if it has one,
// judge; repeat all of that if the test failed; store.
//
// A test that hangs need not reach its full time limit twice. Once a test has
// passed, or the reference has answered, executions get a limit derived from
// the slowest of these. A test that reaches it is repeated with the full limit,
// and the verdict of the repetition counts. The repetition runs alone, so that
// the load of another test cannot delay it. run/repeat.h has what is repeated
// because it failed.
#include "run/batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "oracle/failure.h"
#include "run/repeat.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  LOOK = 100
}; // milliseconds until a closer look is asked whether it
    // goes on

typedef struct {
  char *dir; // of this slot, in the scratch area
  char *run_dir, *work_dir;
  char *out, *err, *second_out, *second_err; // files
  char **env;                                // of tests
  const char *mark;
  const Test *test; // NULL: idle
  bool in_second;   // its second process is running
  bool merged;
  double limit;   // of this execution
  bool derived;   // it is less than the test\'s own
  bool full;      // the test ran into a derived limit: no more of those
  bool hangs;     // it ran into the full limit
  bool waiting;   // to be started when nothing else runs
  bool alone;     // nothing is to be started beside it
  bool beside;    // another test ran beside this execution
  bool undecided; // the first attempt failed, and no segment is to blame
  Repeat repeat;  // which attempt this is
  Run runs[ATTEMPTS_MOST];          // one per attempt
  Segments segments[ATTEMPTS_MOST]; // the tests inside of it; judged, or none
  Outcome outcome;                  // of the test
  bool has_second;                  // the second process's outcome is known
  Outcome second;
  Spawn spawn;
  Str stacks;       // of a test that hangs, before it was stopped
  const char *root; // paths in them are relative to it
  bool looks;       // closely, at a test that has run
  Arena arena;      // of this test
} BatchSlot;

typedef struct {
  Runner *runner;
  const Test *tests;
  size_t ntests, next;
  BatchSlot *slots;
  size_t nslots;
  size_t steady; // tests in a row that failed alone as they did beside others
  Arena arena;
} Batch;

static int slot_init(Batch *b, BatchSlot *s, size_t index, Err *err) {
  const Runner *r = b->runner;
  Arena *a = &b->arena;
  s->dir = arena_printf(a, "%s/%zu", r->scratch.dir, index);
  s->run_dir = arena_printf(a, "%s/run", s->dir);
  s->work_dir = arena_printf(a, "%s/work", s->dir);
  s->out = arena_printf(a, "%s/out", s->dir);
  s->err = arena_printf(a, "%s/err", s->dir);
  s->second_out = arena_printf(a, "%s/out2", s->dir);
  s->second_err = arena_printf(a, "%s/err2", s->dir);
  char *extra[] = {arena_printf(a, "CULPRIT_RUN=%s", s->run_dir),
                   arena_printf(a, "CULPRIT_DIR=%s", r->options->cwd),
                   arena_printf(a, "CULPRIT_STDOUT=%s", s->out),
                   arena_printf(a, "CULPRIT_STDERR=%s", s->err),
                   NULL,
                   NULL,
                   NULL,
                   NULL};
  size_t n = 4;
  if (r->options->segments) {
    extra[n++] = "CULPRIT_SEGMENTS=1";
    extra[n++] = "PYTHONUNBUFFERED=1";
  }
  if (r->close)
    extra[n++] = arena_printf(a, "CULPRIT_CLOSE=%s", r->close->dir);
  s->env = environment_with(extra, a);
  s->mark = extra[0];
  mkdir(s->dir, 0755);
  return dir_make_empty(s->run_dir, err);
}

static void slot_reset(BatchSlot *s) {
  for (int i = 0; i < ATTEMPTS_MOST; i++) {
    run_release(&s->runs[i]);
    segments_release(&s->segments[i]);
  }
  arena_release(&s->arena);
  s->test = NULL;
  s->repeat = (Repeat){0};
  s->has_second = s->in_second = false;
  s->full = s->hangs = s->waiting = s->alone = false;
  s->beside = s->undecided = false;
}

static const char *test_dir(const Batch *b, const BatchSlot *s) {
  const RunOptions *o = b->runner->options;
  return o->scratch ? s->work_dir : s->test->cwd ? s->test->cwd : o->cwd;
}

// What the user says counts, then what the runner's files say of the test.
static double test_timeout(const Batch *b, const Test *t) {
  const CloseHooks *close = b->runner->close;
  bool own = t->rules && t->rules->timeout > 0;
  double full = own && !b->runner->options->timeout_given ? t->rules->timeout
                                                          : b->runner->timeout;
  return close ? close->limit(close->context, t->name, full) : full;
}

// Of the next execution: the test's own, or less as soon as that can be
// derived.
static double execution_limit(const Batch *b, const BatchSlot *s) {
  double full = test_timeout(b, s->test);
  return s->full ? full : runner_limit(b->runner, full);
}

static size_t slot_of(const Batch *b, const BatchSlot *s) {
  return (size_t)(s - b->slots);
}

// Does the test send its standard error where its standard output goes?
static bool is_merged(const Test *t, const Spawn *s) {
  for (size_t i = 0; i < s->nredirects; i++)
    if (s->redirects[i].fd == 2 && s->redirects[i].mode == REDIRECT_DUP)
      return true;
  return t->line && !s->nredirects && strstr(t->line, "2>&1");
}

// A run that only reached a derived limit is repeated.
static void look_at_hang(void *slot, pid_t session) {
  BatchSlot *s = slot;
  if (s->derived && !s->hangs)
    return;
  str_clear(&s->stacks);
  runner_look_at_hang(session, s->root, s->looks ? NULL : s->run_dir,
                      &s->stacks);
}

static bool is_running(const BatchSlot *s) { return s->test && !s->waiting; }

// Notes which executions are beside each other from now on.
static void note_beside(Batch *b, BatchSlot *s) {
  s->beside = false;
  for (size_t i = 0; i < b->nslots; i++)
    if (&b->slots[i] != s && is_running(&b->slots[i]))
      b->slots[i].beside = s->beside = true;
}

// Saves the program the trouble of becoming its other build.
static void take_close_build(const Runner *r, Spawn *spawn) {
  const CloseHooks *close = r->close;
  const char *path = close ? close->build(close->context, spawn->path) : NULL;
  if (path)
    spawn->path = path;
}

static int start_test(Batch *b, BatchSlot *s, Err *err) {
  const RunOptions *o = b->runner->options;
  note_beside(b, s);
  if (o->scratch && dir_make_empty(s->work_dir, err))
    return -1;
  s->in_second = false;
  s->limit = execution_limit(b, s);
  s->derived = s->limit < test_timeout(b, s->test);
  s->spawn = (Spawn){.env = test_environment(s->test, s->env, &s->arena),
                     .cwd = test_dir(b, s),
                     .out = s->out,
                     .err = s->err,
                     .timeout = s->limit,
                     .max_output = o->max_output,
                     .mark = s->mark,
                     .hangs = look_at_hang,
                     .context = s,
                     .serve = o->serve};
  s->root = b->runner->root;
  s->looks = b->runner->close != NULL;
  str_clear(&s->stacks);
  runner_confine(b->runner, slot_of(b, s), &s->spawn, &s->arena);
  test_prepare(s->test, o->exe, &s->arena, &s->spawn);
  take_close_build(b->runner, &s->spawn);
  s->merged = is_merged(s->test, &s->spawn);
  pool_start(b->runner->pool, slot_of(b, s), &s->spawn);
  return 0;
}

// The oracle's command learns from its environment what it is to look at.
static void set_second_environment(BatchSlot *s) {
  Arena *a = &s->arena;
  char *mark = arena_printf(a, "CULPRIT_SECOND=%s", s->dir);
  char *extra[] = {mark,
                   arena_printf(a, "CULPRIT_STDOUT=%s", s->out),
                   arena_printf(a, "CULPRIT_STDERR=%s", s->err),
                   arena_printf(a, "CULPRIT_STATUS=%d", s->outcome.status),
                   arena_printf(a, "CULPRIT_TEST=%s", s->test->name),
                   NULL};
  s->spawn.env = test_environment(s->test, environment_with(extra, a), a);
  s->spawn.mark = mark;
}

static void start_second(Batch *b, BatchSlot *s) {
  const Oracle *oracle = &b->runner->oracle;
  s->in_second = true;
  s->spawn.hangs = NULL;
  s->spawn.out = s->second_out;
  s->spawn.err = s->second_err;
  s->spawn.timeout = test_timeout(b, s->test);
  set_second_environment(s);
  if (oracle->kind->second == SECOND_PROGRAM)
    test_prepare(s->test, oracle->arg, &s->arena, &s->spawn);
  else
    spawn_shell(&s->spawn, oracle->arg, &s->arena);
  pool_start(b->runner->pool, slot_of(b, s), &s->spawn);
}

static Trial trial_of(const Batch *b, const BatchSlot *s) {
  const Runner *r = b->runner;
  return (Trial){.test = s->test->name,
                 .number = s->test->number,
                 .root = r->root,
                 .out = s->out,
                 .err = s->err,
                 .merged = s->merged,
                 .stacks = str_text(&s->stacks),
                 .outcome = &s->outcome,
                 .rules = s->test->rules,
                 .timeout = test_timeout(b, s->test),
                 .max_output = r->options->max_output,
                 .second = s->has_second ? &s->second : NULL,
                 .second_out = s->second_out,
                 .second_err = s->second_err};
}

// Did it hang once with the derived limit, and again with the full one?
static bool hung_twice(const BatchSlot *s) { return s->full && s->hangs; }

// Is there to be another attempt?
static bool goes_on(Batch *b, BatchSlot *s) {
  int last = s->repeat.attempt;
  RepeatStep step =
      repeat_step(&s->repeat, s->runs[last].verdict, s->beside, &b->steady);
  if (step == REPEAT_INSTEAD) {
    run_release(&s->runs[last]);
    segments_release(&s->segments[last]);
  }
  return step != REPEAT_END;
}

static int repeat(Batch *b, BatchSlot *s, Err *err) {
  if (!s->repeat.alone)
    return start_test(b, s, err);
  s->waiting = true;
  return 0;
}

// Passed twice alone: that counts.
static int store_undisturbed(Batch *b, BatchSlot *s, Err *err) {
  Segments only[2] = {s->segments[2], {0}};
  b->runner->undecided -= s->undecided;
  runner_note_disturbed(b->runner, &s->runs[2], &s->runs[0]);
  return runner_add_segments(b->runner, &s->runs[2], NULL, only, err);
}

static int store_test(Batch *b, BatchSlot *s, Err *err) {
  if (repeat_was_disturbed(&s->repeat, s->runs[2].verdict))
    return store_undisturbed(b, s, err);
  return runner_add_segments(b->runner, &s->runs[0],
                             s->repeat.attempt ? &s->runs[1] : NULL,
                             s->segments, err);
}

// The attempt has its verdict: once more, or into the store.
static int attempt_judged(Batch *b, BatchSlot *s, Err *err) {
  Runner *r = b->runner;
  Trial t = trial_of(b, s);
  size_t undecided = r->undecided;
  failure_add_output(&s->runs[s->repeat.attempt], &t);
  runner_judge_segments(
      r, &s->segments[s->repeat.attempt], &s->runs[s->repeat.attempt], &t,
      b->ntests + r->already > 1 || r->listed > 1 ? s->test->name : NULL,
      s->repeat.attempt > 0);
  s->undecided |= r->undecided > undecided;
  if (s->runs[s->repeat.attempt].verdict == VERDICT_PASS)
    runner_note_duration(r, s->runs[s->repeat.attempt].seconds);
  if (r->options->rerun && !hung_twice(s) && goes_on(b, s))
    return repeat(b, s, err);
  r->hung += hung_twice(s);
  int rc = store_test(b, s, err);
  slot_reset(s);
  return rc;
}

static int judge(Batch *b, BatchSlot *s, Err *err) {
  Trial t = trial_of(b, s);
  Run *run = &s->runs[s->repeat.attempt];
  if (oracle_judge(&b->runner->oracle, &t, run, err))
    return -1;
  return attempt_judged(b, s, err);
}

static int test_ended(Batch *b, BatchSlot *s, Err *err) {
  Run *run = &s->runs[s->repeat.attempt];
  const char *exe = b->runner->options->exe;
  run->test = mem_strdup(s->test->name);
  run->command = mem_strdup(test_command(s->test, exe, &s->arena));
  run->status = s->outcome.status;
  run->seconds = s->outcome.seconds;
  run_note_signal(run, s->outcome.sent);
  if (s->outcome.end != END_UNSTARTED &&
      (runner_collect(b->runner, s->run_dir, run,
                      &s->segments[s->repeat.attempt], err) ||
       dir_make_empty(s->run_dir, err)))
    return -1;
  Trial t = trial_of(b, s);
  if (oracle_settled(&t, run))
    return attempt_judged(b, s, err);
  // The second process's answer serves the second attempt too, unless it
  // looked at the first one's output.
  Second kind = b->runner->oracle.kind->second;
  if (kind == SECOND_SHELL || (kind == SECOND_PROGRAM && !s->has_second)) {
    start_second(b, s);
    return 0;
  }
  return judge(b, s, err);
}

// It ran into a derived limit, which says nothing yet.
static int repeat_with_full_limit(Batch *b, BatchSlot *s, Err *err) {
  Runner *r = b->runner;
  r->limit = s->limit;
  s->full = true;
  if (dir_make_empty(s->run_dir, err))
    return -1;
  r->overran++;
  s->waiting = true;
  return 0;
}

static int execution_ended(Batch *b, BatchSlot *s, const Outcome *outcome,
                           Err *err) {
  bool late = outcome->end == END_TIMEOUT;
  s->alone = false;
  if (late && s->derived && !s->hangs)
    return repeat_with_full_limit(b, s, err);
  s->hangs |= late;
  s->outcome = *outcome;
  return test_ended(b, s, err);
}

static int process_ended(Batch *b, BatchSlot *s, const Outcome *outcome,
                         Err *err) {
  if (!s->in_second)
    return execution_ended(b, s, outcome, err);
  s->second = *outcome;
  s->has_second = true;
  if (b->runner->oracle.kind->second == SECOND_PROGRAM &&
      outcome->end == END_EXIT)
    runner_note_duration(b->runner, outcome->seconds);
  return judge(b, s, err);
}

// May the next test start beside those that run?
static bool may_start(const Batch *b, size_t nslots) {
  bool alone = b->tests[b->next].alone;
  for (size_t i = 0; i < nslots; i++)
    if (b->slots[i].test && (alone || b->slots[i].test->alone))
      return false;
  return true;
}

// Starts a test that waits for the others' end, if they have ended. *held: no
// other test may start.
static int start_waiting(Batch *b, size_t nslots, bool *held, Err *err) {
  BatchSlot *waiting = NULL;
  bool running = false;
  *held = false;
  for (size_t i = 0; i < nslots; i++) {
    BatchSlot *s = &b->slots[i];
    *held |= s->waiting || s->alone;
    running |= is_running(s);
    waiting = s->waiting && !waiting ? s : waiting;
  }
  if (!waiting || running)
    return 0;
  waiting->waiting = false;
  waiting->alone = true;
  return start_test(b, waiting, err);
}

static bool may_go_on(const Batch *b) {
  const CloseHooks *close = b->runner->close;
  return !close || close->go_on(close->context);
}

static bool is_anything_left(const Batch *b) {
  bool left = b->next < b->ntests;
  for (size_t i = 0; i < b->nslots; i++)
    left |= b->slots[i].test != NULL;
  return left;
}

static int start_idle_slots(Batch *b, size_t nslots, Err *err) {
  bool held;
  if (start_waiting(b, nslots, &held, err))
    return -1;
  if (held)
    return 0;
  for (size_t i = 0; i < nslots && b->next < b->ntests; i++) {
    if (b->slots[i].test)
      continue;
    if (!may_start(b, nslots))
      return 0;
    b->slots[i].test = &b->tests[b->next++];
    if (start_test(b, &b->slots[i], err))
      return -1;
  }
  return 0;
}

static int run_all(Batch *b, size_t nslots, Err *err) {
  int patience = b->runner->close ? LOOK : -1;
  while (may_go_on(b)) {
    if (start_idle_slots(b, nslots, err))
      return -1;
    size_t slot;
    Outcome outcome;
    PoolEvent event = pool_wait(b->runner->pool, patience, &slot, &outcome);
    if (event == POOL_INTERRUPTED)
      b->runner->interrupted = true;
    if (event == POOL_IDLE && patience > 0 && is_anything_left(b))
      continue;
    if (event != POOL_ENDED)
      return 0;
    if (process_ended(b, &b->slots[slot], &outcome, err))
      return -1;
  }
  return 0;
}

int batch_run(Runner *r, const Test *tests, size_t ntests, Err *err) {
  if (r->close && r->close->tests)
    return r->close->tests(r->close->context, r, tests, ntests, err);
  size_t nslots = (size_t)r->options->jobs;
  Batch b = {.runner = r, .tests = tests, .ntests = ntests, .nslots = nslots};
  b.slots = arena_array(&b.arena, BatchSlot, nslots);
  int rc = 0;
  for (size_t i = 0; !rc && i < nslots && i < ntests; i++)
    rc = slot_init(&b, &b.slots[i], i, err);
  if (!rc)
    rc = run_all(&b, nslots, err);
  pool_kill_all(r->pool);
  for (size_t i = 0; i < nslots; i++) {
    slot_reset(&b.slots[i]);
    str_release(&b.slots[i].stacks);
  }
  arena_release(&b.arena);
  return rc;
}

static int by_place(const void *a, const void *b, void *hooks) {
  const CloseHooks *close = hooks;
  const Test *x = a, *y = b;
  size_t at = close->place(close->context, x->name);
  size_t other = close->place(close->context, y->name);
  return at != other ? (at > other) - (at < other)
                     : (x->number > y->number) - (x->number < y->number);
}

void batch_order(const Runner *r, Test *tests, size_t ntests) {
  if (r->close && ntests)
    qsort_r(tests, ntests, sizeof *tests, by_place, (void *)r->close);
}
