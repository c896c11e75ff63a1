// Selects the best passing run: see near.h.
//
// The runs that were made are a test suite of their own. A branch line that the
// default method ranks high over it decides: its outcome differs in runs that
// pass, and is the same in those that fail. A line far down the list is a
// consequence, or depends on the shape of the input.
#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
#include "near/near_internal.h"
#include "util/mem.h"

enum {
  DECISIVE = 20, // rank of a branch that decides,
  TELLING = 10,  // and of a line that is worth a look on its own
};

// --- how telling lines are --------------------------------------------------

static bool is_more(RunCounts of, uint32_t ef, uint32_t ep) {
  return (double)ef * of.passing > (double)ep * of.failing;
}

// Do more of the failing than of the passing runs execute it, or see the
// outcome on it that it owes its score to?
static bool tells(const Suite *suite, const Ranking *r, const Suspect *s) {
  if (is_more((RunCounts){r->failing, r->passing}, s->ef, s->ep))
    return true;
  return s->carried &&
         is_more(ranking_runs(r, suite->entities[s->carrier].kind),
                 s->carrier_ef, s->carrier_ep);
}

static void add_telling(Near *n, const Suite *suite, const Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++) {
    const Suspect *s = &r->suspects.items[i];
    const Entity *e = &suite->entities[s->entity];
    if (s->rank > TELLING)
      return;
    if (!tells(suite, r, s))
      continue;
    const char *file = arena_strdup(&n->arena, suite->sources[e->source].path);
    array_push(&n->telling, (NearPlace){file, e->line});
  }
}

static void add_lines(Hashmap *ranks, const Suite *suite, const Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++) {
    const Suspect *s = &r->suspects.items[i];
    const Entity *e = &suite->entities[s->entity];
    char *key = mem_printf("%s:%u", suite->sources[e->source].path, e->line);
    hashmap_put(ranks, key, strlen(key), s->rank);
    free(key);
  }
}

static void take_ranking(Near *n, const Suite *suite, const Ranking *r) {
  size_t branches = n->control.program->branches.len;
  Hashmap ranks = {0};
  add_lines(&ranks, suite, r);
  add_telling(n, suite, r);
  n->rank_of = mem_array(uint32_t, branches + 1);
  for (uint32_t i = 0; i < branches; i++) {
    uint32_t line;
    uint64_t rank = UINT32_MAX;
    const char *file = control_place(&n->control, i, &line);
    char *key = mem_printf("%s:%u", file, line);
    hashmap_get(&ranks, key, strlen(key), &rank);
    n->rank_of[i] = (uint32_t)rank;
    free(key);
  }
  hashmap_release(&ranks);
}

static size_t find_failure(const Suite *suite, const char *signature) {
  size_t i = 0;
  while (i < suite->nfailures &&
         strcmp(suite->failures[i].signature, signature) != 0)
    i++;
  return i;
}

// A session that cannot be ranked leaves all lines equal.
static void rank_suite(Near *n, Store *store, const Suite *suite) {
  SessionEvidence evidence;
  OpenLocalizer localizer = {0};
  Localizer method;
  Ranking ranking = {0};
  LocateOptions options = {.by = ENTITY_STATEMENT};
  bool lacking;
  Err ignored;
  size_t failure = find_failure(suite, n->search->signature);
  session_evidence_init(&evidence, store, suite);
  if (failure < suite->nfailures && localizer_find(METHOD_DEFAULT, &method) &&
      !localizer_open(&localizer, &evidence, &method, &options, &ignored) &&
      !localizer_load(&localizer, &lacking, &ignored) &&
      !localizer_rank(&localizer, failure, &ranking, &ignored) &&
      ranking.suspects.len)
    take_ranking(n, suite, &ranking);
  ranking_release(&ranking);
  localizer_close(&localizer);
  session_evidence_release(&evidence);
}

static uint32_t branch_at(const Near *n, uint32_t event) {
  return n->control.branch_of[n->failing.events.items.items[event].edge];
}

uint32_t near_rank(const Near *n, uint32_t event) {
  return event && n->rank_of ? n->rank_of[branch_at(n, event)] : UINT32_MAX;
}

// --- choosing ---------------------------------------------------------------

static uint32_t best_rank(const Near *n, const Distance *d) {
  uint32_t best = UINT32_MAX;
  for (size_t i = 0; i < d->len && best > 1; i++) {
    uint32_t rank = near_rank(n, d->items[i].event);
    best = rank < best ? rank : best;
  }
  return best;
}

// The first event with the best rank: what decides if nothing tells much.
static uint32_t first_best(const Near *n, const Distance *d) {
  size_t i = 0;
  while (i + 1 < d->len && near_rank(n, d->items[i].event) != n->best_rank)
    i++;
  return d->items[i].event;
}

bool near_decisive(const Near *n, uint32_t event) {
  if (!n->rank_of || n->best_rank == UINT32_MAX)
    return true;
  if (n->best_rank > DECISIVE)
    return branch_at(n, event) == branch_at(n, n->first_best);
  return near_rank(n, event) <= DECISIVE;
}

// Does the failing run break a rule (division by 0, out of bounds)?
static bool breaks_rule(const Near *n) {
  const Path *p = &n->failing.path;
  for (size_t i = 0; i < p->events.len; i++)
    if (p->events.items[i].violated)
      return true;
  return false;
}

// 0: goes the same way and keeps the rule, so that is what decides.
static uint32_t telling(const Near *n, const NearFound *f, bool broken) {
  bool same = f->distance.len == 1 && !f->distance.items[0].event;
  if (f->other)
    return UINT32_MAX;
  return same && broken ? 0 : best_rank(n, &f->distance);
}

// Of equally telling runs the one with the fewest differences, then the
// nearest.
static bool is_clearer(const NearFound *a, const NearFound *b) {
  if (a->distance.len != b->distance.len)
    return a->distance.len < b->distance.len;
  return distance_compare(&a->distance, &b->distance) < 0;
}

static void choose_telling(Near *n) {
  bool broken = breaks_rule(n);
  uint32_t best = UINT32_MAX;
  for (size_t i = 0; i < n->found.len; i++) {
    const NearFound *f = &n->found.items[i];
    uint32_t rank = telling(n, f, broken);
    if (rank > best || rank == UINT32_MAX ||
        (rank == best && !is_clearer(f, &n->found.items[n->best])))
      continue;
    best = rank;
    n->best = i;
  }
  n->best_rank = best;
  n->first_best = first_best(n, &n->found.items[n->best].distance);
}

static int look_closer(Near *n, Err *err) {
  const NearOptions *o = &n->options;
  if (!o->look || n->search->runner->interrupted)
    return 0;
  return o->look(o->look_context, n->search, err);
}

int near_choose(Near *n, Err *err) {
  Runner *r = n->search->runner;
  Suite suite = {0};
  n->best = n->nearest;
  n->best_rank = UINT32_MAX;
  if (n->options.order == NEAR_NEAREST || !n->found.len)
    return 0;
  int rc = store_flush(r->store, err) || look_closer(n, err) ||
           store_load(r->store, r->session, &suite, err);
  if (!rc)
    rank_suite(n, r->store, &suite);
  suite_release(&suite);
  if (!rc)
    choose_telling(n);
  return rc ? -1 : 0;
}
