// Runs a list of tests: see batch.h.
//
// A worker takes one test through its steps: execute it, collect its spectrum,
// execute the oracle's second process if the oracle has one, judge; if it
// failed, all once more; store. One worker per slot of the pool.
//
// A test that hangs need not run into its full limit twice. Once a test has
// passed, or the reference has answered, executions get a limit derived from
// the slowest of these. One that runs into it is repeated with the full limit,
// whose verdict counts; only if it hangs there too it is a hang, and the first
// execution was its repetition. So verdicts are those of the full limit. The
// repetition runs alone: another test's load must not make it late.
#include "run/batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "oracle/failure.h"
#include "util/mem.h"
#include "util/str.h"

typedef struct {
  char *dir; // of this worker, in the scratch area
  char *run_dir, *work_dir;
  char *out, *err, *second_out, *second_err; // files
  char **env;                                // of tests
  const char *mark;
  const Test *test; // NULL: idle
  bool in_second;   // its second process is running
  bool merged;
  double limit;    // of this execution
  bool full;       // the test ran into a derived limit: no more of those
  bool hangs;      // it ran into the full limit
  bool waiting;    // to be started when nothing else runs
  bool alone;      // nothing is to be started beside it
  int attempt;     // 0, 1
  Run runs[2];     // one per attempt
  Segments segments[2]; // the tests inside of it; named and judged, or none
  Outcome outcome; // of the test
  bool has_second; // the second process's outcome is known
  Outcome second;
  Spawn spawn;
  Arena arena; // of this test
} Worker;

typedef struct {
  Runner *runner;
  const Test *tests;
  size_t ntests, next;
  Worker *workers;
  Arena arena;
} Batch;

static int worker_init(Batch *b, Worker *w, size_t index, Err *err) {
  const Runner *r = b->runner;
  Arena *a = &b->arena;
  w->dir = arena_printf(a, "%s/%zu", r->scratch.dir, index);
  w->run_dir = arena_printf(a, "%s/run", w->dir);
  w->work_dir = arena_printf(a, "%s/work", w->dir);
  w->out = arena_printf(a, "%s/out", w->dir);
  w->err = arena_printf(a, "%s/err", w->dir);
  w->second_out = arena_printf(a, "%s/out2", w->dir);
  w->second_err = arena_printf(a, "%s/err2", w->dir);
  char *extra[] = {arena_printf(a, "CULPRIT_RUN=%s", w->run_dir),
                   arena_printf(a, "CULPRIT_DIR=%s", r->options->cwd),
                   arena_printf(a, "CULPRIT_STDOUT=%s", w->out),
                   arena_printf(a, "CULPRIT_STDERR=%s", w->err),
                   r->options->segments ? "CULPRIT_SEGMENTS=1" : NULL, NULL};
  w->env = environment_with(extra, a);
  w->mark = extra[0];
  mkdir(w->dir, 0755);
  return dir_make_empty(w->run_dir, err);
}

static void worker_reset(Worker *w) {
  run_release(&w->runs[0]);
  run_release(&w->runs[1]);
  segments_release(&w->segments[0]);
  segments_release(&w->segments[1]);
  arena_release(&w->arena);
  w->test = NULL;
  w->attempt = 0;
  w->has_second = w->in_second = false;
  w->full = w->hangs = w->waiting = w->alone = false;
}

static const char *test_dir(const Batch *b, const Worker *w) {
  const RunOptions *o = b->runner->options;
  return o->scratch ? w->work_dir : w->test->cwd ? w->test->cwd : o->cwd;
}

// What the user says counts, then what the runner's files say of the test.
static double test_timeout(const Batch *b, const Test *t) {
  bool own = t->rules && t->rules->timeout > 0;
  return own && !b->runner->options->timeout_given ? t->rules->timeout
                                                   : b->runner->timeout;
}

// Of the next execution: the test's own, or less as soon as that can be
// derived.
static double execution_limit(const Batch *b, const Worker *w) {
  double full = test_timeout(b, w->test);
  return w->full ? full : runner_limit(b->runner, full);
}

static size_t slot_of(const Batch *b, const Worker *w) {
  return (size_t)(w - b->workers);
}

// Does the test send its standard error where its standard output goes?
static bool is_merged(const Test *t, const Spawn *s) {
  for (size_t i = 0; i < s->nredirects; i++)
    if (s->redirects[i].fd == 2 && s->redirects[i].mode == REDIRECT_DUP)
      return true;
  return t->line && !s->nredirects && strstr(t->line, "2>&1");
}

static int start_test(Batch *b, Worker *w, Err *err) {
  const RunOptions *o = b->runner->options;
  if (o->scratch && dir_make_empty(w->work_dir, err))
    return -1;
  w->in_second = false;
  w->limit = execution_limit(b, w);
  w->spawn = (Spawn){.env = test_environment(w->test, w->env, &w->arena),
                     .cwd = test_dir(b, w),
                     .out = w->out,
                     .err = w->err,
                     .timeout = w->limit,
                     .max_output = o->max_output,
                     .mark = w->mark,
                     .serve = o->serve};
  runner_confine(b->runner, slot_of(b, w), &w->spawn, &w->arena);
  test_prepare(w->test, o->exe, &w->arena, &w->spawn);
  w->merged = is_merged(w->test, &w->spawn);
  pool_start(b->runner->pool, slot_of(b, w), &w->spawn);
  return 0;
}

// The oracle's command learns from its environment what it is to look at.
static void set_second_environment(Worker *w) {
  Arena *a = &w->arena;
  char *mark = arena_printf(a, "CULPRIT_SECOND=%s", w->dir);
  char *extra[] = {mark,
                   arena_printf(a, "CULPRIT_STDOUT=%s", w->out),
                   arena_printf(a, "CULPRIT_STDERR=%s", w->err),
                   arena_printf(a, "CULPRIT_STATUS=%d", w->outcome.status),
                   arena_printf(a, "CULPRIT_TEST=%s", w->test->name),
                   NULL};
  w->spawn.env = test_environment(w->test, environment_with(extra, a), a);
  w->spawn.mark = mark;
}

static void start_second(Batch *b, Worker *w) {
  const Oracle *oracle = &b->runner->oracle;
  w->in_second = true;
  w->spawn.out = w->second_out;
  w->spawn.err = w->second_err;
  w->spawn.timeout = test_timeout(b, w->test);
  set_second_environment(w);
  if (oracle->kind->second == SECOND_PROGRAM)
    test_prepare(w->test, oracle->arg, &w->arena, &w->spawn);
  else
    spawn_shell(&w->spawn, oracle->arg, &w->arena);
  pool_start(b->runner->pool, slot_of(b, w), &w->spawn);
}

static Trial trial_of(const Batch *b, const Worker *w) {
  const Runner *r = b->runner;
  return (Trial){.test = w->test->name,
                 .number = w->test->number,
                 .root = r->root,
                 .out = w->out,
                 .err = w->err,
                 .merged = w->merged,
                 .outcome = &w->outcome,
                 .rules = w->test->rules,
                 .timeout = test_timeout(b, w->test),
                 .max_output = r->options->max_output,
                 .second = w->has_second ? &w->second : NULL,
                 .second_out = w->second_out,
                 .second_err = w->second_err};
}

// Did it hang once with the derived limit, and again with the full one?
static bool hung_twice(const Worker *w) { return w->full && w->hangs; }

// The attempt has its verdict: so can its segments.
static void judge_segments(Batch *b, Worker *w) {
  Trial t = trial_of(b, w);
  runner_judge_segments(b->runner, &w->segments[w->attempt],
                        &w->runs[w->attempt], &t,
                        b->ntests + b->runner->already > 1 ? w->test->name
                                                           : NULL,
                        w->attempt > 0);
}

static int store(Batch *b, Worker *w, Err *err) {
  const Run *again = w->attempt ? &w->runs[1] : NULL;
  return runner_add_segments(b->runner, &w->runs[0], again, w->segments, err);
}

// The attempt has its verdict: once more, or into the store.
static int attempt_judged(Batch *b, Worker *w, Err *err) {
  Runner *r = b->runner;
  judge_segments(b, w);
  if (w->runs[w->attempt].verdict == VERDICT_PASS)
    runner_note_duration(r, w->runs[w->attempt].seconds);
  if (w->attempt == 0 && w->runs[0].verdict == VERDICT_FAIL &&
      r->options->rerun && !hung_twice(w)) {
    w->attempt = 1;
    return start_test(b, w, err);
  }
  r->hung += hung_twice(w);
  int rc = store(b, w, err);
  worker_reset(w);
  return rc;
}

static int judge(Batch *b, Worker *w, Err *err) {
  Trial t = trial_of(b, w);
  Run *run = &w->runs[w->attempt];
  if (oracle_judge(&b->runner->oracle, &t, run, err))
    return -1;
  return attempt_judged(b, w, err);
}

static int test_ended(Batch *b, Worker *w, Err *err) {
  Run *run = &w->runs[w->attempt];
  const char *exe = b->runner->options->exe;
  run->test = mem_strdup(w->test->name);
  run->command = mem_strdup(test_command(w->test, exe, &w->arena));
  run->status = w->outcome.status;
  run->seconds = w->outcome.seconds;
  run_note_signal(run, w->outcome.sent);
  if (w->outcome.end != END_UNSTARTED &&
      (runner_collect(b->runner, w->run_dir, run, &w->segments[w->attempt],
                      err) ||
       dir_make_empty(w->run_dir, err)))
    return -1;
  Trial t = trial_of(b, w);
  if (oracle_settled(&t, run))
    return attempt_judged(b, w, err);
  // The second process's answer serves the second attempt too, unless it
  // looked at the first one's output.
  Second kind = b->runner->oracle.kind->second;
  if (kind == SECOND_SHELL || (kind == SECOND_PROGRAM && !w->has_second)) {
    start_second(b, w);
    return 0;
  }
  return judge(b, w, err);
}

// It ran into a derived limit, which says nothing yet.
static int repeat_with_full_limit(Batch *b, Worker *w, Err *err) {
  Runner *r = b->runner;
  r->limit = w->limit;
  w->full = true;
  if (dir_make_empty(w->run_dir, err))
    return -1;
  r->overran++;
  w->waiting = true;
  return 0;
}

static int execution_ended(Batch *b, Worker *w, const Outcome *outcome,
                           Err *err) {
  bool late = outcome->end == END_TIMEOUT;
  bool derived = w->limit < test_timeout(b, w->test);
  w->alone = false;
  if (late && derived && !w->hangs)
    return repeat_with_full_limit(b, w, err);
  w->hangs |= late;
  w->outcome = *outcome;
  return test_ended(b, w, err);
}

static int process_ended(Batch *b, Worker *w, const Outcome *outcome,
                         Err *err) {
  if (!w->in_second)
    return execution_ended(b, w, outcome, err);
  w->second = *outcome;
  w->has_second = true;
  if (b->runner->oracle.kind->second == SECOND_PROGRAM &&
      outcome->end == END_EXIT)
    runner_note_duration(b->runner, outcome->seconds);
  return judge(b, w, err);
}

// May the next test start beside those that run?
static bool may_start(const Batch *b, size_t nworkers) {
  bool alone = b->tests[b->next].alone;
  for (size_t i = 0; i < nworkers; i++)
    if (b->workers[i].test && (alone || b->workers[i].test->alone))
      return false;
  return true;
}

static bool is_running(const Worker *w) { return w->test && !w->waiting; }

// Starts a test that waits for the others' end, if they have ended. *held: no
// other test may start.
static int start_waiting(Batch *b, size_t nworkers, bool *held, Err *err) {
  Worker *waiting = NULL;
  bool running = false;
  *held = false;
  for (size_t i = 0; i < nworkers; i++) {
    Worker *w = &b->workers[i];
    *held |= w->waiting || w->alone;
    running |= is_running(w);
    waiting = w->waiting && !waiting ? w : waiting;
  }
  if (!waiting || running)
    return 0;
  waiting->waiting = false;
  waiting->alone = true;
  return start_test(b, waiting, err);
}

static int start_idle_workers(Batch *b, size_t nworkers, Err *err) {
  bool held;
  if (start_waiting(b, nworkers, &held, err))
    return -1;
  if (held)
    return 0;
  for (size_t i = 0; i < nworkers && b->next < b->ntests; i++) {
    if (b->workers[i].test)
      continue;
    if (!may_start(b, nworkers))
      return 0;
    b->workers[i].test = &b->tests[b->next++];
    if (start_test(b, &b->workers[i], err))
      return -1;
  }
  return 0;
}

static int run_all(Batch *b, size_t nworkers, Err *err) {
  for (;;) {
    if (start_idle_workers(b, nworkers, err))
      return -1;
    size_t slot;
    Outcome outcome;
    PoolEvent event = pool_wait(b->runner->pool, -1, &slot, &outcome);
    if (event == POOL_INTERRUPTED)
      b->runner->interrupted = true;
    if (event != POOL_ENDED)
      return 0;
    if (process_ended(b, &b->workers[slot], &outcome, err))
      return -1;
  }
}

int batch_run(Runner *r, const Test *tests, size_t ntests, Err *err) {
  size_t nworkers = (size_t)r->options->jobs;
  Batch b = {.runner = r, .tests = tests, .ntests = ntests};
  b.workers = arena_array(&b.arena, Worker, nworkers);
  int rc = 0;
  for (size_t i = 0; !rc && i < nworkers && i < ntests; i++)
    rc = worker_init(&b, &b.workers[i], i, err);
  if (!rc)
    rc = run_all(&b, nworkers, err);
  pool_kill_all(r->pool);
  for (size_t i = 0; i < nworkers; i++)
    worker_reset(&b.workers[i]);
  arena_release(&b.arena);
  return rc;
}
