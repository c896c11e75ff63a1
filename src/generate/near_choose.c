// Which passing run is the best: see near.h.
//
// The runs that were made are a test suite of their own. A branch line that the
// default method ranks high over it is one whose outcome decides: turned round
// in runs that pass, and as it was in those that fail. One far down the list is
// a consequence, or has to do with the shape of the input.
#include <stdlib.h>
#include <string.h>

#include "generate/near_internal.h"
#include "locate/localizer.h"
#include "util/mem.h"

enum { DECISIVE = 20 }; // rank

// --- how telling lines are --------------------------------------------------

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
  Workbench bench;
  Locator locator = {0};
  Localizer method;
  Ranking ranking = {0};
  LocateOptions options = {.by = ENTITY_STATEMENT};
  bool lacking;
  Err ignored;
  size_t failure = find_failure(suite, n->explorer->signature);
  workbench_init(&bench, store, suite);
  if (failure < suite->nfailures && localizer_find(METHOD_DEFAULT, &method) &&
      !locator_open(&locator, &bench, &method, &options, &ignored) &&
      !locator_load(&locator, &lacking, &ignored) &&
      !locator_rank(&locator, failure, &ranking, &ignored) &&
      ranking.suspects.len)
    take_ranking(n, suite, &ranking);
  ranking_release(&ranking);
  locator_close(&locator);
  workbench_release(&bench);
}

uint32_t near_rank(const Near *n, uint32_t event) {
  if (!event || !n->rank_of)
    return UINT32_MAX;
  return n->rank_of[n->control
                        .branch_of[n->failing.events.items.items[event].edge]];
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

bool near_decisive(const Near *n, uint32_t event) {
  uint32_t rank = near_rank(n, event);
  return rank <= DECISIVE || rank == n->best_rank;
}

static void choose_telling(Near *n) {
  uint32_t best = UINT32_MAX;
  for (size_t i = 0; i < n->found.len; i++) {
    const NearFound *f = &n->found.items[i], *old = &n->found.items[n->best];
    uint32_t rank = f->other ? UINT32_MAX : best_rank(n, &f->distance);
    if (rank > best || rank == UINT32_MAX ||
        (rank == best && distance_compare(&f->distance, &old->distance) >= 0))
      continue;
    best = rank;
    n->best = i;
  }
  n->best_rank = best;
}

int near_choose(Near *n, Err *err) {
  Runner *r = n->explorer->runner;
  Suite suite = {0};
  n->best = n->nearest;
  n->best_rank = UINT32_MAX;
  if (n->options.order == NEAR_NEAREST || !n->found.len)
    return 0;
  int rc = store_flush(r->store, err) ||
           store_load(r->store, r->session, &suite, err);
  if (!rc)
    rank_suite(n, r->store, &suite);
  suite_release(&suite);
  if (!rc)
    choose_telling(n);
  return rc ? -1 : 0;
}
