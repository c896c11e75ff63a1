// The search for changes that repair a failure: see try_search.h.
#include "try/try_search.h"

#include <stdlib.h>
#include <string.h>

#include "try/clauses.h"
#include "try/oddity.h"
#include "try/try_internal.h"
#include "util/mem.h"

enum {
  BATCH = 64,        // experiments that are screened together
  WATCH_FAILING = 3, // runs that clauses are made from
  WATCH_PASSING = 16,
  CLAUSE_LINES = 20, // get clauses in any case,
  CLAUSE_COST = 5,   // before changes that are so unlikely
  DELAY = 2,         // so many ranks lower, a line begins one change later
};

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

// --- clauses ----------------------------------------------------------------

typedef struct {
  SeenConditions *seen;
  size_t names;
  bool fails;
  Arena *arena;
} ConditionWatch;

static void take_log(void *context, const TryReport *report) {
  ConditionWatch *w = context;
  size_t size = 1 + w->names;
  for (size_t at = 0; at + size <= report->words; at += size) {
    int64_t *copy = arena_array(w->arena, int64_t, size);
    memcpy(copy, report->log + at, size * sizeof *copy);
    array_push(w->seen, ((SeenCondition){copy, w->fails}));
  }
}

static void screen_batch(TrySearch *s, const TryScreening *batch, size_t n);

static void watch_runs(TrySearch *s, const Site *site, const TryRunList *runs,
                       size_t nfailing, SeenConditions *seen, Arena *arena) {
  Change none = {.site = site, .change = CHANGE_NONE};
  Experiment e = experiment_of(&none);
  ConditionWatch *watches = arena_array(arena, ConditionWatch, runs->len + 1);
  TryJob *jobs = arena_array(arena, TryJob, runs->len + 1);
  for (size_t i = 0; i < runs->len; i++) {
    watches[i] = (ConditionWatch){seen, site->nnames, i < nfailing, arena};
    jobs[i] = (TryJob){.test = s->session->test_of[runs->items[i]],
                       .experiment = &e,
                       .log = take_log,
                       .context = &watches[i]};
  }
  search_run(s, jobs, runs->len);
}

static void screen_all(TrySearch *s, size_t line, const Changes *changes) {
  TryScreening *batch = mem_array(TryScreening, changes->len + 1);
  for (size_t i = 0; i < changes->len; i++)
    batch[i] = (TryScreening){.line = line, .change = changes->items[i]};
  screen_batch(s, batch, changes->len);
  free(batch);
}

// What the names of a site are worth there, in failing and in passing runs.
static void watch_site(TrySearch *s, size_t line, const Site *site,
                       SeenConditions *seen, Arena *arena) {
  uint32_t statement = s->lines.items[line].statement;
  TryRunList runs = {0};
  array_push(&runs, s->lines.items[line].screen);
  search_choose(s, s->failing.items, s->failing.len, statement,
                WATCH_FAILING - 1, &runs);
  size_t nfailing = runs.len;
  search_choose(s, s->nearest, s->passing.len, statement, WATCH_PASSING, &runs);
  watch_runs(s, site, &runs, nfailing, seen, arena);
  array_release(&runs);
}

// What could be wanted at the site: clauses of its condition or, in front of a
// statement, limits and returns of these values. Once for each site.
static void try_conditions(TrySearch *s, size_t line, const Site *site,
                           const Changes *leaves) {
  enum { CONSTANTS = 16 };
  SearchSite *state = &s->sites[search_site(s, site)];
  int64_t constants[CONSTANTS];
  if (!s->options->clauses || !site->nnames || state->clauses++)
    return;
  Arena arena = {0};
  SeenConditions seen = {0};
  Changes found = {0};
  watch_site(s, line, site, &seen, &arena);
  size_t n = search_constants(s, site, constants, CONSTANTS);
  if (site->kind == SITE_BEFORE)
    clauses_find_limits(site, &seen, constants, n, &found);
  else
    clauses_find(site, &seen, constants, n, &found);
  for (size_t i = 0; leaves && i < leaves->len; i++)
    clauses_find_leaves(site, &seen, (int32_t)(leaves->items[i].a >> 32),
                        constants, n, &found);
  screen_all(s, line, &found);
  array_release(&found);
  array_release(&seen);
  arena_release(&arena);
}

// --- screening --------------------------------------------------------------

// Do all evaluations have the value that would be set?
static bool is_set_already(const SearchSite *state, const Change *c) {
  size_t which = (size_t)(c->a & 0xff);
  bool named = c->a & TRY_NAMED;
  uint32_t varies = state->varying >> which & 1;
  if (c->change != CHANGE_ASSIGN || !state->only)
    return false;
  if (named)
    varies |= state->varying >> c->b & 1;
  return !varies && state->only[which] == (named ? state->only[c->b] : c->b);
}

// Is it known that the change makes no difference, or that another one with
// the same outcomes does not repair?
static bool is_pointless(const TrySearch *s, const Change *c) {
  const SearchSite *state = &s->sites[search_site(s, c->site)];
  if (state->unreached || is_set_already(state, c))
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

static void note_result(TrySearch *s, const TryScreening *c, const TryJob *job,
                        bool repairs) {
  SearchSite *state = &s->sites[search_site(s, c->change.site)];
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

static bool needs_watching(const TrySearch *s, const Change *c) {
  return (c->site->kind == SITE_COMPARE || c->change == CHANGE_ASSIGN) &&
         !s->sites[search_site(s, c->site)].watched;
}

// The next change of a line; false: it has none that makes sense now.
static bool next_of(TrySearch *s, size_t line, TryScreening *out) {
  SearchLine *l = &s->lines.items[line];
  for (; l->next < l->changes.len; l->next++) {
    const Change *c = &l->changes.items[l->next];
    SearchSite *state = &s->sites[search_site(s, c->site)];
    if (is_pointless(s, c))
      continue;
    *out = (TryScreening){.line = line, .change = *c};
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

static double urgency(const TrySearch *s, size_t line) {
  return (double)s->lines.items[line].next + (double)line / DELAY;
}

static size_t most_urgent(const TrySearch *s, const bool *empty) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < s->lines.len; i++)
    if (!empty[i] && (best == SIZE_MAX || urgency(s, i) < urgency(s, best)))
      best = i;
  return best;
}

static size_t fill_batch(TrySearch *s, TryScreening *batch) {
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

static bool is_leave(const Change *c) {
  return c->change == CHANGE_LEAVE && (c->a >> 8 & 0xff) == TRY_ALWAYS;
}

// One change of the batch has been screened.
static void follow_up(TrySearch *s, const TryScreening *c, TryAttempt *a) {
  SearchLine *l = &s->lines.items[c->line];
  if (a->verdicts[l->screen] != TRIED_PASS || c->watches || search_spent(s))
    return;
  attempt_confirm(s, a);
  FoundChange f = attempt_found(s, a);
  if (found_survives(&f))
    return;
  if (is_condition(&c->change))
    try_conditions(s, c->line, c->change.site, NULL);
  else if (is_leave(&c->change))
    try_conditions(s, c->line, c->change.site,
                   &(Changes){.items = (Change *)&c->change, .len = 1});
}

typedef struct {
  SearchSite *site;
  size_t names;
  Arena *arena;
} ValueWatch;

// Which names have always the same value?
static void take_values(void *context, const TryReport *report) {
  const ValueWatch *w = context;
  size_t size = 1 + w->names;
  int64_t *only = arena_array(w->arena, int64_t, size);
  if (report->words < size)
    return;
  memcpy(only, report->log + 1, w->names * sizeof *only);
  w->site->varying = report->full ? UINT32_MAX : 0;
  for (size_t at = size; at + size <= report->words; at += size)
    for (size_t i = 0; i < w->names; i++)
      if (report->log[at + 1 + i] != only[i])
        w->site->varying |= 1u << i;
  w->site->only = only;
}

static void screen_batch(TrySearch *s, const TryScreening *batch, size_t n) {
  TryAttempt *attempts = mem_array(TryAttempt, n + 1);
  TryJob *jobs = mem_array(TryJob, n + 1);
  ValueWatch *watches = mem_array(ValueWatch, n + 1);
  for (size_t i = 0; i < n; i++) {
    const Site *site = batch[i].change.site;
    size_t test = s->session->test_of[s->lines.items[batch[i].line].screen];
    attempts[i] = attempt_of(s, batch[i].line, &batch[i].change);
    jobs[i] = (TryJob){
        .test = test,
        .experiment = &attempts[i].experiment,
        .verdicts = mem_array(TriedVerdict, s->session->tests[test].nruns + 1)};
    watches[i] = (ValueWatch){&s->sites[search_site(s, site)], site->nnames,
                              &s->found->arena};
    if (batch[i].watches && site->kind == SITE_BEFORE) {
      jobs[i].log = take_values;
      jobs[i].context = &watches[i];
    }
  }
  search_run(s, jobs, n);
  free(watches);
  for (size_t i = 0; i < n; i++) {
    SearchLine *l = &s->lines.items[batch[i].line];
    attempt_take(s, &attempts[i], &jobs[i]);
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

// --- the search -------------------------------------------------------------

static int by_score(const void *a, const void *b) {
  const FoundChange *x = a, *y = b;
  if (found_survives(x) != found_survives(y))
    return found_survives(x) ? -1 : 1;
  double d = found_score(y) - found_score(x);
  if (d < 0 || d > 0)
    return d < 0 ? -1 : 1;
  unsigned odd = change_oddity(&x->change), than = change_oddity(&y->change);
  if (odd != than)
    return odd < than ? -1 : 1;
  if (x->change.cost != y->change.cost)
    return x->change.cost < y->change.cost ? -1 : 1;
  if (x->change.site != y->change.site)
    return x->change.site < y->change.site ? -1 : 1;
  return (x->change.a > y->change.a) - (x->change.a < y->change.a);
}

static uint32_t count_undropped(const TrySearch *s, const uint32_t *runs,
                                size_t n) {
  uint32_t count = 0;
  for (size_t i = 0; i < n; i++)
    count += !s->session->dropped[runs[i]];
  return count;
}

// A test that was left out after a change had been tried on it: what was said
// of all tests no longer holds.
static void count_tests(TrySearch *s) {
  TryFound *f = s->found;
  f->failing = count_undropped(s, s->failing.items, s->failing.len);
  f->passing = count_undropped(s, s->passing.items, s->passing.len);
  for (size_t i = 0; i < f->changes.len; i++) {
    FoundChange *c = &f->changes.items[i];
    c->all &= c->failing == f->failing && c->passing == f->passing;
    c->failing = c->failing < f->failing ? c->failing : f->failing;
    c->repaired = c->repaired < c->failing ? c->repaired : c->failing;
    c->passing = c->passing < f->passing ? c->passing : f->passing;
    c->kept = c->kept < c->passing ? c->kept : c->passing;
  }
}

static void finish(TrySearch *s) {
  TryFound *f = s->found;
  count_tests(s);
  if (f->changes.len)
    qsort(f->changes.items, f->changes.len, sizeof *f->changes.items, by_score);
  for (size_t i = 0; i < s->lines.len; i++) {
    const SearchLine *l = &s->lines.items[i];
    f->cut |= l->next < l->changes.len;
    array_push(&f->lines, ((SearchedLine){l->statement, l->tried}));
  }
  f->runs = search_runs(s);
}

static void search_release(TrySearch *s) {
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
  free(s->steps);
  free(s->nearest);
}

static bool is_decided(const TrySearch *s, uint32_t statement) {
  for (size_t i = 0; i < s->found->changes.len; i++)
    if (s->found->changes.items[i].statement == statement &&
        found_survives(&s->found->changes.items[i]))
      return true;
  return false;
}

// The values that the function may return in front of the line.
static void list_leaves(const SearchLine *l, const Site *site, Changes *out) {
  for (size_t i = 0; i < l->changes.len; i++)
    if (l->changes.items[i].site == site && is_leave(&l->changes.items[i]))
      array_push(out, l->changes.items[i]);
}

static void try_line_guards(TrySearch *s, size_t line) {
  const SearchLine *l = &s->lines.items[line];
  for (size_t i = 0; i < l->changes.len && !search_spent(s); i++) {
    const Site *site = l->changes.items[i].site;
    Changes leaves = {0};
    if (site->kind != SITE_BEFORE || s->sites[search_site(s, site)].unreached)
      continue;
    list_leaves(l, site, &leaves);
    try_conditions(s, line, site, &leaves);
    array_release(&leaves);
  }
}

// A condition that must be otherwise only at times is not found by making it
// otherwise always: the first lines get clauses in any case, once what is
// likelier was tried there.
static void try_line_clauses(TrySearch *s, size_t line) {
  const SearchLine *l = &s->lines.items[line];
  for (size_t i = 0; i < l->changes.len && !search_spent(s); i++) {
    const Change *c = &l->changes.items[i];
    if (c->change == CHANGE_NEGATE &&
        !s->sites[search_site(s, c->site)].unreached)
      try_conditions(s, line, c->site, NULL);
  }
  try_line_guards(s, line);
}

static bool is_through(const SearchLine *l, unsigned cost) {
  return l->next >= l->changes.len || l->changes.items[l->next].cost >= cost;
}

static bool finish_lines(TrySearch *s) {
  bool any = false;
  for (size_t i = 0; i < s->lines.len && i < CLAUSE_LINES; i++) {
    SearchLine *l = &s->lines.items[i];
    if (l->clauses || !is_through(l, CLAUSE_COST))
      continue;
    l->clauses = any = true;
    if (!is_decided(s, l->statement))
      try_line_clauses(s, i);
  }
  return any;
}

static void search(TrySearch *s) {
  TryScreening batch[BATCH];
  size_t checked = s->failing.len < 32 ? s->failing.len : 32;
  search_check(s, s->failing.items, checked);
  search_order_passing(s);
  search_collect_constants(s);
  search_collect_lines(s);
  while (!search_spent(s)) {
    size_t n = fill_batch(s, batch);
    screen_batch(s, batch, n);
    if (!finish_lines(s) && !n)
      break;
  }
}

int try_search(TrySession *session, const TrySearchOptions *o, TryFound *out,
               Err *err) {
  *out = (TryFound){0};
  Err problem = {0};
  size_t nruns = session->suite->nruns, nsites = session->sites->sites.len;
  TrySearch s = {.session = session,
                 .options = o,
                 .found = out,
                 .err = &problem,
                 .sites = mem_array(SearchSite, nsites + 1),
                 .checked = mem_array(bool, nruns + 1),
                 .steps = mem_array(uint64_t, session->ntests + 1),
                 .first = try_runs_count(session->runs)};
  search_list_runs(&s);
  if (s.failing.len)
    search(&s);
  finish(&s);
  bool failed = s.broken && *problem.text;
  search_release(&s);
  if (failed)
    *err = problem;
  return failed ? -1 : 0;
}
