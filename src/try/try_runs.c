// Running tests in changed programs: see try_runs.h.
//
// Each slot of the runner's pool has a directory with the files of its run and
// the mapped report. The reference program's answer to a test is asked for once
// and kept.
#include "try/try_runs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_format.h"
#include "confine/confine.h"
#include "oracle/oracle.h"
#include "try/captured.h"
#include "try/try_memory.h"
#include "util/arena.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  ASK = 100,              // milliseconds between two questions whether to go on
  OUTPUT_MOST = 16 << 20, // bytes
  PROCESSES_MOST = 64,
  QUICKER = 2, // times, to do without a script
};

// What the reference program answers to a test.
typedef struct {
  bool known;
  Outcome outcome;
  char *out, *err; // files
} ReferenceAnswer;

// STEP_REPEAT, STEP_REPEAT_FIRST: what the test's script starts, without it
// (captured.h), for the job or to see if that can be done.
typedef enum {
  STEP_TEST,
  STEP_REFERENCE,
  STEP_ORACLE,
  STEP_REPEAT,
  STEP_REPEAT_FIRST,
} SlotStep;

typedef struct {
  char *dir, *run_dir, *out, *err, *second_out, *second_err, *report_path;
  TryReport *report;
  TryJob *job; // NULL: idle
  // Before a test is run for a job, its script may be recorded unchanged: then
  // `job` is `recording`, and that job is the next.
  TryJob *next, recording;
  CapturedAnswer answer; // of the repetition before the script was run
  SlotStep step;
  Spawn spawn;
  const char *mark;
  Outcome outcome, second;
  char *answer_out, *answer_err; // files of the reference program
  Arena arena;                   // of the job
} TrySlot;

struct TryRuns {
  Runner *runner;
  const Suite *suite;
  const TryTest *tests;
  size_t ntests;
  TryRunOptions options;
  ReferenceAnswer *answers; // by test
  TrySlot *slots;
  size_t nslots;
  CapturedTests captured;
  uint64_t count, recalled;
  TriedStops stops;
  Arena arena;
};

// --- opening ----------------------------------------------------------------

static int map_report(TrySlot *s, Err *err) {
  int fd = open(s->report_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || ftruncate(fd, TRY_REPORT_SIZE)) {
    if (fd >= 0)
      close(fd);
    return err_set(err, "%s: cannot be written", s->report_path);
  }
  void *p =
      mmap(NULL, TRY_REPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (p == MAP_FAILED)
    return err_set(err, "%s: cannot be mapped", s->report_path);
  s->report = p;
  return 0;
}

static int slot_init(TryRuns *r, TrySlot *s, size_t index, Err *err) {
  Arena *a = &r->arena;
  s->dir = arena_printf(a, "%s/try%zu", r->runner->scratch.dir, index);
  s->run_dir = arena_printf(a, "%s/run", s->dir);
  s->out = arena_printf(a, "%s/out", s->dir);
  s->err = arena_printf(a, "%s/err", s->dir);
  s->second_out = arena_printf(a, "%s/out2", s->dir);
  s->second_err = arena_printf(a, "%s/err2", s->dir);
  s->report_path = arena_printf(a, "%s/report", s->dir);
  s->mark = arena_printf(a, "CULPRIT_RUN=%s", s->run_dir);
  if (fs_mkdirs(s->dir, err) || dir_make_empty(s->run_dir, err))
    return -1;
  return map_report(s, err);
}

// May scripts be done without? What they start is repeated in views that are
// thrown away, and the verdict must be that of the script alone.
static bool can_capture(const TryRuns *r) {
  const Runner *runner = r->runner;
  const ConfinePlan *plan = runner->options->confine;
  return r->options.capture != CAPTURE_NEVER && r->options.dir &&
         runner->oracle.kind->second == SECOND_NONE && plan &&
         runner->confines && confine_has_view(runner->confines[0]) &&
         (!plan->writable || !plan->writable[0]) && !plan->nports;
}

int try_runs_open(TryRuns **out, Runner *runner, const Suite *suite,
                  const TryTest *tests, size_t n, const TryRunOptions *o,
                  Err *err) {
  TryRuns *r = mem_new(TryRuns);
  *out = r;
  r->runner = runner;
  r->suite = suite;
  r->tests = tests;
  r->ntests = n;
  r->options = *o;
  r->answers = arena_array(&r->arena, ReferenceAnswer, n + 1);
  r->nslots = (size_t)runner->options->jobs;
  r->slots = arena_array(&r->arena, TrySlot, r->nslots);
  for (size_t i = 0; i < r->nslots; i++)
    if (slot_init(r, &r->slots[i], i, err))
      return -1;
  return can_capture(r)
             ? captured_open(&r->captured, runner->scratch.dir, o->dir, n, err)
             : 0;
}

void try_runs_close(TryRuns *r) {
  if (!r)
    return;
  for (size_t i = 0; i < r->nslots; i++) {
    if (r->slots[i].report)
      munmap(r->slots[i].report, TRY_REPORT_SIZE);
    arena_release(&r->slots[i].arena);
  }
  captured_close(&r->captured);
  arena_release(&r->arena);
  free(r);
}

uint64_t try_runs_count(const TryRuns *r) { return r->count; }
uint64_t try_runs_recalled(const TryRuns *r) { return r->recalled; }
TriedStops try_runs_stops(const TryRuns *r) { return r->stops; }
uint64_t try_runs_decided(const TryRuns *r) { return r->captured.decided; }

// --- starting ---------------------------------------------------------------

static const TryTest *test_of(const TryRuns *r, const TrySlot *s) {
  return &r->tests[s->job->test];
}

static char *selection(const TryRuns *r, const TrySlot *s, Arena *arena) {
  static const Experiment none;
  const Experiment *e = s->job->experiment ? s->job->experiment : &none;
  char id[2 * sizeof e->unit.bytes + 1];
  for (size_t i = 0; i < sizeof e->unit.bytes; i++)
    snprintf(id + 2 * i, 3, "%02x", e->unit.bytes[i]);
  return arena_printf(arena, TRY_VARIABLE "=%s:%u:%d:%lld:%lld:%llu:%llu", id,
                      e->site, (int)e->change, (long long)e->a, (long long)e->b,
                      (unsigned long long)test_of(r, s)->steps,
                      (unsigned long long)r->options.memory >> 20);
}

static bool is_recording(const TrySlot *s) { return s->job == &s->recording; }

// A run whose verdict is its output and status leaves no run files.
static char **environment_of(TryRuns *r, TrySlot *s) {
  Arena *a = &s->arena;
  char *extra[16];
  size_t n = 0;
  if (r->options.collect && s->step == STEP_TEST) {
    extra[n++] = (char *)s->mark;
    if (r->runner->options->segments) {
      extra[n++] = "CULPRIT_SEGMENTS=1";
      extra[n++] = "PYTHONUNBUFFERED=1";
    }
  } else {
    extra[n++] = arena_printf(a, "CULPRIT_MARK=%s", s->dir);
  }
  s->spawn.mark = extra[0];
  extra[n++] = selection(r, s, a);
  extra[n++] = arena_printf(a, TRY_REPORT_VARIABLE "=%s", s->report_path);
  extra[n++] = arena_printf(a, "CULPRIT_DIR=%s", r->runner->options->cwd);
  const char *dir = s->job->dir ? s->job->dir : r->options.dir;
  if (s->step != STEP_TEST) {
    n += captured_repeat_variables(&r->captured, extra + n, a);
  } else if (is_recording(s)) {
    dir = r->captured.bin;
    n += captured_variables(&r->captured, s->job->test, s->spawn.cwd, extra + n,
                            a);
  }
  if (dir)
    extra[n++] = arena_printf(a, "CULPRIT_CLOSE=%s", dir);
  extra[n] = NULL;
  return test_environment(test_of(r, s)->test, environment_with(extra, a), a);
}

static size_t index_of(const TryRuns *r, const TrySlot *s) {
  return (size_t)(s - r->slots);
}

static void begin_spawn(TryRuns *r, TrySlot *s, const char *out,
                        const char *err) {
  const RunOptions *o = r->runner->options;
  const TryTest *t = test_of(r, s);
  s->spawn = (Spawn){.cwd = t->test->cwd ? t->test->cwd : o->cwd,
                     .out = out,
                     .err = err,
                     .timeout = t->limit,
                     .max_output = OUTPUT_MOST,
                     .max_processes = PROCESSES_MOST,
                     .serve = true};
}

static void start_test(TryRuns *r, TrySlot *s) {
  const RunOptions *o = r->runner->options;
  begin_spawn(r, s, s->out, s->err);
  s->step = STEP_TEST;
  memset(s->report, 0, offsetof(TryReport, log));
  s->spawn.env = environment_of(r, s);
  runner_confine(r->runner, index_of(r, s), &s->spawn, &s->arena);
  test_prepare(test_of(r, s)->test, o->exe, &s->arena, &s->spawn);
  const char *build = r->options.build(r->options.context, s->spawn.path);
  if (build && s->job->program)
    build = *s->job->program ? s->job->program : NULL;
  if (build)
    s->spawn.path = build;
  pool_start(r->runner->pool, index_of(r, s), &s->spawn);
}

// What the test's script starts, without the script.
static void start_repetition(TryRuns *r, TrySlot *s, SlotStep step) {
  begin_spawn(r, s, s->out, s->err);
  s->step = step;
  memset(s->report, 0, offsetof(TryReport, log));
  s->spawn.serve = false;
  s->spawn.env = environment_of(r, s);
  runner_confine(r->runner, index_of(r, s), &s->spawn, &s->arena);
  char **argv = arena_array(&s->arena, char *, 3);
  argv[0] = CAPTURE_PROGRAM;
  argv[1] = r->captured.tests[s->job->test].records;
  s->spawn.path = r->captured.program;
  s->spawn.argv = argv;
  pool_start(r->runner->pool, index_of(r, s), &s->spawn);
}

// Is the test something else than a program with a build?
static bool is_script(TryRuns *r, TrySlot *s) {
  Spawn spawn = {0};
  test_prepare(test_of(r, s)->test, r->runner->options->exe, &s->arena, &spawn);
  return !r->options.build(r->options.context, spawn.path);
}

// Records the script before the slot's job.
static bool start_recording(TryRuns *r, TrySlot *s) {
  size_t test = s->job->test;
  Err ignored;
  if (!is_script(r, s) || captured_begin(&r->captured, test, &ignored)) {
    captured_refuse(&r->captured, test);
    return false;
  }
  s->next = s->job;
  s->recording = (TryJob){.test = test,
                          .verdicts = arena_array(&s->arena, TriedVerdict,
                                                  r->tests[test].nruns + 1)};
  s->job = &s->recording;
  start_test(r, s);
  return true;
}

// Is it a run of the script as it is?
static bool is_unchanged(const TryJob *j) { return !j->experiment && !j->dir; }

static void start_job(TryRuns *r, TrySlot *s) {
  const TryJob *j = s->job;
  s->answer = (CapturedAnswer){0};
  if (captured_wants(&r->captured, j->test, is_unchanged(j)) &&
      start_recording(r, s))
    return;
  if (r->captured.enabled && r->captured.tests[j->test].state == CAPTURED_READY)
    start_repetition(r, s, STEP_REPEAT);
  else
    start_test(r, s);
}

// The reference program runs as the test would; the oracle's command looks at
// what the test left.
static void start_reference(TryRuns *r, TrySlot *s) {
  // Two slots may ask for the same answer at once.
  s->answer_out =
      arena_printf(&r->arena, "%s/answer%zu.out", s->dir, s->job->test);
  s->answer_err =
      arena_printf(&r->arena, "%s/answer%zu.err", s->dir, s->job->test);
  begin_spawn(r, s, s->answer_out, s->answer_err);
  s->step = STEP_REFERENCE;
  char *mark = arena_printf(&s->arena, "CULPRIT_SECOND=%s", s->dir);
  char *extra[] = {mark, NULL};
  s->spawn.mark = mark;
  s->spawn.timeout = r->runner->timeout;
  s->spawn.env = test_environment(
      test_of(r, s)->test, environment_with(extra, &s->arena), &s->arena);
  runner_confine(r->runner, index_of(r, s), &s->spawn, &s->arena);
  test_prepare(test_of(r, s)->test, r->runner->oracle.arg, &s->arena,
               &s->spawn);
  pool_start(r->runner->pool, index_of(r, s), &s->spawn);
}

static void start_oracle(TryRuns *r, TrySlot *s) {
  Arena *a = &s->arena;
  begin_spawn(r, s, s->second_out, s->second_err);
  s->step = STEP_ORACLE;
  char *mark = arena_printf(a, "CULPRIT_SECOND=%s", s->dir);
  char *extra[] = {
      mark,
      arena_printf(a, "CULPRIT_STDOUT=%s", s->out),
      arena_printf(a, "CULPRIT_STDERR=%s", s->err),
      arena_printf(a, "CULPRIT_STATUS=%d", s->outcome.status),
      arena_printf(a, "CULPRIT_TEST=%s", test_of(r, s)->test->name),
      NULL};
  s->spawn.mark = mark;
  s->spawn.timeout = r->runner->timeout;
  s->spawn.serve = false;
  s->spawn.env =
      test_environment(test_of(r, s)->test, environment_with(extra, a), a);
  runner_confine(r->runner, index_of(r, s), &s->spawn, a);
  spawn_shell(&s->spawn, r->runner->oracle.arg, a);
  pool_start(r->runner->pool, index_of(r, s), &s->spawn);
}

// --- judging ----------------------------------------------------------------

static bool is_merged(const Spawn *s) {
  for (size_t i = 0; i < s->nredirects; i++)
    if (s->redirects[i].fd == 2 && s->redirects[i].mode == REDIRECT_DUP)
      return true;
  return false;
}

static Trial trial_of(TryRuns *r, TrySlot *s) {
  const TryTest *t = test_of(r, s);
  const ReferenceAnswer *answer = &r->answers[s->job->test];
  bool reference = r->runner->oracle.kind->second == SECOND_PROGRAM;
  return (Trial){.test = t->test->name,
                 .number = t->test->number,
                 .root = r->runner->root,
                 .out = s->out,
                 .err = s->err,
                 .merged = is_merged(&s->spawn),
                 .outcome = &s->outcome,
                 .rules = t->test->rules,
                 .timeout = t->limit,
                 .max_output = OUTPUT_MOST,
                 .second = reference ? &answer->outcome : &s->second,
                 .second_out = reference ? answer->out : s->second_out,
                 .second_err = reference ? answer->err : s->second_err};
}

static void set_verdict(TryRuns *r, TrySlot *s, const char *name,
                        Verdict verdict) {
  const TryTest *t = test_of(r, s);
  TriedVerdict v = verdict == VERDICT_PASS ? TRIED_PASS : TRIED_FAIL;
  for (size_t i = 0; i < t->nruns; i++)
    if (t->whole || !strcmp(r->suite->runs[t->runs[i]].test, name))
      s->job->verdicts[i] = v;
}

static void set_verdicts(TryRuns *r, TrySlot *s, const Run *run,
                         const Segments *segments) {
  const TryTest *t = test_of(r, s);
  s->job->result.passes = run->verdict == VERDICT_PASS;
  if (s->job->failure && run->failures.len) {
    const Failure *f = &run->failures.items[0];
    *s->job->failure =
        (RunFailure){mem_strdup(f->signature), mem_strdup(f->message)};
  }
  if (!s->job->verdicts)
    return;
  for (size_t i = 0; i < t->nruns; i++)
    s->job->verdicts[i] = TRIED_FAIL; // it did not come so far
  if (t->whole || run->verdict == VERDICT_PASS)
    for (size_t i = 0; i < t->nruns; i++)
      s->job->verdicts[i] =
          run->verdict == VERDICT_PASS ? TRIED_PASS : TRIED_FAIL;
  for (size_t i = 0; !t->whole && i < segments->len; i++)
    set_verdict(r, s, segments->items[i].run.test,
                segments->items[i].run.verdict);
}

static int judge(TryRuns *r, TrySlot *s, bool settled, Run *run,
                 Segments *segments, Err *err) {
  Trial t = trial_of(r, s);
  if (!settled && oracle_judge(&r->runner->oracle, &t, run, err))
    return -1;
  const char *name = test_of(r, s)->only ? NULL : t.test;
  if (r->options.collect)
    runner_judge_segments(r->runner, segments, run, &t, name, true);
  set_verdicts(r, s, run, segments);
  return 0;
}

static void note_refused(void *context, const Refused *refused) {
  (void)refused;
  *(bool *)context = true;
}

static bool is_over_limits(const TrySlot *s) {
  return s->outcome.end == END_OUTPUT || s->outcome.end == END_PROCESSES ||
         s->report->end == TRY_OUT_OF_FORKS || s->outcome.status == -SIGXFSZ;
}

// Of an unchanged run nothing: it is the session's own.
static uint8_t stops_of(const TryRuns *r, const TrySlot *s) {
  Confine **confines = r->runner->confines;
  bool refused = false;
  unsigned stops = 0;
  if (confines)
    confine_take_refused(confines[s - r->slots], note_refused, &refused);
  if (!s->job->experiment)
    return 0;
  if (s->report->end == TRY_OUT_OF_STEPS)
    stops = RUN_OUT_OF_STEPS;
  else if (is_over_limits(s))
    stops = RUN_OUT_OF_LIMITS;
  else if (s->outcome.end == END_TIMEOUT)
    stops = RUN_OUT_OF_TIME;
  stops |= s->report->refused ? RUN_REFUSED_MEMORY : 0;
  stops |= refused ? RUN_REFUSED_CONFINE : 0;
  return (uint8_t)stops;
}

static void note_end(TryRuns *r, TrySlot *s) {
  TryResult *result = &s->job->result;
  const TryReport *p = s->report;
  *result = (TryResult){.ran = s->outcome.end != END_UNSTARTED,
                        .end = s->outcome.end,
                        .stops = stops_of(r, s),
                        .steps = p->steps,
                        .executed = p->executed,
                        .changed = p->changed,
                        .relations = p->relations};
  if (is_recording(s))
    return;
  stops_count(&r->stops, result->stops);
  if (s->job->log)
    s->job->log(s->job->context, p);
}

// Does the verdict still need another process?
static bool needs_second(const TryRuns *r, const TrySlot *s) {
  Second second = r->runner->oracle.kind->second;
  return (second == SECOND_PROGRAM && !r->answers[s->job->test].known) ||
         (second == SECOND_SHELL && s->step == STEP_TEST);
}

// The test has ended, and its oracle's process too. *more: that must run first.
static int finish_test(TryRuns *r, TrySlot *s, bool *more, Err *err) {
  Run run = {0};
  Segments segments = {0};
  int rc = 0;
  if (r->options.collect && s->outcome.end != END_UNSTARTED)
    rc = runner_collect(r->runner, s->run_dir, &run, &segments, err);
  Trial t = trial_of(r, s);
  bool settled = !rc && oracle_settled(&t, &run);
  *more = !rc && !settled && needs_second(r, s);
  if (!rc && !*more)
    rc = judge(r, s, settled, &run, &segments, err);
  if (!rc && !*more && r->options.collect)
    rc = dir_make_empty(s->run_dir, err);
  segments_release(&segments);
  run_release(&run);
  return rc;
}

static void slot_free(TrySlot *s) {
  arena_release(&s->arena);
  s->job = s->next = NULL;
}

// Is its result kept? Not what only its log or its parts tell.
static bool is_remembered(const TryRuns *r, const TryJob *j) {
  return r->options.memory_of_runs && r->tests[j->test].whole && !j->log &&
         !j->dir && !j->ended && !j->failure;
}

static uint64_t key_of(const TryRuns *r, const TryJob *j) {
  return try_memory_key(r->tests[j->test].test, j->experiment);
}

static void remember(TryRuns *r, const TryJob *j) {
  if (is_remembered(r, j) && j->result.ran)
    try_memory_add(r->options.memory_of_runs, key_of(r, j), &j->result);
}

static void take_verdicts(const TryRuns *r, TryJob *j,
                          const TriedVerdict *verdicts) {
  size_t n = r->tests[j->test].nruns;
  j->result.passes = true;
  for (size_t i = 0; i < n; i++)
    j->result.passes &= verdicts[i] == TRIED_PASS;
  if (j->verdicts && n)
    memcpy(j->verdicts, verdicts, n * sizeof *verdicts);
}

// The script has been recorded, or not: now for the job itself, unless the run
// that was recorded is it.
static void end_recording(TryRuns *r, TrySlot *s) {
  const TryJob *done = &s->recording;
  s->job = s->next;
  s->next = NULL;
  if (r->captured.tests[done->test].state != CAPTURED_READY ||
      !is_unchanged(s->job) || s->job->log) {
    start_job(r, s);
    return;
  }
  s->job->result = done->result;
  take_verdicts(r, s->job, done->verdicts);
  remember(r, s->job);
  slot_free(s);
}

// Did the recorded script end as that of the session did? (Its parts may not be
// known in this build: then they are left out of all numbers.)
static bool is_as_stored(const TryRuns *r, const TryJob *j) {
  const TryTest *t = &r->tests[j->test];
  bool passed = true;
  for (size_t i = 0; i < t->nruns; i++)
    passed &= r->suite->runs[t->runs[i]].verdict == VERDICT_PASS;
  return j->result.ran && j->result.passes == passed;
}

static void recording_ended(TryRuns *r, TrySlot *s) {
  size_t test = s->job->test;
  if (captured_recorded(&r->captured, test, s->job->verdicts,
                        r->tests[test].nruns) &&
      is_as_stored(r, s->job)) {
    start_repetition(r, s, STEP_REPEAT_FIRST);
    return;
  }
  captured_refuse(&r->captured, test);
  end_recording(r, s);
}

static int status_of(const Outcome *o) {
  return o->end == END_EXIT ? o->status : -1;
}

static void repetition_ended(TryRuns *r, TrySlot *s, const Outcome *outcome) {
  CapturedTests *c = &r->captured;
  size_t test = s->job->test;
  CapturedAnswer a = captured_answer(status_of(outcome), s->out);
  if (s->step == STEP_REPEAT_FIRST) {
    if (a.same && (r->options.capture == CAPTURE_ALWAYS ||
                   outcome->seconds * QUICKER < s->outcome.seconds))
      captured_keep(c, test);
    else
      captured_refuse(c, test);
    end_recording(r, s);
    return;
  }
  const TriedVerdict *verdicts = captured_decide(c, test, &a);
  if (!verdicts) {
    s->answer = a;
    start_test(r, s);
    return;
  }
  s->outcome = *outcome;
  note_end(r, s);
  take_verdicts(r, s->job, verdicts);
  remember(r, s->job);
  slot_free(s);
}

static void test_ended(TryRuns *r, TrySlot *s) {
  size_t test = s->job->test;
  if (is_recording(s)) {
    recording_ended(r, s);
    return;
  }
  if (r->captured.enabled)
    r->captured.tests[test].scripts++;
  if (s->answer.known && s->job->verdicts)
    captured_learn(&r->captured, test, &s->answer, s->report->starts,
                   s->job->verdicts);
  remember(r, s->job);
  slot_free(s);
}

static int process_ended(TryRuns *r, TrySlot *s, const Outcome *outcome,
                         Err *err) {
  bool more = false;
  if (s->step == STEP_REPEAT || s->step == STEP_REPEAT_FIRST) {
    repetition_ended(r, s, outcome);
    return 0;
  }
  if (s->step == STEP_TEST) {
    s->outcome = *outcome;
    note_end(r, s);
    if (s->job->ended) {
      s->job->ended(s->job->context, outcome, s->out);
      slot_free(s);
      return 0;
    }
  } else if (s->step == STEP_REFERENCE) {
    r->answers[s->job->test] =
        (ReferenceAnswer){true, *outcome, s->answer_out, s->answer_err};
  } else {
    s->second = *outcome;
  }
  if (finish_test(r, s, &more, err))
    return -1;
  if (!more)
    test_ended(r, s);
  else if (r->runner->oracle.kind->second == SECOND_PROGRAM)
    start_reference(r, s);
  else
    start_oracle(r, s);
  return 0;
}

// --- all jobs ---------------------------------------------------------------

static bool may_go_on(const TryRuns *r) {
  return !r->runner->interrupted &&
         (!r->options.go_on || r->options.go_on(r->options.context));
}

static bool recall(TryRuns *r, TryJob *j) {
  const TryTest *t = &r->tests[j->test];
  bool before = false;
  if (!is_remembered(r, j) ||
      !try_memory_find(r->options.memory_of_runs, key_of(r, j), &j->result,
                       &before))
    return false;
  for (size_t i = 0; j->verdicts && i < t->nruns; i++)
    j->verdicts[i] = j->result.passes ? TRIED_PASS : TRIED_FAIL;
  stops_count(&r->stops, j->result.stops);
  r->recalled += before;
  r->count++; // so that the search goes as it went
  return true;
}

static void start_idle(TryRuns *r, TryJob *jobs, size_t n, size_t *next) {
  for (size_t i = 0; i < r->nslots && *next < n; i++) {
    TrySlot *s = &r->slots[i];
    while (!s->job && *next < n && recall(r, &jobs[*next]))
      ++*next;
    if (s->job || *next == n)
      continue;
    s->job = &jobs[(*next)++];
    r->count++;
    start_job(r, s);
  }
}

static bool is_any_busy(const TryRuns *r) {
  for (size_t i = 0; i < r->nslots; i++)
    if (r->slots[i].job)
      return true;
  return false;
}

static void give_up(TryRuns *r) {
  pool_kill_all(r->runner->pool);
  for (size_t i = 0; i < r->nslots; i++)
    if (r->slots[i].job) {
      if (is_recording(&r->slots[i]))
        captured_refuse(&r->captured, r->slots[i].job->test);
      r->slots[i].job->result = (TryResult){0};
      slot_free(&r->slots[i]);
    }
}

int try_runs_do(TryRuns *r, TryJob *jobs, size_t n, Err *err) {
  size_t next = 0, slot;
  int rc = 0;
  for (size_t i = 0; i < n; i++)
    jobs[i].result = (TryResult){0};
  while (!rc) {
    bool go_on = may_go_on(r);
    if (go_on)
      start_idle(r, jobs, n, &next);
    if (!go_on || !is_any_busy(r))
      break;
    Outcome outcome;
    PoolEvent event = pool_wait(r->runner->pool, ASK, &slot, &outcome);
    if (event == POOL_INTERRUPTED)
      r->runner->interrupted = true;
    else if (event == POOL_ENDED)
      rc = process_ended(r, &r->slots[slot], &outcome, err);
  }
  give_up(r);
  return rc;
}
