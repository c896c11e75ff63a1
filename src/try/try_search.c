// The search for changes that repair a failure: see try_search.h.
#include "try/try_search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "try/clauses.h"
#include "util/hashmap.h"
#include "util/mem.h"

enum {
  BATCH = 64,          // experiments that are screened together
  CONFIRM_FAILING = 9, // further failing tests
  CONFIRM_PASSING = 10,
  PASSING_CHUNK = 48, // of all, at a time
  WATCH_FAILING = 3,  // runs that clauses are made from
  WATCH_PASSING = 16,
  STEPS_FACTOR = 4,
  STEPS_LEAST = 20000,
  DELAY = 2, // so many ranks lower, a line begins one change later
};

// What is known of a site in its line's screening test.
typedef struct {
  bool watched, watching;
  bool reached;       // valid if watched, or once a change was run
  bool unreached;     // a change was run, and the site was not executed
  uint32_t relations; // TryReport.relations
  int8_t outcomes[8]; // by outcomes among the relations: 0 not tried, 1 does
                      // not repair, 2 repairs
  unsigned clauses;   // times made
} SiteState;

typedef struct {
  uint32_t statement;
  uint32_t screen; // run
  Changes changes; // in the order they are tried
  size_t next;
  uint32_t tried;
  double best; // score
  size_t kept; // FoundChanges
} Line;

// A change to be tried on its line's screening test.
typedef struct {
  size_t line;
  Change change;
  bool watches; // the site first
} Screening;

// A change in the course of being tried.
typedef struct {
  size_t line;
  Change change;
  Experiment experiment;
  TriedVerdict *verdicts; // by run of the suite
  uint32_t repaired, failing, kept, passing;
  bool all;
} Attempt;

typedef struct {
  TrySession *session;
  const TrySearchOptions *options;
  TryFound *found;
  Err *err;
  ARRAY(Line) lines;
  SiteState *sites;                 // by site of the table
  ARRAY(uint32_t) failing, passing; // runs of the suite that can be run
  bool *checked;                    // by run: its verdict holds in this build
  bool *dropped;                    // by run: it does not
  uint64_t *steps;                  // by test: of its unchanged run; 0: unknown
  uint64_t longest;                 // of all of them
  uint64_t first;                   // runs made before
  uint32_t *nearest;                // passing runs, nearest first
  Hashmap constants;                // function -> index in constant_lists
  ARRAY(Changes) constant_lists;
  bool broken; // the environment is
} Search;

double found_score(const FoundChange *f) {
  double repaired = f->failing ? (double)f->repaired / f->failing : 0;
  double broken =
      f->passing ? (double)(f->passing - f->kept) / (double)f->passing : 0;
  return repaired - broken;
}

bool found_survives(const FoundChange *f) {
  return f->all && f->repaired == f->failing && f->kept == f->passing;
}

void try_found_release(TryFound *f) {
  array_release(&f->changes);
  array_release(&f->lines);
  arena_release(&f->arena);
}

// --- budget -----------------------------------------------------------------

static uint64_t runs_made(const Search *s) {
  return try_runs_count(s->session->runs) - s->first;
}

static bool is_spent(const Search *s) {
  return s->broken || runs_made(s) >= s->options->most;
}

static void show_progress(const Search *s) {
  if (s->options->progress)
    s->options->progress(s->options->context, runs_made(s),
                         s->found->changes.len);
}

// --- running ----------------------------------------------------------------

static size_t site_index(const Search *s, const Site *site) {
  return (size_t)(site - s->session->sites->sites.items);
}

static Experiment experiment_of(const Change *c) {
  return (Experiment){.unit = c->site->unit,
                      .site = c->site->number,
                      .change = c->change,
                      .a = c->a,
                      .b = c->b};
}

static uint64_t step_limit(const Search *s, size_t test) {
  uint64_t normal = s->steps[test] ? s->steps[test] : s->longest;
  return STEPS_FACTOR * normal + STEPS_LEAST;
}

// Runs the jobs; false: that is no longer possible, or was cut short.
static bool run_jobs(Search *s, TryJob *jobs, size_t n) {
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
static void check_runs(Search *s, const uint32_t *runs, size_t n) {
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
  run_jobs(s, jobs.items, jobs.len);
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
      s->dropped[run] = (jobs.items[i].verdicts[k] == TRIED_PASS) != passes;
    }
  }
  free(asked);
  array_release(&jobs);
}

static bool executes(const Search *s, uint32_t run, uint32_t statement) {
  return bitset_has(&s->session->executes[run], statement);
}

// --- attempts ---------------------------------------------------------------

// Takes over what the process of the run said of all runs in it.
static void take_verdicts(Search *s, Attempt *a, const TryJob *job) {
  const TryTest *test = &s->session->tests[job->test];
  for (size_t k = 0; k < test->nruns && job->result.ran; k++)
    a->verdicts[test->runs[k]] = job->verdicts[k];
}

// Lets the attempt's change run in the processes of these runs.
static bool run_attempt(Search *s, Attempt *a, const uint32_t *runs, size_t n) {
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
  bool done = run_jobs(s, jobs.items, jobs.len);
  for (size_t i = 0; i < jobs.len; i++) {
    take_verdicts(s, a, &jobs.items[i]);
    free(jobs.items[i].verdicts);
  }
  free(asked);
  array_release(&jobs);
  return done;
}

// Passing runs that seem broken must pass unchanged to count as such.
static void check_broken(Search *s, const Attempt *a) {
  ARRAY(uint32_t) doubtful = {0};
  for (size_t i = 0; i < s->passing.len; i++)
    if (a->verdicts[s->passing.items[i]] == TRIED_FAIL &&
        !s->checked[s->passing.items[i]])
      array_push(&doubtful, s->passing.items[i]);
  check_runs(s, doubtful.items, doubtful.len);
  array_release(&doubtful);
}

static void count_verdicts(Search *s, Attempt *a) {
  a->repaired = a->failing = a->kept = a->passing = 0;
  for (size_t i = 0; i < s->failing.len; i++) {
    uint32_t run = s->failing.items[i];
    if (s->dropped[run] || a->verdicts[run] == TRIED_UNKNOWN)
      continue;
    a->failing++;
    a->repaired += a->verdicts[run] == TRIED_PASS;
  }
  for (size_t i = 0; i < s->passing.len; i++) {
    uint32_t run = s->passing.items[i];
    if (s->dropped[run] || a->verdicts[run] == TRIED_UNKNOWN)
      continue;
    a->passing++;
    a->kept += a->verdicts[run] == TRIED_PASS;
  }
}

static FoundChange found_of(const Search *s, const Attempt *a) {
  return (FoundChange){.change = a->change,
                       .statement = s->lines.items[a->line].statement,
                       .repaired = a->repaired,
                       .failing = a->failing,
                       .kept = a->kept,
                       .passing = a->passing,
                       .all = a->all};
}

static void keep(Search *s, const Attempt *a) {
  Line *line = &s->lines.items[a->line];
  FoundChange f = found_of(s, a);
  double score = found_score(&f);
  if (!f.repaired)
    return;
  line->best = score > line->best ? score : line->best;
  line->kept++;
  array_push(&s->found->changes, f);
}

// --- choosing tests ---------------------------------------------------------

static uint64_t random_of(const Search *s, uint64_t a, uint64_t b) {
  const uint64_t words[] = {s->options->seed, a, b};
  return XXH3_64bits(words, sizeof words);
}

typedef struct {
  const Search *search;
  uint32_t statement;
} Draw;

static int by_random(const void *a, const void *b, void *context) {
  const Draw *d = context;
  uint64_t x = random_of(d->search, d->statement, *(const uint32_t *)a);
  uint64_t y = random_of(d->search, d->statement, *(const uint32_t *)b);
  return (x > y) - (x < y);
}

typedef ARRAY(uint32_t) RunList;

// The first `n` of a list that execute the statement and are in the session.
static void choose(const Search *s, const uint32_t *list, size_t len,
                   uint32_t statement, size_t n, RunList *out) {
  size_t most = out->len + n;
  for (size_t i = 0; i < len && out->len < most; i++) {
    bool again = false;
    for (size_t k = 0; k < out->len; k++)
      again |= out->items[k] == list[i];
    if (!again && !s->dropped[list[i]] && executes(s, list[i], statement))
      array_push(out, list[i]);
  }
}

static void choose_passing(const Search *s, uint32_t statement, RunList *out) {
  choose(s, s->nearest, s->passing.len, statement, CONFIRM_PASSING / 2, out);
  uint32_t *order =
      mem_dup(s->passing.items, s->passing.len * sizeof *s->passing.items);
  Draw draw = {s, statement};
  if (s->passing.len)
    qsort_r(order, s->passing.len, sizeof *order, by_random, &draw);
  choose(s, order, s->passing.len, statement, CONFIRM_PASSING - out->len, out);
  free(order);
}

// --- confirming -------------------------------------------------------------

static bool is_clean(const Attempt *a) {
  return a->repaired == a->failing && a->kept == a->passing;
}

// Runs that do not execute the line end as they did.
static void take_unaffected(Search *s, Attempt *a, uint32_t statement) {
  for (size_t i = 0; i < s->failing.len; i++)
    if (!executes(s, s->failing.items[i], statement))
      a->verdicts[s->failing.items[i]] = TRIED_FAIL;
}

static bool run_passing(Search *s, Attempt *a) {
  for (size_t i = 0; i < s->passing.len && !is_spent(s);) {
    RunList chunk = {0};
    for (; i < s->passing.len && chunk.len < PASSING_CHUNK; i++)
      if (!s->dropped[s->nearest[i]])
        array_push(&chunk, s->nearest[i]);
    bool done = run_attempt(s, a, chunk.items, chunk.len);
    array_release(&chunk);
    check_broken(s, a);
    count_verdicts(s, a);
    if (!done || !is_clean(a))
      return false;
  }
  return !is_spent(s);
}

static void confirm_all(Search *s, Attempt *a) {
  bool done = run_attempt(s, a, s->failing.items, s->failing.len);
  count_verdicts(s, a);
  if (done && is_clean(a))
    a->all = run_passing(s, a);
}

// The change has repaired the screening test.
static void confirm(Search *s, Attempt *a) {
  uint32_t statement = s->lines.items[a->line].statement;
  RunList runs = {0};
  choose(s, s->failing.items, s->failing.len, statement, CONFIRM_FAILING + 1,
         &runs);
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

// --- clauses ----------------------------------------------------------------

typedef struct {
  Evaluations *seen;
  size_t names;
  bool fails;
  Arena *arena;
} Watch;

static void take_log(void *context, const TryReport *report) {
  Watch *w = context;
  size_t size = 1 + w->names;
  for (size_t at = 0; at + size <= report->words; at += size) {
    int64_t *copy = arena_array(w->arena, int64_t, size);
    memcpy(copy, report->log + at, size * sizeof *copy);
    array_push(w->seen, ((Evaluation){copy, w->fails}));
  }
}

static void watch_runs(Search *s, const Site *site, const RunList *runs,
                       size_t nfailing, Evaluations *seen, Arena *arena) {
  Change none = {.site = site, .change = CHANGE_NONE};
  Experiment e = experiment_of(&none);
  Watch *watches = arena_array(arena, Watch, runs->len + 1);
  TryJob *jobs = arena_array(arena, TryJob, runs->len + 1);
  for (size_t i = 0; i < runs->len; i++) {
    watches[i] = (Watch){seen, site->nnames, i < nfailing, arena};
    jobs[i] = (TryJob){.test = s->session->test_of[runs->items[i]],
                       .experiment = &e,
                       .log = take_log,
                       .context = &watches[i]};
  }
  run_jobs(s, jobs, runs->len);
}

static const Changes *constants_in(const Search *s, const char *function) {
  uint64_t at;
  return hashmap_get(&s->constants, function, strlen(function), &at)
             ? &s->constant_lists.items[at]
             : NULL;
}

static size_t list_constants(const Search *s, const Site *site, int64_t *out,
                             size_t most) {
  const Changes *list = constants_in(s, site->function);
  size_t n = 0;
  for (size_t i = 0; list && i < list->len && n < most; i++)
    out[n++] = list->items[i].a;
  return n;
}

static void screen_batch(Search *s, const Screening *batch, size_t n);

static Attempt attempt_of(Search *s, size_t line, const Change *c) {
  return (Attempt){.line = line,
                   .change = *c,
                   .experiment = experiment_of(c),
                   .verdicts =
                       mem_array(TriedVerdict, s->session->suite->nruns + 1)};
}

static void try_clauses(Search *s, size_t line, const Site *site) {
  enum { CONSTANTS = 16 };
  SiteState *state = &s->sites[site_index(s, site)];
  uint32_t statement = s->lines.items[line].statement;
  int64_t constants[CONSTANTS];
  if (!s->options->clauses || !site->nnames || state->clauses++)
    return;
  Arena arena = {0};
  Evaluations seen = {0};
  Changes clauses = {0};
  RunList runs = {0};
  array_push(&runs, s->lines.items[line].screen);
  choose(s, s->failing.items, s->failing.len, statement, WATCH_FAILING - 1,
         &runs);
  size_t nfailing = runs.len;
  choose(s, s->nearest, s->passing.len, statement, WATCH_PASSING, &runs);
  watch_runs(s, site, &runs, nfailing, &seen, &arena);
  size_t n = list_constants(s, site, constants, CONSTANTS);
  clauses_find(site, &seen, constants, n, &clauses);
  Screening *batch = mem_array(Screening, clauses.len + 1);
  for (size_t i = 0; i < clauses.len; i++)
    batch[i] = (Screening){.line = line, .change = clauses.items[i]};
  screen_batch(s, batch, clauses.len);
  free(batch);
  array_release(&clauses);
  array_release(&runs);
  array_release(&seen);
  arena_release(&arena);
}

// --- screening --------------------------------------------------------------

// Is it known that the change makes no difference, or that another one with
// the same outcomes does not repair?
static bool is_pointless(const Search *s, const Change *c) {
  const SiteState *state = &s->sites[site_index(s, c->site)];
  if (state->unreached)
    return true;
  int outcomes = change_outcomes(c);
  if (!state->watched || outcomes < 0 || state->relations > 7)
    return false;
  Change none = {.site = c->site, .change = CHANGE_NONE};
  int seen = (int)state->relations;
  if ((outcomes & seen) == (change_outcomes(&none) & seen))
    return true;
  return state->outcomes[outcomes & seen] == 1;
}

static void note_result(Search *s, const Screening *c, const TryJob *job,
                        bool repairs) {
  SiteState *state = &s->sites[site_index(s, c->change.site)];
  if (!job->result.ran)
    return;
  state->unreached = !job->result.executed;
  if (c->watches) {
    state->watched = true;
    state->watching = false;
    state->relations = job->result.relations;
    return;
  }
  int outcomes = change_outcomes(&c->change);
  if (outcomes >= 0 && state->watched && state->relations <= 7)
    state->outcomes[(unsigned)outcomes & state->relations] = repairs ? 2 : 1;
}

static bool needs_watching(const Search *s, const Change *c) {
  return c->site->kind == SITE_COMPARE &&
         !s->sites[site_index(s, c->site)].watched;
}

// The next change of a line; false: it has none that makes sense now.
static bool next_of(Search *s, size_t line, Screening *out) {
  Line *l = &s->lines.items[line];
  for (; l->next < l->changes.len; l->next++) {
    const Change *c = &l->changes.items[l->next];
    SiteState *state = &s->sites[site_index(s, c->site)];
    if (is_pointless(s, c))
      continue;
    *out = (Screening){.line = line, .change = *c};
    if (!needs_watching(s, c)) {
      l->next++;
      return true;
    }
    if (state->watching)
      return false; // in this batch
    state->watching = true;
    out->watches = true;
    out->change.change = CHANGE_NONE;
    return true;
  }
  return false;
}

static double urgency(const Search *s, size_t line) {
  return (double)s->lines.items[line].next + (double)line / DELAY;
}

static size_t most_urgent(const Search *s, const bool *empty) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < s->lines.len; i++)
    if (!empty[i] && (best == SIZE_MAX || urgency(s, i) < urgency(s, best)))
      best = i;
  return best;
}

static size_t fill_batch(Search *s, Screening *batch) {
  size_t n = 0;
  bool *empty = mem_array(bool, s->lines.len + 1);
  while (n < BATCH) {
    size_t line = most_urgent(s, empty);
    if (line == SIZE_MAX)
      break;
    if (next_of(s, line, &batch[n]))
      n++;
    else
      empty[line] = true;
  }
  free(empty);
  return n;
}

static bool is_condition(const Change *c) {
  return c->change == CHANGE_FORCE || c->change == CHANGE_NEGATE ||
         c->change == CHANGE_COMPARE;
}

// One change of the batch has been screened.
static void follow_up(Search *s, const Screening *c, Attempt *a) {
  Line *l = &s->lines.items[c->line];
  if (a->verdicts[l->screen] != TRIED_PASS || c->watches || is_spent(s))
    return;
  confirm(s, a);
  FoundChange f = found_of(s, a);
  if (!found_survives(&f) && is_condition(&c->change))
    try_clauses(s, c->line, c->change.site);
}

static void screen_batch(Search *s, const Screening *batch, size_t n) {
  Attempt *attempts = mem_array(Attempt, n + 1);
  TryJob *jobs = mem_array(TryJob, n + 1);
  for (size_t i = 0; i < n; i++) {
    size_t test = s->session->test_of[s->lines.items[batch[i].line].screen];
    attempts[i] = attempt_of(s, batch[i].line, &batch[i].change);
    jobs[i] = (TryJob){
        .test = test,
        .experiment = &attempts[i].experiment,
        .verdicts = mem_array(TriedVerdict, s->session->tests[test].nruns + 1)};
  }
  run_jobs(s, jobs, n);
  for (size_t i = 0; i < n; i++) {
    Line *l = &s->lines.items[batch[i].line];
    take_verdicts(s, &attempts[i], &jobs[i]);
    l->tried += jobs[i].result.ran && !batch[i].watches;
    note_result(s, &batch[i], &jobs[i],
                attempts[i].verdicts[l->screen] == TRIED_PASS);
  }
  for (size_t i = 0; i < n; i++) {
    follow_up(s, &batch[i], &attempts[i]);
    free(jobs[i].verdicts);
    free(attempts[i].verdicts);
  }
  free(jobs);
  free(attempts);
}

// --- preparing --------------------------------------------------------------

static void list_runs(Search *s) {
  const TrySession *t = s->session;
  const FailureGroup *g = &t->suite->failures[s->options->failure];
  for (size_t i = 0; i < g->nruns; i++)
    if (t->test_of[g->runs[i]] != SIZE_MAX &&
        t->suite->runs[g->runs[i]].verdict == VERDICT_FAIL)
      array_push(&s->failing, g->runs[i]);
  for (uint32_t i = 0; i < t->suite->nruns; i++)
    if (t->test_of[i] != SIZE_MAX && t->suite->runs[i].verdict == VERDICT_PASS)
      array_push(&s->passing, i);
}

typedef struct {
  uint32_t run;
  double nearness;
} NearRun;

static int by_nearness(const void *a, const void *b) {
  const NearRun *x = a, *y = b;
  if (x->nearness != y->nearness)
    return x->nearness < y->nearness ? 1 : -1;
  return (x->run > y->run) - (x->run < y->run);
}

static size_t count_both(const Bitset *a, const Bitset *b) {
  size_t n = 0;
  for (uint32_t i = 0; bitset_next(a, &i); i++)
    n += bitset_has(b, i);
  return n;
}

// Passing runs by how much of what the first failing one executes they share.
static void order_passing(Search *s) {
  size_t n = s->passing.len;
  NearRun *list = mem_array(NearRun, n + 1);
  s->nearest = mem_array(uint32_t, n + 1);
  const Bitset *like = &s->session->executes[s->failing.items[0]];
  size_t size = bitset_count(like);
  for (size_t i = 0; i < n; i++) {
    const Bitset *b = &s->session->executes[s->passing.items[i]];
    size_t both = count_both(like, b), all = size + bitset_count(b);
    list[i] = (NearRun){s->passing.items[i],
                        all > both ? (double)both / (double)(all - both) : 1};
  }
  qsort(list, n, sizeof *list, by_nearness);
  for (size_t i = 0; i < n; i++)
    s->nearest[i] = list[i].run;
  free(list);
}

// The constants of each function, once each.
static void collect_constants(Search *s) {
  const SiteTable *t = s->session->sites;
  for (size_t i = 0; i < t->sites.len; i++) {
    const Site *site = &t->sites.items[i];
    if (site->kind != SITE_CONSTANT || site->flags & SITE_REAL)
      continue;
    uint64_t at = hashmap_intern(&s->constants, site->function,
                                 strlen(site->function), s->constant_lists.len);
    if (at == s->constant_lists.len)
      array_push(&s->constant_lists, (Changes){0});
    Changes *list = &s->constant_lists.items[at];
    bool known = false;
    for (size_t k = 0; k < list->len; k++)
      known |= list->items[k].a == site->value;
    if (!known)
      array_push(list, ((Change){.site = site, .a = site->value}));
  }
}

static int by_cost(const void *a, const void *b) {
  const Change *x = a, *y = b;
  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  if (x->site != y->site)
    return x->site < y->site ? -1 : 1;
  return (x->change > y->change) - (x->change < y->change);
}

static bool is_asked(const TrySearchOptions *o, const Change *c) {
  switch (c->site->kind) {
  case SITE_VARIABLE:
  case SITE_FIELD:
    return o->variables;
  case SITE_CONSTANT:
    return o->constants;
  case SITE_CALL:
  case SITE_STORE:
    return o->statements || c->change != CHANGE_SKIP;
  default:
    return true;
  }
}

static void collect_changes(Search *s, Line *l) {
  enum { CONSTANTS = 16 };
  const Suite *suite = s->session->suite;
  const Entity *e = &suite->entities[l->statement];
  const char *path = suite->sources[e->source].path;
  const SiteTable *t = s->session->sites;
  int64_t constants[CONSTANTS];
  Changes all = {0};
  for (size_t i = 0; i < t->sites.len; i++) {
    const Site *site = &t->sites.items[i];
    if (site->line != e->line || strcmp(site->file, path) != 0)
      continue;
    size_t n = list_constants(s, site, constants, CONSTANTS);
    changes_of(site, constants, n, &all);
  }
  for (size_t i = 0; i < all.len; i++)
    if (is_asked(s->options, &all.items[i]))
      array_push(&l->changes, all.items[i]);
  array_release(&all);
  if (l->changes.len)
    qsort(l->changes.items, l->changes.len, sizeof *l->changes.items, by_cost);
}

// The quickest failing run that executes the line; UINT32_MAX: none does.
static uint32_t screening_run(const Search *s, uint32_t statement) {
  uint32_t best = UINT32_MAX;
  for (size_t i = 0; i < s->failing.len; i++) {
    uint32_t run = s->failing.items[i];
    if (s->dropped[run] || !executes(s, run, statement))
      continue;
    uint64_t steps = s->steps[s->session->test_of[run]];
    if (best == UINT32_MAX ||
        (steps && steps < s->steps[s->session->test_of[best]]))
      best = run;
  }
  return best;
}

static void collect_lines(Search *s) {
  for (size_t i = 0; i < s->options->nlines; i++) {
    Line l = {.statement = s->options->lines[i]};
    l.screen = screening_run(s, l.statement);
    if (l.screen == UINT32_MAX)
      continue;
    collect_changes(s, &l);
    array_push(&s->lines, l);
  }
}

// --- the search -------------------------------------------------------------

static int by_score(const void *a, const void *b) {
  const FoundChange *x = a, *y = b;
  if (found_survives(x) != found_survives(y))
    return found_survives(x) ? -1 : 1;
  double d = found_score(y) - found_score(x);
  if (d < 0 || d > 0)
    return d < 0 ? -1 : 1;
  if (x->change.cost != y->change.cost)
    return x->change.cost < y->change.cost ? -1 : 1;
  if (x->change.site != y->change.site)
    return x->change.site < y->change.site ? -1 : 1;
  return (x->change.a > y->change.a) - (x->change.a < y->change.a);
}

static void finish(Search *s) {
  TryFound *f = s->found;
  if (f->changes.len)
    qsort(f->changes.items, f->changes.len, sizeof *f->changes.items, by_score);
  for (size_t i = 0; i < s->lines.len; i++) {
    const Line *l = &s->lines.items[i];
    f->cut |= l->next < l->changes.len;
    array_push(&f->lines, ((SearchedLine){l->statement, l->tried}));
  }
  f->runs = runs_made(s);
}

static void search_release(Search *s) {
  for (size_t i = 0; i < s->lines.len; i++)
    array_release(&s->lines.items[i].changes);
  for (size_t i = 0; i < s->constant_lists.len; i++)
    array_release(&s->constant_lists.items[i]);
  array_release(&s->lines);
  array_release(&s->constant_lists);
  array_release(&s->failing);
  array_release(&s->passing);
  hashmap_release(&s->constants);
  free(s->sites);
  free(s->checked);
  free(s->dropped);
  free(s->steps);
  free(s->nearest);
}

static void search(Search *s) {
  Screening batch[BATCH];
  size_t checked = s->failing.len < 32 ? s->failing.len : 32;
  check_runs(s, s->failing.items, checked);
  order_passing(s);
  collect_constants(s);
  collect_lines(s);
  while (!is_spent(s)) {
    size_t n = fill_batch(s, batch);
    if (!n)
      break;
    screen_batch(s, batch, n);
  }
}

int try_search(TrySession *session, const TrySearchOptions *o, TryFound *out,
               Err *err) {
  *out = (TryFound){0};
  Err problem = {0};
  size_t nruns = session->suite->nruns, nsites = session->sites->sites.len;
  Search s = {.session = session,
              .options = o,
              .found = out,
              .err = &problem,
              .sites = mem_array(SiteState, nsites + 1),
              .checked = mem_array(bool, nruns + 1),
              .dropped = mem_array(bool, nruns + 1),
              .steps = mem_array(uint64_t, session->ntests + 1),
              .first = try_runs_count(session->runs)};
  list_runs(&s);
  out->failing = (uint32_t)s.failing.len;
  out->passing = (uint32_t)s.passing.len;
  if (s.failing.len)
    search(&s);
  finish(&s);
  bool failed = s.broken && *problem.text;
  search_release(&s);
  if (failed)
    *err = problem;
  return failed ? -1 : 0;
}
