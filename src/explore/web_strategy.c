// Strategies of an exploration: see web_strategy.h.
#include "explore/web_strategy.h"

#include <stdlib.h>
#include <string.h>

#include "explore/solve/request_solver.h"
#include "util/mem.h"

enum { STEPS_MOST = 2000 };

// --- the table --------------------------------------------------------------

static const WebStrategy strategies[] = {
    {.name = "base", .doc = "what covers most, from the empty input"},
    {.name = "coverage",
     .doc = "what covers most, from the failing request",
     .from_failing = true},
    {.name = "pcs",
     .doc = "path most like that of a failing request",
     .nearness = NEAR_PATH,
     .from_failing = true},
    {.name = "is",
     .doc = "input most like that of a failing request",
     .nearness = NEAR_INPUT,
     .from_failing = true},
    {.name = "crawl",
     .doc = "links and forms alone: what input is compared with is ignored",
     .crawls = true},
};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

const WebStrategy *web_strategy_find(const char *name) {
  for (size_t i = 0; i < STRATEGIES; i++)
    if (!strcmp(strategies[i].name, name))
      return &strategies[i];
  return NULL;
}

// --- the failure ------------------------------------------------------------

static void forget_failing(TargetFailure *t) {
  for (size_t i = 0; i < t->failing.len; i++)
    free(t->failing.items[i].steps);
  t->failing.len = 0;
  t->ncommon = 0;
}

void target_failure_release(TargetFailure *t) {
  forget_failing(t);
  free(t->signature);
  free(t->base.steps);
  array_release(&t->failing);
}

void target_failure_set(TargetFailure *t, const char *signature) {
  if (t->signature && !strcmp(t->signature, signature))
    return;
  free(t->signature);
  t->signature = mem_strdup(signature);
  forget_failing(t);
}

static SortedPath sort_path(const StateGraph *graph, uint32_t number) {
  const MadeRequest *a = state_graph_request(graph, number);
  return (SortedPath){number, similarity_sorted(a->steps, a->nsteps),
                      a->nsteps};
}

bool target_failure_add(TargetFailure *t, uint32_t number) {
  if (t->failing.len >= FAILING_MOST)
    return false;
  array_push(&t->failing, sort_path(t->graph, number));
  return t->strategy->nearness != NEAR_NOTHING;
}

// --- paths ------------------------------------------------------------------

// A condition is identified by a hash, which a resumed exploration computes
// again.
static uint32_t condition_of(const PhpCompare *c) {
  uint64_t h = compare_hash(c);
  return (uint32_t)(h ^ h >> 32) >> 1;
}

const PathStep *path_steps(const PhpRecord *record, size_t *n, Arena *arena) {
  *n = record->ncompares < STEPS_MOST ? record->ncompares : STEPS_MOST;
  PathStep *steps = arena_array(arena, PathStep, *n);
  for (size_t i = 0; i < *n; i++)
    steps[i] = (PathStep){.condition = condition_of(&record->compares[i]),
                          .outcome = record->compares[i].held};
  return steps;
}

// --- scores -----------------------------------------------------------------

static void look_at(TargetFailure *t, uint32_t number) {
  if (t->base.number != number) {
    free(t->base.steps);
    t->base = sort_path(t->graph, number);
    t->ncommon = 0;
  }
  for (; t->ncommon < t->failing.len; t->ncommon++) {
    const SortedPath *f = &t->failing.items[t->ncommon];
    t->common[t->ncommon] =
        similarity_common(t->base.steps, t->base.n, f->steps, f->n);
  }
}

// The similarity if that step had the other outcome.
static double turned(const TargetFailure *t, PathStep step, size_t failing) {
  const SortedPath *f = &t->failing.items[failing], *b = &t->base;
  PathStep other = {step.condition, !step.outcome};
  bool less = similarity_count(b->steps, b->n, step) <=
              similarity_count(f->steps, f->n, step);
  bool more = similarity_count(b->steps, b->n, other) <
              similarity_count(f->steps, f->n, other);
  return similarity_share(t->common[failing] - less + more, b->n, f->n);
}

static bool is_failing(const TargetFailure *t, uint32_t number) {
  for (size_t i = 0; i < t->failing.len; i++)
    if (t->failing.items[i].number == number)
      return true;
  return false;
}

static double path_score(TargetFailure *t, const QueueItem *item) {
  const MadeRequest *base = state_graph_request(t->graph, item->base);
  double best = -1;
  if (!base)
    return -1;
  if (item->origin == ORIGIN_VARIED)
    return is_failing(t, item->base) ? 100.0 - item->step : -1;
  if ((item->origin != ORIGIN_SOLVED && item->origin != ORIGIN_ABSENT) ||
      item->step >= base->nsteps)
    return -1;
  look_at(t, item->base);
  for (size_t i = 0; i < t->failing.len; i++) {
    double s = turned(t, base->steps[item->step], i);
    best = s > best ? s : best;
  }
  return best;
}

static bool has_param(const Ask *a, const Param *like) {
  for (size_t i = 0; i < a->nparams; i++)
    if (a->params[i].place == like->place &&
        !strcmp(a->params[i].name, like->name) &&
        !strcmp(a->params[i].value, like->value))
      return true;
  return false;
}

// The script and the state it starts in are inputs too.
static double compare_asks(const Ask *a, uint32_t state, const MadeRequest *f) {
  size_t same = !strcmp(a->path, f->ask.path) && a->post == f->ask.post;
  same += state == f->state;
  for (size_t i = 0; i < a->nparams; i++)
    same += has_param(&f->ask, &a->params[i]);
  return similarity_share(same, a->nparams + 2, f->ask.nparams + 2);
}

static double input_score(const TargetFailure *t, const QueueItem *item) {
  double best = -1;
  for (size_t i = 0; i < t->failing.len; i++) {
    const MadeRequest *f =
        state_graph_request(t->graph, t->failing.items[i].number);
    double s = compare_asks(&item->ask, item->state, f);
    best = s > best ? s : best;
  }
  return best;
}

double target_failure_score(TargetFailure *t, const QueueItem *item) {
  switch (t->strategy->nearness) {
  case NEAR_PATH:
    return path_score(t, item);
  case NEAR_INPUT:
    return input_score(t, item);
  case NEAR_NOTHING:
    break;
  }
  return -1;
}
