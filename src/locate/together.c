// One fault with several symptoms: see together.h.
#include "locate/together.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

// With more failures a session has more than one fault, or nobody reads them.
enum { FAILURES_MOST = 50 };

static int by_number(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

// Adds the group of all failing runs behind the last one.
static void add_union(Suite *suite) {
  size_t n = suite->nfailures, all = 0, nruns = 0;
  FailureGroup *groups = arena_array(&suite->arena, FailureGroup, n + 1);
  memcpy(groups, suite->failures, n * sizeof *groups);
  for (size_t i = 0; i < n; i++)
    all += groups[i].nruns;
  uint32_t *runs = arena_array(&suite->arena, uint32_t, all);
  for (size_t i = 0, k = 0; i < n; k += groups[i++].nruns)
    memcpy(runs + k, groups[i].runs, groups[i].nruns * sizeof *runs);
  qsort(runs, all, sizeof *runs, by_number);
  for (size_t i = 0; i < all; i++)
    if (!i || runs[i] != runs[nruns - 1])
      runs[nruns++] = runs[i];
  groups[n] = (FailureGroup){.kind = "all",
                             .message = "all failures together",
                             .signature = "",
                             .place = "",
                             .excerpt = "",
                             .output = "",
                             .runs = runs,
                             .nruns = nruns};
  suite->failures = groups;
}

// Is the entity among the first of the ranking?
static bool is_first(const Ranking *r, uint32_t entity) {
  for (size_t i = 0; i < r->suspects.len; i++) {
    const Suspect *s = &r->suspects.items[i];
    if (s->rank_best != 1)
      return false;
    if (s->entity == entity)
      return true;
  }
  return false;
}

// Takes those back that are not among the first for this failure.
static int compare_with(const OpenLocalizer *l, size_t failure,
                        const Ranking *all, bool *explains, Err *err) {
  Ranking own = {.failure = failure};
  int rc = localizer_rank(l, failure, &own, err);
  for (size_t i = 0; !rc && i < all->suspects.len; i++)
    explains[i] &= is_first(&own, all->suspects.items[i].entity);
  ranking_release(&own);
  return rc;
}

int together_rank(const OpenLocalizer *l, Suite *suite, Ranking *out,
                  bool *found, Err *err) {
  size_t n = suite->nfailures;
  *found = false;
  if (n < 2 || n > FAILURES_MOST)
    return 0;
  add_union(suite);
  *out = (Ranking){.failure = n};
  int rc = localizer_rank(l, n, out, err);
  bool *explains = mem_array(bool, out->suspects.len + 1);
  for (size_t i = 0; i < out->suspects.len; i++) {
    const Suspect *s = &out->suspects.items[i];
    explains[i] = s->rank_best == 1 && s->ef == out->failing && !s->test;
  }
  for (size_t i = 0; !rc && i < n; i++)
    rc = compare_with(l, i, out, explains, err);
  for (size_t i = 0; !rc && i < out->suspects.len; i++)
    *found |= explains[i];
  free(explains);
  if (!*found)
    ranking_release(out);
  return rc;
}
