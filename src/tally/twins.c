// The statements that exactly the same runs execute: see twins.h.
#include "tally/twins.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

typedef struct {
  Twins *twins;
  uint32_t statement, slice;
  bool executed;
} Work;

static void sift(void *ctx, size_t run, const Bitset *hits) {
  Work *w = ctx;
  Twins *t = w->twins;
  bool covers = t->covers[run] = bitset_has(hits, w->statement);
  size_t n = 0;
  w->executed |= covers;
  for (size_t i = 0; i < t->statements.len; i++)
    if (bitset_has(hits, t->statements.items[i]) == covers)
      t->statements.items[n++] = t->statements.items[i];
  t->statements.len = n;
}

// The entity that says that the wrong output depends on it, or ENTITY_NONE.
static uint32_t slice_of(const Suite *suite, uint32_t statement) {
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_SLICE &&
        suite->entities[i].from == statement)
      return i;
  return ENTITY_NONE;
}

static void take_slice(void *ctx, size_t run, const Bitset *hits) {
  Work *w = ctx;
  w->twins->sliced[run] = bitset_has(hits, w->slice);
}

int twins_find(Twins *t, Store *store, const Suite *suite, uint32_t statement,
               Err *err) {
  Work w = {t, statement, slice_of(suite, statement), false};
  *t = (Twins){.covers = mem_array(bool, suite->nruns),
               .sliced = mem_array(bool, suite->nruns)};
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_STATEMENT && i != statement)
      array_push(&t->statements, i);
  if (store_each_spectrum(store, suite, ENTITY_STATEMENT, sift, &w, err))
    return -1;
  if (w.slice != ENTITY_NONE &&
      store_each_spectrum(store, suite, ENTITY_SLICE, take_slice, &w, err))
    return -1;
  if (!w.executed)
    t->statements.len = 0;
  if (t->statements.len)
    qsort_r(t->statements.items, t->statements.len, sizeof(uint32_t),
            suite_by_place, (void *)suite);
  return 0;
}

void twins_release(Twins *t) {
  free(t->covers);
  free(t->sliced);
  array_release(&t->statements);
}
