// Running a change on tests: see try_search.h.
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "try/try_internal.h"
#include "util/mem.h"

enum {
  CONFIRM_FAILING = 9, // further failing tests
  CONFIRM_PASSING = 10,
  PASSING_CHUNK = 48, // of all, at a time
  STEPS_FACTOR = 4,
  STEPS_LEAST = 500000,
};

// --- budget -----------------------------------------------------------------

uint64_t search_runs(const TrySearch *s) {
  return try_runs_count(s->session->runs) - s->first;
}

bool search_spent(const TrySearch *s) {
  return s->broken || search_runs(s) >= s->options->most;
}

static void show_progress(const TrySearch *s) {
  if (s->options->progress)
    s->options->progress(s->options->context, search_runs(s),
                         s->found->changes.len);
}

// --- running ----------------------------------------------------------------

size_t search_site(const TrySearch *s, const Site *site) {
  return (size_t)(site - s->session->sites->sites.items);
}

Experiment experiment_of(const Change *c) {
  return (Experiment){.unit = c->site->unit,
                      .site = c->site->number,
                      .change = c->change,
                      .a = c->a,
                      .b = c->b};
}

static uint64_t step_limit(const TrySearch *s, size_t test) {
  uint64_t normal = s->steps[test] ? s->steps[test] : s->longest;
  return STEPS_FACTOR * normal + STEPS_LEAST;
}

// Runs the jobs; false: that is no longer possible, or was cut short.
bool search_run(TrySearch *s, TryJob *jobs, size_t n) {
  TryTest *tests = (TryTest *)s->session->tests;
  for (size_t i = 0; i < n; i++)
    if (jobs[i].experiment)
      tests[jobs[i].test].steps = step_limit(s, jobs[i].test);
    else
      tests[jobs[i].test].steps = 0;
  if (try_runs_do(s->session->runs, jobs, n, s->err)) {
    s->broken = true;
    return false;
  }
  show_progress(s);
  for (size_t i = 0; i < n; i++)
    if (!jobs[i].result.ran) {
      s->broken |= jobs[i].result.end != END_UNSTARTED;
      s->found->cut = true;
    }
  return !s->broken;
}

// Runs tests unchanged, once: do they end here as they did? Those that do not
// are left out.
void search_check(TrySearch *s, const uint32_t *runs, size_t n) {
  const TrySession *t = s->session;
  ARRAY(TryJob) jobs = {0};
  bool *asked = mem_array(bool, t->ntests + 1);
  for (size_t i = 0; i < n; i++) {
    size_t test = t->test_of[runs[i]];
    if (s->checked[runs[i]] || asked[test])
      continue;
    asked[test] = true;
    TriedVerdict *v =
        arena_array(&s->found->arena, TriedVerdict, t->tests[test].nruns + 1);
    array_push(&jobs, ((TryJob){.test = test, .verdicts = v}));
  }
  search_run(s, jobs.items, jobs.len);
  for (size_t i = 0; i < jobs.len; i++) {
    const TryTest *test = &t->tests[jobs.items[i].test];
    const TryResult *r = &jobs.items[i].result;
    if (!r->ran)
      continue;
    s->steps[jobs.items[i].test] = r->steps;
    s->longest = r->steps > s->longest ? r->steps : s->longest;
    for (size_t k = 0; k < test->nruns; k++) {
      uint32_t run = test->runs[k];
      bool passes = t->suite->runs[run].verdict == VERDICT_PASS;
      s->checked[run] = true;
      s->session->dropped[run] =
          (jobs.items[i].verdicts[k] == TRIED_PASS) != passes;
    }
  }
  free(asked);
  array_release(&jobs);
}

bool search_executes(const TrySearch *s, uint32_t run, uint32_t statement) {
  return bitset_has(&s->session->executes[run], statement);
}

// --- attempts ---------------------------------------------------------------

// Takes over what the process of the run said of all runs in it.
void attempt_take(TrySearch *s, TryAttempt *a, const TryJob *job) {
  const TryTest *test = &s->session->tests[job->test];
  for (size_t k = 0; k < test->nruns && job->result.ran; k++)
    a->verdicts[test->runs[k]] = job->verdicts[k];
}

// Lets the attempt's change run in the processes of these runs.
static bool run_attempt(TrySearch *s, TryAttempt *a, const uint32_t *runs,
                        size_t n) {
  const TrySession *t = s->session;
  ARRAY(TryJob) jobs = {0};
  bool *asked = mem_array(bool, t->ntests + 1);
  for (size_t i = 0; i < n; i++) {
    size_t test = t->test_of[runs[i]];
    if (a->verdicts[runs[i]] != TRIED_UNKNOWN || asked[test])
      continue;
    asked[test] = true;
    TriedVerdict *v = mem_array(TriedVerdict, t->tests[test].nruns + 1);
    array_push(
        &jobs,
        ((TryJob){.test = test, .experiment = &a->experiment, .verdicts = v}));
  }
  bool done = search_run(s, jobs.items, jobs.len);
  for (size_t i = 0; i < jobs.len; i++) {
    attempt_take(s, a, &jobs.items[i]);
    free(jobs.items[i].verdicts);
  }
  free(asked);
  array_release(&jobs);
  return done;
}

// Passing runs that seem broken must pass unchanged to count as such.
static void check_broken(TrySearch *s, const TryAttempt *a) {
  ARRAY(uint32_t) doubtful = {0};
  for (size_t i = 0; i < s->passing.len; i++)
    if (a->verdicts[s->passing.items[i]] == TRIED_FAIL &&
        !s->checked[s->passing.items[i]])
      array_push(&doubtful, s->passing.items[i]);
  search_check(s, doubtful.items, doubtful.len);
  array_release(&doubtful);
}

static void count_verdicts(TrySearch *s, TryAttempt *a) {
  a->repaired = a->failing = a->kept = a->passing = 0;
  for (size_t i = 0; i < s->failing.len; i++) {
    uint32_t run = s->failing.items[i];
    if (s->session->dropped[run] || a->verdicts[run] == TRIED_UNKNOWN)
      continue;
    a->failing++;
    a->repaired += a->verdicts[run] == TRIED_PASS;
  }
  for (size_t i = 0; i < s->passing.len; i++) {
    uint32_t run = s->passing.items[i];
    if (s->session->dropped[run] || a->verdicts[run] == TRIED_UNKNOWN)
      continue;
    a->passing++;
    a->kept += a->verdicts[run] == TRIED_PASS;
  }
}

FoundChange attempt_found(const TrySearch *s, const TryAttempt *a) {
  return (FoundChange){.change = a->change,
                       .statement = s->lines.items[a->line].statement,
                       .repaired = a->repaired,
                       .failing = a->failing,
                       .kept = a->kept,
                       .passing = a->passing,
                       .all = a->all};
}

static void keep(TrySearch *s, const TryAttempt *a) {
  if (a->repaired)
    array_push(&s->found->changes, attempt_found(s, a));
}

// --- choosing tests ---------------------------------------------------------

static uint64_t random_of(const TrySearch *s, uint64_t a, uint64_t b) {
  const uint64_t words[] = {s->options->seed, a, b};
  return XXH3_64bits(words, sizeof words);
}

typedef struct {
  const TrySearch *search;
  uint32_t statement;
} Draw;

static int by_random(const void *a, const void *b, void *context) {
  const Draw *d = context;
  uint64_t x = random_of(d->search, d->statement, *(const uint32_t *)a);
  uint64_t y = random_of(d->search, d->statement, *(const uint32_t *)b);
  return (x > y) - (x < y);
}

// The first `n` of a list that execute the statement and are in the session.
void search_choose(const TrySearch *s, const uint32_t *list, size_t len,
                   uint32_t statement, size_t n, TryRunList *out) {
  size_t most = out->len + n;
  for (size_t i = 0; i < len && out->len < most; i++) {
    bool again = false;
    for (size_t k = 0; k < out->len; k++)
      again |= out->items[k] == list[i];
    if (!again && !s->session->dropped[list[i]] &&
        search_executes(s, list[i], statement))
      array_push(out, list[i]);
  }
}

static void choose_passing(const TrySearch *s, uint32_t statement,
                           TryRunList *out) {
  search_choose(s, s->nearest, s->passing.len, statement, CONFIRM_PASSING / 2,
                out);
  uint32_t *order =
      mem_dup(s->passing.items, s->passing.len * sizeof *s->passing.items);
  Draw draw = {s, statement};
  if (s->passing.len)
    qsort_r(order, s->passing.len, sizeof *order, by_random, &draw);
  search_choose(s, order, s->passing.len, statement, CONFIRM_PASSING - out->len,
                out);
  free(order);
}

TryAttempt attempt_of(const TrySearch *s, size_t line, const Change *c) {
  return (TryAttempt){
      .line = line,
      .change = *c,
      .experiment = experiment_of(c),
      .verdicts = mem_array(TriedVerdict, s->session->suite->nruns + 1)};
}

// --- confirming -------------------------------------------------------------

static bool is_clean(const TryAttempt *a) {
  return a->repaired == a->failing && a->kept == a->passing;
}

// Runs that do not execute the line end as they did.
static void take_unaffected(TrySearch *s, TryAttempt *a, uint32_t statement) {
  for (size_t i = 0; i < s->failing.len; i++)
    if (!search_executes(s, s->failing.items[i], statement))
      a->verdicts[s->failing.items[i]] = TRIED_FAIL;
}

static bool run_passing(TrySearch *s, TryAttempt *a) {
  for (size_t i = 0; i < s->passing.len && !search_spent(s);) {
    TryRunList chunk = {0};
    for (; i < s->passing.len && chunk.len < PASSING_CHUNK; i++)
      if (!s->session->dropped[s->nearest[i]])
        array_push(&chunk, s->nearest[i]);
    bool done = run_attempt(s, a, chunk.items, chunk.len);
    array_release(&chunk);
    check_broken(s, a);
    count_verdicts(s, a);
    if (!done || !is_clean(a))
      return false;
  }
  return !search_spent(s);
}

static void confirm_all(TrySearch *s, TryAttempt *a) {
  bool done = run_attempt(s, a, s->failing.items, s->failing.len);
  count_verdicts(s, a);
  if (done && is_clean(a))
    a->all = run_passing(s, a);
}

// The change has repaired the screening test.
void attempt_confirm(TrySearch *s, TryAttempt *a) {
  uint32_t statement = s->lines.items[a->line].statement;
  TryRunList runs = {0};
  search_choose(s, s->failing.items, s->failing.len, statement,
                CONFIRM_FAILING + 1, &runs);
  bool done = run_attempt(s, a, runs.items, runs.len);
  take_unaffected(s, a, statement);
  runs.len = 0;
  choose_passing(s, statement, &runs);
  done = done && run_attempt(s, a, runs.items, runs.len);
  array_release(&runs);
  check_broken(s, a);
  count_verdicts(s, a);
  if (done && is_clean(a))
    confirm_all(s, a);
  keep(s, a);
}
