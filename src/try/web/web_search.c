// The search for changes of PHP scripts: see web_search.h.
#include "try/web/web_search.h"

#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"

enum {
  BATCH = 16,          // changes that are screened at once
  FAILING_CHECKED = 9, // more failing requests that a change is tried on
  PASSING_CHECKED = 10,
  SURVIVORS_MOST = 3, // of one line; then others are tried
  LINES_MOST = 8,     // of one statement
  STEPS_TIMES = 4,    // as many as the unchanged request makes
  STEPS_LEAST = 10000,
  SCRIPT_MOST = 16 << 20 // bytes
};

typedef struct {
  ScriptChange change;
  size_t line; // of the options
  uint64_t order;
} Candidate;

typedef struct {
  WebTrySession *session;
  const WebSearchOptions *options;
  WebFound *found;
  const char *signature;
  bool is_markup; // the failure is one of the page, not of its execution
  Bitset fails;   // tests that show the failure
  ARRAY(size_t) failing, passing; // tests
  size_t *screen;                 // by line: a failing test that executes it
  uint32_t *tried, *survivors;    // by line
  uint64_t start;                 // runs when it began
} WebSearch;

// --- scripts ----------------------------------------------------------------

const ScriptText *web_script(WebTrySession *s, uint32_t statement) {
  uint32_t n = s->suite->entities[statement].source;
  TriedScript *t = &s->scripts[n];
  const Source *source = &s->suite->sources[n];
  Err ignored;
  Str text = {0};
  PhpTokens tokens;
  if (t->loaded)
    return t->text.tokens ? &t->text : NULL;
  t->loaded = true;
  if (!fs_read_regular(source->path, SCRIPT_MOST, &text, &ignored) &&
      !php_tokens_read(s->maps, source->hash, text.len, &tokens, &ignored)) {
    t->text.size = text.len;
    t->text.ntokens = tokens.len;
    t->text.tokens = arena_adopt(&s->arena, &tokens);
    t->text.text = arena_take(&s->arena, &text);
  }
  str_release(&text);
  return t->text.tokens ? &t->text : NULL;
}

// The last line before the next statement of the script.
static uint32_t last_line(const Suite *s, const Entity *e) {
  uint32_t last = e->line + LINES_MOST - 1;
  for (size_t i = 0; i < s->nentities; i++) {
    const Entity *other = &s->entities[i];
    if (other->kind == ENTITY_STATEMENT && other->source == e->source &&
        other->line > e->line && other->line <= last)
      last = other->line - 1;
  }
  return last;
}

// --- outcomes ---------------------------------------------------------------

// Is it still an answer of that kind, with at least `share` tenths of its text?
static bool answers_alike(const WebOutcome *base, const WebOutcome *now,
                          unsigned share) {
  if (base->status >= 500)
    return now->status < 500;
  return now->status / 100 == base->status / 100 &&
         now->size * 10 >= base->size * share;
}

static bool has_words(const WebSearch *w, size_t test, const WebOutcome *now) {
  const WebTrySession *s = w->session;
  return s->varies[test] || page_words_kept(&s->base[test].words, &now->words);
}

static bool is_kept(const WebSearch *w, size_t test, const WebOutcome *now) {
  return now->ran && !now->signatures.len &&
         answers_alike(&w->session->base[test], now, 9) &&
         has_words(w, test, now);
}

static bool is_repaired(const WebSearch *w, size_t test,
                        const WebOutcome *now) {
  const WebOutcome *base = &w->session->base[test];
  if (!now->ran || web_outcome_shows(now, w->signature) ||
      !answers_alike(base, now, 5) ||
      (w->is_markup && !has_words(w, test, now)))
    return false;
  for (size_t i = 0; i < now->signatures.len; i++)
    if (!web_outcome_shows(base, now->signatures.items[i]))
      return false;
  return true;
}

static bool executes(const WebSearch *w, size_t test, uint32_t statement) {
  const WebTrySession *s = w->session;
  return bitset_has(&s->executes[s->run_of[test]], statement);
}

static bool has_budget(const WebSearch *w) {
  return web_runs_count(w->session->runs) - w->start < w->options->most;
}

// --- unchanged --------------------------------------------------------------

// Did it end as the session says? Known only of a test that ran.
static bool ends_alike(const WebTrySession *s, size_t test,
                       const WebOutcome *o) {
  bool passes = s->suite->runs[s->run_of[test]].verdict == VERDICT_PASS;
  return passes == !o->signatures.len;
}

static void take_base(WebTrySession *s, size_t test, WebOutcome *o) {
  WebOutcome *base = &s->base[test];
  if (o->ran)
    s->unlike[test] |= !ends_alike(s, test, o);
  if (o->ran && base->ran)
    s->varies[test] |= !page_words_kept(&base->words, &o->words);
  if (o->ran && !base->ran)
    *base = *o;
  else
    web_outcome_release(o);
}

// Makes the tests unchanged that were not yet, twice: do they vary?
static int find_base(WebTrySession *s, const size_t *tests, size_t n,
                     Err *err) {
  WebOutcome *outcomes = mem_array(WebOutcome, 2 * n + 1);
  ARRAY(WebJob) jobs = {0};
  for (size_t i = 0; i < 2 * n; i++) {
    size_t test = tests[i / 2];
    if (!s->base[test].ran)
      array_push(&jobs, (WebJob){.test = test,
                                 .first = test,
                                 .n = 1,
                                 .outcomes = &outcomes[i]});
  }
  int rc = jobs.len ? web_runs_do(s->runs, jobs.items, jobs.len, err) : 0;
  for (size_t i = 0; i < jobs.len; i++)
    take_base(s, jobs.items[i].test, jobs.items[i].outcomes);
  array_release(&jobs);
  free(outcomes);
  return rc;
}

static bool is_usable(const WebSearch *w, size_t test) {
  const WebTrySession *s = w->session;
  if (!s->base[test].ran || s->unlike[test])
    return false;
  return !bitset_has(&w->fails, (uint32_t)test) ||
         web_outcome_shows(&s->base[test], w->signature);
}

// --- one change on some tests -----------------------------------------------

static PhpChange as_php(WebTrySession *s, const Candidate *c,
                        const WebSearchOptions *o) {
  const Suite *suite = s->suite;
  const Source *source =
      &suite->sources[suite->entities[o->lines[c->line]].source];
  return (PhpChange){.path = source->path,
                     .hash = source->hash,
                     .offset = c->change.offset,
                     .length = c->change.length,
                     .with = c->change.with};
}

static void count(const WebSearch *w, size_t test, const WebOutcome *o,
                  WebFoundChange *f) {
  if (bitset_has(&w->fails, (uint32_t)test)) {
    f->failing++;
    f->repaired += is_repaired(w, test, o);
  } else {
    f->passing++;
    f->kept += is_kept(w, test, o);
  }
}

static uint64_t steps_of(const WebOutcome *base) {
  return base->steps * STEPS_TIMES + STEPS_LEAST;
}

// Runs the change on each of the tests by itself and counts. False in `whole`:
// not all were made.
static int try_tests(WebSearch *w, const PhpChange *change, const size_t *tests,
                     size_t n, WebFoundChange *f, bool *whole, Err *err) {
  WebTrySession *s = w->session;
  WebOutcome *outcomes = mem_array(WebOutcome, n + 1);
  WebJob *jobs = mem_array(WebJob, n + 1);
  for (size_t i = 0; i < n; i++)
    jobs[i] = (WebJob){.test = tests[i],
                       .first = tests[i],
                       .n = 1,
                       .change = change,
                       .steps = steps_of(&s->base[tests[i]]),
                       .outcomes = &outcomes[i]};
  int rc = n ? web_runs_do(s->runs, jobs, n, err) : 0;
  for (size_t i = 0; i < n; i++) {
    if (outcomes[i].ran)
      count(w, tests[i], &outcomes[i], f);
    else
      *whole = false;
    web_outcome_release(&outcomes[i]);
  }
  free(jobs);
  free(outcomes);
  return rc;
}

// --- confirming -------------------------------------------------------------

typedef struct {
  size_t test, near;
} ReachingTest;

static int by_nearness(const void *a, const void *b) {
  const ReachingTest *x = a, *y = b;
  if (x->near != y->near)
    return x->near > y->near ? -1 : 1;
  return (x->test > y->test) - (x->test < y->test);
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static size_t overlap(const WebSearch *w, size_t a, size_t b) {
  const WebTrySession *s = w->session;
  const Bitset *x = &s->executes[s->run_of[a]], *y = &s->executes[s->run_of[b]];
  size_t n = 0;
  for (uint32_t i = 0; bitset_next(x, &i); i++)
    n += bitset_has(y, i);
  return n;
}

typedef ARRAY(size_t) TestNumbers;

static bool is_in(const TestNumbers *l, size_t test) {
  for (size_t i = 0; i < l->len; i++)
    if (l->items[i] == test)
      return true;
  return false;
}

// Passing tests that execute the statement: half of them the nearest to the
// failing one, half at random.
static void choose_passing(const WebSearch *w, uint32_t statement,
                           size_t screen, TestNumbers *out) {
  ARRAY(ReachingTest) list = {0};
  for (size_t i = 0; i < w->passing.len; i++) {
    size_t t = w->passing.items[i];
    if (executes(w, t, statement))
      array_push(&list, (ReachingTest){t, overlap(w, screen, t)});
  }
  if (list.len)
    qsort(list.items, list.len, sizeof *list.items, by_nearness);
  for (size_t i = 0; i < list.len && out->len < PASSING_CHECKED / 2; i++)
    array_push(out, list.items[i].test);
  for (size_t i = 0; i < list.len; i++)
    list.items[i].near = mix(w->options->seed * 1000003 + list.items[i].test);
  if (list.len)
    qsort(list.items, list.len, sizeof *list.items, by_nearness);
  for (size_t i = 0; i < list.len && out->len < PASSING_CHECKED; i++)
    if (!is_in(out, list.items[i].test))
      array_push(out, list.items[i].test);
  array_release(&list);
}

static void choose_failing(const WebSearch *w, size_t screen,
                           TestNumbers *out) {
  size_t n = w->failing.len, most = n < FAILING_CHECKED ? n : FAILING_CHECKED;
  for (size_t i = 0; i < most; i++) {
    size_t t = w->failing.items[i * n / most];
    if (t != screen && !is_in(out, t))
      array_push(out, t);
  }
}

static void keep_usable(const WebSearch *w, TestNumbers *l) {
  size_t n = 0;
  for (size_t i = 0; i < l->len; i++)
    if (is_usable(w, l->items[i]))
      l->items[n++] = l->items[i];
  l->len = n;
}

static int confirm(WebSearch *w, const Candidate *c, WebFoundChange *f,
                   bool *whole, Err *err) {
  PhpChange change = as_php(w->session, c, w->options);
  size_t screen = w->screen[c->line];
  TestNumbers tests = {0};
  choose_passing(w, w->options->lines[c->line], screen, &tests);
  choose_failing(w, screen, &tests);
  int rc = find_base(w->session, tests.items, tests.len, err);
  keep_usable(w, &tests);
  if (!rc)
    rc = try_tests(w, &change, tests.items, tests.len, f, whole, err);
  array_release(&tests);
  return rc;
}

// --- all --------------------------------------------------------------------

// Visitors, as jobs that have the change.
typedef struct {
  ARRAY(WebJob) jobs;
  WebOutcome *outcomes; // by test
} AllJobs;

static bool can_reach(const WebSearch *w, size_t first, size_t end,
                      uint32_t statement) {
  if (w->session->has_setup[first])
    return true;
  for (size_t t = first; t < end; t++)
    if (executes(w, t, statement))
      return true;
  return false;
}

static uint64_t visitor_steps(const WebTrySession *s, size_t first,
                              size_t end) {
  uint64_t n = 0;
  for (size_t t = first; t < end; t++)
    n = s->base[t].steps > n ? s->base[t].steps : n;
  return n * STEPS_TIMES + 10 * STEPS_LEAST;
}

// `statement` ENTITY_NONE: all visitors that were not yet made unchanged.
static void list_visitors(const WebSearch *w, const PhpChange *change,
                          uint32_t statement, AllJobs *all) {
  const WebTrySession *s = w->session;
  all->outcomes = mem_array(WebOutcome, s->ntests + 1);
  for (size_t t = 0; t < s->ntests; t = s->visitor_end[t]) {
    size_t end = s->visitor_end[t];
    if (statement == ENTITY_NONE ? s->visited[t]
                                 : !can_reach(w, t, end, statement))
      continue;
    array_push(&all->jobs,
               (WebJob){.test = t,
                        .visitor = true,
                        .first = t,
                        .n = end - t,
                        .change = change,
                        .steps = change ? visitor_steps(s, t, end) : 0,
                        .outcomes = all->outcomes + t});
  }
}

static void release_jobs(AllJobs *all) {
  array_release(&all->jobs);
  free(all->outcomes);
}

// All visitors unchanged, once: which requests do not end as they did?
static int find_all_base(WebSearch *w, Err *err) {
  WebTrySession *s = w->session;
  AllJobs all = {0};
  if (s->has_all)
    return 0;
  list_visitors(w, NULL, ENTITY_NONE, &all);
  int rc = web_runs_do(s->runs, all.jobs.items, all.jobs.len, err);
  s->has_all = !rc;
  for (size_t t = 0; t < s->ntests; t++) {
    s->visited[t] |= all.outcomes[t].ran;
    s->has_all &= s->visited[t];
    take_base(s, t, &all.outcomes[t]);
  }
  release_jobs(&all);
  return rc;
}

// A visitor that the change cannot reach is as it was.
static void count_all(const WebSearch *w, uint32_t statement,
                      const WebOutcome *outcomes, WebFoundChange *f) {
  const WebTrySession *s = w->session;
  f->failing = f->repaired = f->passing = f->kept = 0;
  f->all = true;
  for (size_t t = 0; t < s->ntests; t++) {
    bool fails = bitset_has(&w->fails, (uint32_t)t);
    bool passes = s->suite->runs[s->run_of[t]].verdict == VERDICT_PASS;
    if ((!fails && !passes) || !is_usable(w, t))
      continue;
    bool reached =
        can_reach(w, s->visitor_first[t], s->visitor_end[t], statement);
    f->all &= !reached || outcomes[t].ran;
    count(w, t, reached ? &outcomes[t] : &s->base[t], f);
  }
}

static int try_all(WebSearch *w, const Candidate *c, WebFoundChange *f,
                   Err *err) {
  WebTrySession *s = w->session;
  uint32_t statement = w->options->lines[c->line];
  PhpChange change = as_php(s, c, w->options);
  AllJobs all = {0};
  if (find_all_base(w, err))
    return -1;
  if (!s->has_all)
    return 0;
  list_visitors(w, &change, statement, &all);
  int rc = web_runs_do(s->runs, all.jobs.items, all.jobs.len, err);
  WebFoundChange checked = *f;
  if (!rc)
    count_all(w, statement, all.outcomes, &checked);
  if (checked.all)
    *f = checked;
  for (size_t t = 0; t < s->ntests; t++)
    web_outcome_release(&all.outcomes[t]);
  release_jobs(&all);
  return rc;
}

// --- candidates -------------------------------------------------------------

static int by_order(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  return (x->order > y->order) - (x->order < y->order);
}

typedef ARRAY(Candidate) Candidates;

// The lines of the ranking in turn, the likely changes of each first.
static void list_candidates(WebSearch *w, Candidates *out) {
  WebTrySession *s = w->session;
  const WebSearchOptions *o = w->options;
  uint64_t n = 0;
  for (size_t i = 0; i < o->nlines; i++) {
    const Entity *e = &s->suite->entities[o->lines[i]];
    const ScriptText *script =
        w->screen[i] != SIZE_MAX ? web_script(s, o->lines[i]) : NULL;
    ScriptChanges changes = {0};
    if (script)
      script_changes(script, e->line, last_line(s->suite, e), o->kinds,
                     &changes, &s->arena);
    for (size_t k = 0; k < changes.len; k++) {
      uint64_t place = 2 * i + 3 * changes.items[k].cost;
      array_push(out, (Candidate){.change = changes.items[k],
                                  .line = i,
                                  .order = place << 32 | n++});
    }
    array_release(&changes);
  }
  if (out->len)
    qsort(out->items, out->len, sizeof *out->items, by_order);
}

// --- screening --------------------------------------------------------------

static bool is_perfect(const WebFoundChange *f) {
  return f->repaired == f->failing && f->kept == f->passing;
}

static int take_repairing(WebSearch *w, const Candidate *c, Err *err) {
  WebFoundChange f = {.change = c->change,
                      .statement = w->options->lines[c->line],
                      .place = w->found->changes.len,
                      .repaired = 1,
                      .failing = 1};
  bool whole = true;
  int rc = confirm(w, c, &f, &whole, err);
  if (!rc && whole && is_perfect(&f) && has_budget(w))
    rc = try_all(w, c, &f, err);
  w->found->cut |= !whole;
  if (f.repaired)
    array_push(&w->found->changes, f);
  w->survivors[c->line] += f.all && is_perfect(&f);
  return rc;
}

// Screens as many as fit into a batch. `at` moves behind them.
static int screen_batch(WebSearch *w, const Candidates *all, size_t *at,
                        Err *err) {
  WebTrySession *s = w->session;
  WebOutcome outcomes[BATCH] = {0};
  PhpChange changes[BATCH];
  WebJob jobs[BATCH];
  const Candidate *of[BATCH];
  size_t n = 0;
  for (; *at < all->len && n < BATCH; ++*at) {
    const Candidate *c = &all->items[*at];
    size_t test = w->screen[c->line];
    if (w->survivors[c->line] >= SURVIVORS_MOST)
      continue;
    of[n] = c;
    changes[n] = as_php(s, c, w->options);
    jobs[n] = (WebJob){.test = test,
                       .first = test,
                       .n = 1,
                       .change = &changes[n],
                       .steps = steps_of(&s->base[test]),
                       .outcomes = &outcomes[n]};
    n++;
  }
  int rc = n ? web_runs_do(s->runs, jobs, n, err) : 0;
  for (size_t i = 0; i < n; i++) {
    w->tried[of[i]->line] += outcomes[i].ran;
    w->found->cut |= !outcomes[i].ran;
    if (!rc && is_repaired(w, jobs[i].test, &outcomes[i]))
      rc = take_repairing(w, of[i], err);
    web_outcome_release(&outcomes[i]);
  }
  return rc;
}

// --- one failure ------------------------------------------------------------

static void list_tests(WebSearch *w) {
  const WebTrySession *s = w->session;
  const FailureGroup *g = &s->suite->failures[w->options->failure];
  for (size_t i = 0; i < g->nruns; i++)
    if (s->test_of[g->runs[i]] != SIZE_MAX)
      bitset_add(&w->fails, (uint32_t)s->test_of[g->runs[i]]);
  for (size_t t = 0; t < s->ntests; t++)
    if (bitset_has(&w->fails, (uint32_t)t))
      array_push(&w->failing, t);
    else if (s->suite->runs[s->run_of[t]].verdict == VERDICT_PASS)
      array_push(&w->passing, t);
}

// The first failing test that executes the line and ends as it did; few are
// asked.
static int choose_screen(WebSearch *w, size_t line, Err *err) {
  enum { ASKED = 3 };
  size_t asked = 0;
  w->screen[line] = SIZE_MAX;
  for (size_t i = 0; i < w->failing.len && asked < ASKED; i++) {
    size_t t = w->failing.items[i];
    if (!executes(w, t, w->options->lines[line]))
      continue;
    asked++;
    if (find_base(w->session, &t, 1, err))
      return -1;
    if (!is_usable(w, t))
      continue;
    w->screen[line] = t;
    return 0;
  }
  return 0;
}

static int by_worth(const void *a, const void *b) {
  const WebFoundChange *x = a, *y = b;
  bool p = x->all && is_perfect(x), q = y->all && is_perfect(y);
  double s = (double)x->repaired / x->failing,
         t = (double)y->repaired / y->failing;
  if (x->passing)
    s -= 1 - (double)x->kept / x->passing;
  if (y->passing)
    t -= 1 - (double)y->kept / y->passing;
  if (p != q)
    return p ? -1 : 1;
  if (s < t || s > t)
    return s > t ? -1 : 1;
  if (x->change.cost != y->change.cost)
    return x->change.cost < y->change.cost ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static void finish(WebSearch *w) {
  const WebTrySession *s = w->session;
  WebFound *f = w->found;
  for (size_t i = 0; i < w->failing.len; i++)
    f->failing += !s->has_all || is_usable(w, w->failing.items[i]);
  for (size_t i = 0; i < w->passing.len; i++)
    f->passing += !s->has_all || is_usable(w, w->passing.items[i]);
  for (size_t i = 0; i < w->options->nlines; i++)
    if (w->tried[i])
      array_push(&f->lines,
                 (WebSearchedLine){w->options->lines[i], w->tried[i]});
  if (f->changes.len)
    qsort(f->changes.items, f->changes.len, sizeof *f->changes.items, by_worth);
  f->runs = web_runs_count(s->runs) - w->start;
}

int web_search(WebTrySession *s, const WebSearchOptions *o, WebFound *out,
               Err *err) {
  *out = (WebFound){0};
  WebSearch w = {.session = s,
                 .options = o,
                 .found = out,
                 .signature = s->suite->failures[o->failure].signature,
                 .is_markup =
                     !strcmp(s->suite->failures[o->failure].kind, "html"),
                 .start = web_runs_count(s->runs)};
  Candidates all = {0};
  w.screen = mem_array(size_t, o->nlines + 1);
  w.tried = mem_array(uint32_t, o->nlines + 1);
  w.survivors = mem_array(uint32_t, o->nlines + 1);
  list_tests(&w);
  int rc = 0;
  for (size_t i = 0; i < o->nlines && !rc; i++)
    rc = choose_screen(&w, i, err);
  if (!rc)
    list_candidates(&w, &all);
  for (size_t at = 0; at < all.len && !rc;) {
    out->cut |= !has_budget(&w);
    if (out->cut)
      break;
    rc = screen_batch(&w, &all, &at, err);
    if (o->progress)
      o->progress(o->context, web_runs_count(s->runs) - w.start,
                  out->changes.len);
  }
  if (!rc)
    finish(&w);
  array_release(&all);
  array_release(&w.failing);
  array_release(&w.passing);
  bitset_release(&w.fails);
  free(w.screen);
  free(w.tried);
  free(w.survivors);
  return rc;
}

void web_found_release(WebFound *f) {
  array_release(&f->changes);
  array_release(&f->lines);
}

void web_try_session_release(WebTrySession *s) {
  for (size_t t = 0; s->base && t < s->ntests; t++)
    web_outcome_release(&s->base[t]);
  free(s->base);
  free(s->unlike);
  free(s->varies);
  free(s->visited);
  free(s->scripts);
  arena_release(&s->arena);
}
