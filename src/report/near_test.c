// The passing test nearest to a failing one: see near_test.h.
#include "report/near_test.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

typedef struct {
  const Suite *suite;
  NearTest *out;
  size_t n;
  Bitset *failing, *passing; // per failure: what the two runs executed
} Work;

static void copy(Bitset *to, const Bitset *from) {
  bitset_release(to);
  bitset_union(to, from);
}

static size_t both(const Bitset *a, const Bitset *b) {
  size_t n = a->nwords < b->nwords ? a->nwords : b->nwords, sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += (size_t)__builtin_popcountll(a->words[i] & b->words[i]);
  return sum;
}

// --- the two runs -----------------------------------------------------------

static void note_failing(void *ctx, size_t run, const Bitset *hits) {
  Work *w = ctx;
  for (size_t i = 0; i < w->n; i++)
    if (w->out[i].failing == run)
      copy(&w->failing[i], hits);
}

static void offer(Work *w, size_t i, size_t run, const Bitset *hits) {
  NearTest *n = &w->out[i];
  size_t common = both(&w->failing[i], hits);
  size_t all = bitset_count(&w->failing[i]) + bitset_count(hits) - common;
  double similarity = all ? (double)common / (double)all : 0;
  if (!w->failing[i].nwords || (n->found && similarity <= n->similarity))
    return;
  n->found = true;
  n->passing = (uint32_t)run;
  n->similarity = similarity;
  copy(&w->passing[i], hits);
}

static void note_passing(void *ctx, size_t run, const Bitset *hits) {
  Work *w = ctx;
  if (w->suite->runs[run].verdict != VERDICT_PASS)
    return;
  for (size_t i = 0; i < w->n; i++)
    offer(w, i, run, hits);
}

// The first run of the failure that left a spectrum, or ENTITY_NONE.
static uint32_t first_run(const Suite *suite, const FailureGroup *g) {
  for (size_t i = 0; i < g->nruns; i++)
    if (suite->runs[g->runs[i]].has_spectrum)
      return g->runs[i];
  return ENTITY_NONE;
}

// --- where they differ ------------------------------------------------------

static void add_difference(const Suite *suite, const Bitset *a, const Bitset *b,
                           EntityList *out) {
  for (uint32_t e = 0; bitset_next(a, &e); e++)
    if (!bitset_has(b, e))
      array_push(out, e);
  if (out->len)
    qsort_r(out->items, out->len, sizeof *out->items, suite_by_place,
            (void *)suite);
}

static void compare(Work *w) {
  for (size_t i = 0; i < w->n; i++) {
    NearTest *n = &w->out[i];
    if (!n->found)
      continue;
    add_difference(w->suite, &w->failing[i], &w->passing[i], &n->only_failing);
    add_difference(w->suite, &w->passing[i], &w->failing[i], &n->only_passing);
  }
}

int near_tests_find(NearTest *out, size_t most, Store *store,
                    const Suite *suite, Err *err) {
  size_t n = most < suite->nfailures ? most : suite->nfailures;
  Work w = {suite, out, n, mem_array(Bitset, n + 1), mem_array(Bitset, n + 1)};
  for (size_t i = 0; i < n; i++)
    out[i] = (NearTest){.failing = first_run(suite, &suite->failures[i])};
  int rc = store_each_spectrum(store, suite, ENTITY_STATEMENT, note_failing, &w,
                               err);
  rc = rc || store_each_spectrum(store, suite, ENTITY_STATEMENT, note_passing,
                                 &w, err);
  if (!rc)
    compare(&w);
  for (size_t i = 0; i < n; i++) {
    bitset_release(&w.failing[i]);
    bitset_release(&w.passing[i]);
  }
  free(w.failing);
  free(w.passing);
  return rc ? -1 : 0;
}

void near_tests_release(NearTest *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    array_release(&list[i].only_failing);
    array_release(&list[i].only_passing);
  }
}
