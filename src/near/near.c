// The runs of the search for a passing one: see near.h.
#include "near/near.h"

#include <stdlib.h>
#include <string.h>

#include "input/made.h"
#include "near/near_internal.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  FAILED_MAX = 24,        // runs kept that do not pass
  FOUND_BYTES = 64 << 20, // of all that pass
};
#define QUERY_SECONDS 0.25

const NearOptions near_defaults = {
    .paths = 4000, .depth = 8, .detours = 40, .inputs = 1, .stored = 16};

// --- what is wanted ---------------------------------------------------------

bool near_is_refused(const Near *n, int status) {
  return n->search->status <= 0 && status > 0;
}

bool near_goes_on(const Near *n) {
  const InputSearch *e = n->search;
  return search_goes_on(e) && n->stats.tests < e->options.max_tests;
}

bool near_may_take(const Near *n, uint32_t from, uint32_t to) {
  LoopChange change = control_loop_change(&n->control, from, to);
  return n->options.loops == LOOPS_BOTH || change == LOOP_SAME ||
         (n->options.loops == LOOPS_FEWER && change == LOOP_FEWER);
}

Test near_failing_test(const Near *n, Arena *arena) {
  return (Test){.name = "forced",
                .line = arena_strdup(arena, n->failing.line),
                .env = made_environment(&n->failing.inputs, arena)};
}

// --- opening and closing ----------------------------------------------------

void near_open(Near *n, InputSearch *e, const NearOptions *o) {
  *n = (Near){.search = e, .options = *o};
  control_init(&n->control, &e->recorder.program);
}

void near_run_release(NearRun *r) {
  solver_free(r->solver);
  expr_pool_free(r->pool);
  path_release(&r->path);
  inputs_release(&r->inputs);
  events_release(&r->events);
  free(r->line);
  free(r->ends);
  free(r->event_of);
}

static void release_found(NearFound *f) {
  array_release(&f->distance);
  inputs_release(&f->inputs);
  free(f->line);
  free(f->test);
}

static void clear_batch(Near *n) {
  for (size_t i = 0; i < n->batch.len; i++)
    inputs_release(&n->batch.items[i]);
  n->batch.len = n->turned.len = 0;
}

void near_close(Near *n) {
  near_run_release(&n->failing);
  control_release(&n->control);
  clear_batch(n);
  for (size_t i = 0; i < n->found.len; i++)
    release_found(&n->found.items[i]);
  for (size_t i = 0; i < n->failed.len; i++)
    inputs_release(&n->failed.items[i].inputs);
  array_release(&n->forced);
  array_release(&n->found);
  array_release(&n->failed);
  array_release(&n->batch);
  array_release(&n->turned);
  hashmap_release(&n->tried);
  array_release(&n->neighbour.places);
  array_release(&n->telling);
  near_release_state(n);
  arena_release(&n->arena);
  free(n->rank_of);
}

const NearFound *near_best(const Near *n) {
  return n->found.len && !n->found.items[n->best].other
             ? &n->found.items[n->best]
             : NULL;
}

// --- replaying --------------------------------------------------------------

char *near_write(Near *n, const Inputs *in, const char *prefix, unsigned number,
                 Err *err) {
  InputSearch *e = n->search;
  char *dir = mem_printf("%s/%s%u", e->options.dir, prefix, number);
  Str line = {0};
  int rc = made_write(in, &e->original, dir, &line, err);
  char *words = rc ? NULL : mem_strdup(str_text(&line));
  str_release(&line);
  free(dir);
  return words;
}

// Records one run, the only one.
int near_record(Near *n, const Inputs *in, const char *line, Err *err) {
  Arena arena = {0};
  Test test = {.name = "near",
               .line = line,
               .env = in ? made_environment(in, &arena) : NULL};
  int rc = recorder_record(&n->search->recorder, &test, 1, err);
  arena_release(&arena);
  return rc;
}

// Replays what was recorded. `pool` NULL: events only.
static int replay_run(Near *n, const Inputs *in, ExprPool *pool, NearRun *out,
                      Err *err) {
  Tracker tracker;
  events_init(&out->events);
  tracker_init(&tracker, &n->control, &out->events);
  ReplayOptions options = {.max_instructions = SEARCH_INSTRUCTIONS,
                           .observer = tracker_branch,
                           .entered = tracker_block,
                           .context = &tracker};
  int rc = recorder_replay(&n->search->recorder, 0, pool ? in : NULL, pool,
                           &options, &out->path, err);
  tracker_release(&tracker);
  return rc;
}

// Conditions and events are both in order of execution.
static void find_events(const Near *n, NearRun *r) {
  const Program *p = n->control.program;
  uint32_t *seen = mem_array(uint32_t, p->branches.len + 1);
  const uint32_t *branch_of = n->control.branch_of;
  uint32_t event = 0;
  r->event_of = mem_array(uint32_t, r->path.events.len + 1);
  for (size_t i = 0; i < r->path.events.len; i++) {
    const PathEvent *c = &r->path.events.items[i];
    while (c->branch != IR_NONE && seen[c->branch] <= c->instance &&
           event + 1 < r->events.items.len)
      seen[branch_of[r->events.items.items[++event].edge]]++;
    r->event_of[i] = event;
  }
  free(seen);
}

static void add_conditions(NearRun *r) {
  r->solver = solver_new(r->pool, (SolverLimits){.seconds = QUERY_SECONDS});
  for (size_t i = 0; i < r->path.events.len; i++)
    solver_add(r->solver, r->path.events.items[i].cond,
               r->path.events.items[i].outcome);
}

int near_replay(Near *n, const Inputs *in, NearRun *r, Err *err) {
  InputSearch *e = n->search;
  unsigned number = e->number++;
  Inputs read = {0};
  char *line = near_write(n, in, "near", number, err);
  int rc = line ? near_record(n, in, line, err) : -1;
  r->line = line;
  r->pool = expr_pool_new();
  if (rc || e->runner->interrupted)
    return rc;
  inputs_copy(&r->inputs, in);
  inputs_copy(&read, in);
  char *dir = mem_printf("%s/near%u", e->options.dir, number);
  made_rename(&read, &e->original, dir);
  free(dir);
  rc = replay_run(n, &read, r->pool, r, err);
  inputs_release(&read);
  if (rc)
    return rc;
  add_conditions(r);
  r->ends = events_ends(&r->events);
  find_events(n, r);
  return 0;
}

// --- runs that pass ---------------------------------------------------------

static size_t size_of(const NearFound *f) {
  size_t n = f->distance.len * sizeof *f->distance.items;
  for (size_t i = 0; i < f->inputs.sources.len; i++)
    n += f->inputs.sources.items[i].size;
  return n;
}

// The index of the one that is farthest away.
static size_t farthest(const Near *n) {
  size_t far = 0;
  for (size_t i = 1; i < n->found.len; i++)
    if (distance_compare(&n->found.items[far].distance,
                         &n->found.items[i].distance) < 0)
      far = i;
  return far;
}

// Runs that pass are nearer than all that fail otherwise, and those that do
// something with their input than those that refuse it.
static bool is_before(const NearFound *a, const NearFound *b) {
  if (a->other != b->other)
    return b->other;
  if (a->refused != b->refused)
    return b->refused;
  return distance_compare(&a->distance, &b->distance) < 0;
}

static void keep(Near *n, NearFound *f) {
  array_push(&n->found, *f);
  *f = (NearFound){0};
  n->bytes += size_of(&array_last(&n->found));
  while (n->bytes > FOUND_BYTES && n->found.len > 1) {
    size_t far = farthest(n);
    n->bytes -= size_of(&n->found.items[far]);
    release_found(&n->found.items[far]);
    n->found.items[far] = n->found.items[--n->found.len];
  }
  n->nearest = 0;
  for (size_t i = 1; i < n->found.len; i++)
    if (is_before(&n->found.items[i], &n->found.items[n->nearest]))
      n->nearest = i;
}

// Does it have as many iterations as are wanted?
static bool has_loops(const Near *n, const Distance *d) {
  for (size_t i = 0; i < d->len; i++) {
    const BranchDifference *x = &d->items[i];
    if (x->event &&
        !near_may_take(n, n->failing.events.items.items[x->event].edge,
                       x->needed))
      return false;
  }
  return true;
}

int near_measure(Near *n, const Inputs *in, NearFound *f, Err *err) {
  NearRun run = {0};
  int rc = f->line ? near_record(n, in, f->line, err) : -1;
  if (!rc && !n->search->runner->interrupted) {
    if (replay_run(n, NULL, NULL, &run, &n->problem)) {
      n->stats.unreplayed++;
    } else {
      align_distance(&n->failing.events, &run.events, &f->distance);
      if (has_loops(n, &f->distance))
        keep(n, f);
    }
  }
  release_found(f);
  near_run_release(&run);
  return rc;
}

static int measure_made(Near *n, const Inputs *in, unsigned number, int status,
                        Err *err) {
  NearFound f = {.line = near_write(n, in, "near", number, err)};
  f.refused = near_is_refused(n, status);
  inputs_copy(&f.inputs, in);
  return near_measure(n, in, &f, err);
}

// --- running ----------------------------------------------------------------

static void count_result(Near *n, const InputResult *r) {
  bool pass = r->verdict == VERDICT_PASS;
  n->stats.tests++;
  n->stats.passing += pass;
  n->stats.same += r->shows;
  n->stats.others += !pass && !r->shows;
}

static void keep_failing(Near *n, size_t i, bool shows) {
  NearFailed f = {.turned = n->turned.items[i], .other = !shows};
  if (n->failed.len >= FAILED_MAX)
    return;
  inputs_copy(&f.inputs, &n->batch.items[i]);
  array_push(&n->failed, f);
}

int near_flush(Near *n, Err *err) {
  size_t count = n->batch.len;
  unsigned first = n->search->number;
  if (!count)
    return 0;
  InputResult *results = mem_array(InputResult, count);
  int rc =
      search_run_inputs(n->search, "near", n->batch.items, count, results, err);
  for (size_t i = 0; !rc && i < count && !n->search->runner->interrupted; i++) {
    const InputResult *r = &results[i];
    count_result(n, r);
    if (r->verdict == VERDICT_PASS)
      rc = measure_made(n, &n->batch.items[i], first + (unsigned)i, r->status,
                        err);
    else
      keep_failing(n, i, r->shows);
  }
  clear_batch(n);
  free(results);
  return rc;
}

int near_propose(Near *n, Inputs *in, uint32_t turned, Err *err) {
  uint64_t hash = made_hash(in), fresh = n->tried.len + 1;
  if (hashmap_intern(&n->tried, &hash, sizeof hash, fresh) != fresh) {
    inputs_release(in);
    return 0;
  }
  array_push(&n->batch, *in);
  array_push(&n->turned, turned);
  size_t jobs = (size_t)n->search->runner->options->jobs;
  return n->batch.len < jobs ? 0 : near_flush(n, err);
}
