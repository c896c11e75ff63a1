// A closer look at the runs of a session: see close_look.h.
#include "look/close_look.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "look/close_builds.h"
#include "look/close_decision.h"
#include "look/close_sample.h"
#include "look/found_unit.h"
#include "look/related_tests.h"
#include "look/slice_runs.h"
#include "util/clock.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

enum {
  SLOWER = 10,      // times that a close build may take longer
  LIMIT_LEAST = 1,  // second
  DROPPED_FEW = 4,  // are no reason to give up
  ROUND_FIRST = 64, // runs; each round has twice as many as the one before
  // Seconds: what takes less is not worth deciding. (What the tests took the
  // first time, so that the answer is the same on every look.)
  DECIDE_LEAST = 10,
};

// A test of the session, or what tests of it are inside of ("prog" of
// "prog/test_a").
typedef struct {
  size_t place; // in the sample, the first of those inside
  double seconds;
  bool hangs;
} LookTest;

typedef struct {
  const CloseLookOptions *options;
  CloseLookResult *result;
  Suite suite;
  CloseSample sample, apart; // looked at; not, with nothing to see
  bool *wanted;              // by run of the suite
  uint32_t *index;           // by run: its place in the sample
  bool *taken;               // by run
  Hashmap runs;              // names of tests -> run
  const char **signatures;   // by run: of its failures, in order; NULL: none
  ARRAY(LookTest) tests;
  Hashmap test_index;
  Hashmap builds_of; // paths as tests name them -> build or 0
  CloseBuilds builds;
  FoundUnit *found;
  ARRAY(FoundRun) kept;
  bool *reported;  // by place in the sample
  size_t frontier; // all before this place are
  size_t round;    // ends at this place
  CloseDecision decision;
  bool decides; // it is worth it
  bool decided;
  Store *store;
  const char *scratch;
  double start, end;
  double built; // seconds that the builds took
  bool late;    // the time is up
  Arena arena;
} Look;

static void add_note(CloseLookResult *r, char *text) {
  array_push(&r->notes, text);
}

void close_look_release(CloseLookResult *r) {
  for (size_t i = 0; i < r->notes.len; i++)
    free(r->notes.items[i]);
  array_release(&r->notes);
}

// --- the session ------------------------------------------------------------

// The names of what the test may be inside of, and its own.
static void index_test(Look *l, uint32_t run, bool hangs) {
  const RunInfo *info = &l->suite.runs[run];
  const char *name = info->test;
  for (const char *p = strchr(name, '/');; p = p ? strchr(p + 1, '/') : NULL) {
    size_t n = p ? (size_t)(p - name) : strlen(name);
    uint64_t at = hashmap_intern(&l->test_index, name, n, l->tests.len);
    if (at == l->tests.len)
      array_push(&l->tests, (LookTest){.place = SIZE_MAX});
    LookTest *t = &l->tests.items[at];
    t->seconds += info->seconds;
    t->hangs |= hangs;
    if (l->wanted[run] && l->index[run] < t->place)
      t->place = l->index[run];
    if (!p)
      return;
  }
}

// The failures that each run shows, as text.
static bool *index_failures(Look *l) {
  bool *hangs = mem_array(bool, l->suite.nruns + 1);
  l->signatures = arena_array(&l->arena, const char *, l->suite.nruns + 1);
  for (size_t i = 0; i < l->suite.nfailures; i++) {
    const FailureGroup *g = &l->suite.failures[i];
    for (size_t k = 0; k < g->nruns; k++) {
      hangs[g->runs[k]] |= !strcmp(g->kind, "timeout");
      l->signatures[g->runs[k]] = g->signature;
    }
  }
  return hangs;
}

static void index_session(Look *l) {
  size_t n = l->suite.nruns;
  l->wanted = arena_array(&l->arena, bool, n + 1);
  l->reported = arena_array(&l->arena, bool, l->sample.len + 1);
  l->index = arena_array(&l->arena, uint32_t, n + 1);
  for (size_t i = 0; i < l->sample.len; i++) {
    l->wanted[l->sample.items[i].run] = true;
    l->index[l->sample.items[i].run] = (uint32_t)i;
  }
  bool *hangs = index_failures(l);
  for (uint32_t i = 0; i < n; i++) {
    const char *name = l->suite.runs[i].test;
    hashmap_put(&l->runs, name, strlen(name), i);
    index_test(l, i, hangs[i]);
    l->result->of_failing += l->suite.runs[i].verdict == VERDICT_FAIL;
    l->result->of_passing += l->suite.runs[i].verdict == VERDICT_PASS;
  }
  free(hangs);
}

// --- what the runner asks ---------------------------------------------------

static bool go_on(void *context) {
  Look *l = context;
  const CloseLookOptions *o = l->options;
  if (o->progress)
    o->progress(o->progress_context, l->kept.len, l->sample.len);
  l->late |= clock_now() >= l->end;
  l->result->interrupted |= stop_requested();
  return !l->late && !l->result->interrupted && !l->decided;
}

// Programs that only passing tests run leave half of the time to the runs.
static bool go_on_building(void *context) {
  Look *l = context;
  double half = l->start + l->options->seconds / 2;
  const SeenModule *now = l->builds.now;
  return go_on(l) && (!now || now->failing || clock_now() < half);
}

static const LookTest *find_test(const Look *l, const char *test) {
  uint64_t at;
  return hashmap_get(&l->test_index, test, strlen(test), &at)
             ? &l->tests.items[at]
             : NULL;
}

static size_t place(void *context, const char *test) {
  const LookTest *t = find_test(context, test);
  return t ? t->place : 0;
}

// A test that hangs is not to hang longer.
static double limit(void *context, const char *test, double full) {
  const LookTest *t = find_test(context, test);
  double seconds = t ? SLOWER * t->seconds : SLOWER * full;
  if (t && t->hangs)
    return t->seconds;
  seconds = seconds < LIMIT_LEAST ? LIMIT_LEAST : seconds;
  return seconds < SLOWER * full ? seconds : SLOWER * full;
}

// Tests name a program as they like; its build has the name of /proc/self/exe.
static const char *build_of(void *context, const char *program) {
  Look *l = context;
  uint64_t known;
  if (hashmap_get(&l->builds_of, program, strlen(program), &known))
    return (const char *)(uintptr_t)known;
  char path[PATH_MAX];
  const char *build = *program == '/' && realpath(program, path)
                          ? close_builds_of(&l->builds, path)
                          : NULL;
  hashmap_put(&l->builds_of, program, strlen(program), (uintptr_t)build);
  return build;
}

bool close_ended_alike(Verdict verdict, const char *signature, const Run *now) {
  if (now->verdict != verdict)
    return false;
  if (!now->failures.len || !signature)
    return !now->failures.len == !signature;
  for (size_t i = 0; i < now->failures.len; i++)
    if (!strcmp(now->failures.items[i].signature, signature))
      return true;
  return false;
}

static bool has_close_build(const Look *l, const Run *whole) {
  for (size_t i = 0; i < whole->modules.len; i++)
    if (close_builds_has(&l->builds, whole->modules.items[i]))
      return true;
  return false;
}

static void keep(Look *l, uint32_t run, const Run *now) {
  FoundRun f = {.test = mem_strdup(now->test),
                .place = l->index[run],
                .stratum = l->sample.items[l->index[run]].stratum};
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    if (CLOSE_KINDS & 1u << k)
      bitset_union(&f.hits[k], &now->hits[k]);
  array_push(&l->kept, f);
  l->result->failing += now->verdict == VERDICT_FAIL;
  l->result->passing += now->verdict == VERDICT_PASS;
}

// The first `n` that were kept and those that are apart, which show nothing. They
// belong to the look; caller frees the array.
static FoundRun *with_apart(const Look *l, size_t n, size_t *all) {
  *all = n + l->apart.len;
  FoundRun *runs = mem_array(FoundRun, *all + 1);
  if (n)
    memcpy(runs, l->kept.items, n * sizeof *runs);
  for (size_t i = 0; i < l->apart.len; i++)
    runs[n + i] =
        (FoundRun){.test = (char *)l->suite.runs[l->apart.items[i].run].test,
                   .stratum = CLOSE_APART};
  return runs;
}

// --- rounds -----------------------------------------------------------------

// The runs up to the end of the round, whatever else has ended already, come
// first. Returns how many there are.
static size_t divide_kept(Look *l) {
  size_t n = 0;
  for (size_t i = 0; i < l->kept.len; i++)
    if (l->kept.items[i].place < l->round) {
      FoundRun f = l->kept.items[i];
      l->kept.items[i] = l->kept.items[n];
      l->kept.items[n++] = f;
    }
  return n;
}

static void drop_after(Look *l, size_t n) {
  for (size_t i = n; i < l->kept.len; i++) {
    FoundRun *f = &l->kept.items[i];
    bool failing =
        l->suite.runs[l->sample.items[f->place].run].verdict == VERDICT_FAIL;
    l->result->failing -= failing;
    l->result->passing -= !failing;
    found_run_release(f);
  }
  l->kept.len = n;
}

static int end_round(Look *l, Err *err) {
  size_t n = divide_kept(l);
  char *dir = arena_printf(&l->arena, "%s/decision", l->scratch);
  if (!l->decision.copy &&
      close_decision_open(&l->decision, l->store, l->suite.session, dir, err))
    return -1;
  size_t all;
  FoundRun *runs = with_apart(l, n, &all);
  int rc =
      close_decision_round(&l->decision, l->found, runs, all, &l->decided, err);
  free(runs);
  if (rc)
    return -1;
  if (l->decided)
    drop_after(l, n);
  return 0;
}

// Rounds end at 64, 192, 448, ... runs. Each is judged by its own runs, also if a
// late one has let others overtake it: the answer is the same on every look.
static int report(Look *l, uint32_t run, Err *err) {
  l->reported[l->index[run]] = true;
  while (l->frontier < l->sample.len && l->reported[l->frontier])
    l->frontier++;
  while (l->decides && !l->decided && l->round <= l->frontier &&
         l->round < l->sample.len) {
    if (end_round(l, err))
      return -1;
    l->round = 2 * l->round + ROUND_FIRST;
  }
  return 0;
}

static bool is_worth_deciding(const Look *l) {
  double seconds = 0;
  for (size_t i = ROUND_FIRST; i < l->sample.len; i++)
    seconds += l->suite.runs[l->sample.items[i].run].seconds;
  return seconds > DECIDE_LEAST;
}

// --- runs -------------------------------------------------------------------

static int take(void *context, const Run *now, const Run *whole, Err *err) {
  Look *l = context;
  uint64_t run;
  if (!hashmap_get(&l->runs, now->test, strlen(now->test), &run) ||
      !l->wanted[run] || l->reported[l->index[run]] || l->decided)
    return 0;
  if (!close_ended_alike(l->suite.runs[run].verdict, l->signatures[run], now))
    l->result->dropped++;
  else if (has_close_build(l, whole))
    keep(l, (uint32_t)run, now);
  return report(l, (uint32_t)run, err);
}

// --- the look ---------------------------------------------------------------

// If most runs end otherwise, the close build is not the program.
static bool is_hopeless(const Look *l) {
  return l->result->dropped > DROPPED_FEW && l->result->dropped > l->kept.len;
}

static int store_found(Look *l, Store *store, Err *err) {
  CloseLookResult *r = l->result;
  if (is_hopeless(l)) {
    add_note(r,
             mem_printf("no closer look: %zu of %zu runs ended differently in "
                        "the build that records more",
                        r->dropped, r->dropped + l->kept.len));
    return 0;
  }
  if (!r->failing) {
    if (l->late && !l->builds.cut)
      add_note(r, mem_printf("no closer look: there was no time for a failing "
                             "test; give more (--close %.0f)",
                             6 * l->options->seconds));
    else if (!l->late && !r->interrupted)
      add_note(r, mem_strdup("no closer look: no failing test ended as before "
                             "in the build that records more"));
    return 0;
  }
  const char *changed = found_changed(l->found, &l->suite);
  if (changed) {
    add_note(r, mem_printf("no closer look: %s has changed since the program "
                           "was built; build it again",
                           path_below(changed, l->suite.cwd)));
    return 0;
  }
  r->ended = l->decided       ? "decided"
             : r->interrupted ? "interrupted"
             : l->late        ? "budget"
                              : "all";
  size_t all;
  FoundRun *runs = with_apart(l, l->kept.len, &all);
  int rc =
      found_store(l->found, store, l->suite.session, runs, all, r->ended, err);
  free(runs);
  return rc;
}

// --- slices -----------------------------------------------------------------

static int by_place(const void *a, const void *b) {
  size_t x = (*(FoundRun *const *)a)->place, y = (*(FoundRun *const *)b)->place;
  return (x > y) - (x < y);
}

// Failing runs, in the order of the sample. Caller frees.
static FoundRun **list_failing(Look *l, size_t *n) {
  FoundRun **runs = mem_array(FoundRun *, l->kept.len + 1);
  *n = 0;
  for (size_t i = 0; i < l->kept.len; i++) {
    FoundRun *f = &l->kept.items[i];
    if (l->suite.runs[l->sample.items[f->place].run].verdict == VERDICT_FAIL)
      runs[(*n)++] = f;
  }
  qsort(runs, *n, sizeof *runs, by_place);
  return runs;
}

static bool slice_goes_on(void *context) {
  Look *l = context;
  return clock_now() < l->end && !stop_requested();
}

// A test may take as long as before, if there is so much time.
static double slice_limit(void *context, const char *test, double full) {
  Look *l = context;
  double left = l->end - clock_now(), seconds = limit(l, test, full);
  return left > 0 && left < seconds ? left : seconds;
}

// The trace build takes about as long as the builds did.
static void slice_runs(Look *l, Runner *r) {
  double left = l->end - clock_now();
  if (!slices_possible(r->options) || l->result->interrupted || left < l->built)
    return;
  SliceOptions o = {
      .cache = arena_printf(&l->arena, "%s/trace", store_dir(r->store)),
      .limit = slice_limit,
      .go_on = slice_goes_on,
      .context = l};
  size_t n;
  SliceResult result;
  FoundRun **runs = list_failing(l, &n);
  slice_failing(&o, r, l->found, runs, n, &result);
  if (result.note && result.sliced < result.tried)
    add_note(l->result, mem_printf("what the first wrong byte depends on is "
                                   "known of %zu of %zu runs: %s",
                                   result.sliced, result.tried, result.note));
  free(result.note);
  free(runs);
}

// Slices come last: the runs leave them some time.
static double end_of_runs(const Look *l, const Runner *r) {
  enum { PART = 5 };
  return slices_possible(r->options) ? l->end - l->options->seconds / PART
                                     : l->end;
}

// --- running ----------------------------------------------------------------

static int run_tests(Look *l, Runner *r, Err *err) {
  CloseHooks hooks = {.dir = l->builds.dir,
                      .suite = &l->suite,
                      .wanted = l->wanted,
                      .assign = found_assign,
                      .pair = found_pair,
                      .place = place,
                      .limit = limit,
                      .build = build_of,
                      .go_on = go_on,
                      .take = take,
                      .found = l->found,
                      .context = l};
  Err problem = {0};
  r->close = &hooks;
  l->scratch = r->scratch.dir;
  double end = l->end;
  l->end = end_of_runs(l, r);
  if (l->options->run(l->options->run_context, r, &problem))
    add_note(l->result,
             mem_printf("the closer look ended early: %s", problem.text));
  l->result->interrupted |= r->interrupted;
  close_decision_close(&l->decision);
  l->end = end;
  if (l->kept.len && !is_hopeless(l))
    slice_runs(l, r);
  return store_found(l, r->store, err);
}

static int make_builds(Look *l, Runner *r, Err *err) {
  const CloseLookOptions *o = l->options;
  NeededModules needed = {0};
  char *dir = arena_printf(&l->arena, "%s/close", r->scratch.dir);
  char *cache = arena_printf(&l->arena, "%s/trace", store_dir(r->store));
  l->builds.make = close_build;
  l->builds.purpose = "no closer look at";
  related_tests_modules(&l->suite, o->modules, o->nmodules, &l->sample,
                        &needed);
  int rc = close_builds_make(&l->builds, needed.items, needed.len, cache, dir,
                             go_on_building, l, err);
  array_release(&needed);
  for (size_t i = 0; i < l->builds.notes.len; i++)
    add_note(l->result, mem_strdup(l->builds.notes.items[i]));
  if (!rc && l->builds.cut && !l->result->interrupted)
    add_note(l->result,
             mem_printf("there was no time to build all programs for a closer "
                        "look: give more (--close %.0f)",
                        6 * o->seconds));
  return rc;
}

// A pool kills children that it does not know, so there can be only one: a
// session that still goes on lends its own, with all that belongs to it.
static void borrow(Runner *r, const Runner *like) {
  if (!like->pool)
    return;
  r->pool = like->pool;
  r->confines = like->confines;
  r->scratch = like->scratch;
}

static int close_runner(Runner *r, const Runner *like, Err *err) {
  if (like->pool) {
    r->pool = NULL;
    r->confines = NULL;
    r->scratch = SCRATCH_NONE;
  }
  return runner_close(r, false, err);
}

static int look(Look *l, const Runner *like, Store *store, Err *err) {
  RunOptions options = *like->options;
  options.rerun = options.failed = false;
  options.serve = options.exe != NULL;
  Runner r = {.command = like->command,
              .root = like->root,
              .store = store,
              .contexts = like->contexts};
  Err ignored;
  int rc = runner_open(&r, &options, err);
  if (!rc)
    borrow(&r, like);
  if (!rc && !r.scratch.dir)
    rc = scratch_open(&r.scratch, store_dir(store), err);
  if (!rc)
    rc = make_builds(l, &r, err);
  l->built = clock_now() - l->start;
  if (!rc && l->builds.programs.len)
    rc = run_tests(l, &r, err);
  close_runner(&r, like, &ignored);
  return rc;
}

static void look_release(Look *l) {
  for (size_t i = 0; i < l->kept.len; i++)
    found_run_release(&l->kept.items[i]);
  array_release(&l->kept);
  array_release(&l->sample);
  array_release(&l->apart);
  array_release(&l->tests);
  hashmap_release(&l->runs);
  hashmap_release(&l->test_index);
  hashmap_release(&l->builds_of);
  close_builds_release(&l->builds);
  found_free(l->found);
  arena_release(&l->arena);
  suite_release(&l->suite);
}

int close_look(const CloseLookOptions *o, const Runner *like, Store *store,
               int64_t session, CloseLookResult *out, Err *err) {
  *out = (CloseLookResult){.ended = ""};
  Look l = {.options = o, .result = out, .store = store, .start = clock_now()};
  l.end = l.start + o->seconds;
  l.found = found_new();
  int rc = store_load(store, session, &l.suite, err);
  if (!rc)
    rc = close_sample_draw(store, &l.suite, &l.sample, err);
  if (!rc) {
    related_tests_part(&l.suite, o->modules, o->nmodules, &l.sample, &l.apart);
    index_session(&l);
    l.decides = is_worth_deciding(&l);
    l.round = ROUND_FIRST;
    rc = look(&l, like, store, err);
  }
  out->seconds = clock_now() - l.start;
  look_release(&l);
  return rc;
}
