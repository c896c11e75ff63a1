// Which tests execute which statements: see html_cover.h.
#include "report/html_cover.h"

#include <stdlib.h>

#include "util/hashmap.h"
#include "util/leb.h"
#include "util/mem.h"

// What the tests of a statement seen so far hash to.
typedef struct {
  uint64_t a, b;
} Print;

// The end of a class's list that is not written yet: tests start .. end - 1,
// after those written, which end before `written`.
typedef struct {
  uint32_t written, start, end;
  uint32_t statement; // one that stands for all of the class
} Tail;

typedef struct {
  Cover *cover;
  Print *prints; // per entity
  Tail *tails;   // per class
} Work;

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static void print_run(void *ctx, size_t run, const Bitset *hits) {
  Work *w = ctx;
  uint64_t a = mix(run + 1), b = mix(a ^ 0x9e3779b97f4a7c15);
  for (uint32_t e = 0; bitset_next(hits, &e); e++) {
    w->prints[e].a = (w->prints[e].a ^ a) * 0x2545f4914f6cdd1d;
    w->prints[e].b = mix(w->prints[e].b + b);
  }
}

// --- classes ----------------------------------------------------------------

static void put_in_class(Work *w, Hashmap *seen, uint32_t e) {
  Cover *c = w->cover;
  const Print *p = &w->prints[e];
  if (c->class_of[e] != ENTITY_NONE || !(p->a || p->b))
    return;
  uint64_t n = hashmap_intern(seen, p, sizeof *p, c->nclasses);
  if (n == c->nclasses)
    w->tails[c->nclasses++].statement = e;
  c->class_of[e] = (uint32_t)n;
}

static void find_classes(Work *w, const Suite *suite, const uint32_t *order,
                         size_t norder) {
  Hashmap seen = {0};
  for (size_t i = 0; i < norder; i++)
    put_in_class(w, &seen, order[i]);
  for (uint32_t e = 0; e < suite->nentities; e++)
    if (suite->entities[e].kind == ENTITY_STATEMENT)
      put_in_class(w, &seen, e);
  hashmap_release(&seen);
}

// --- their tests ------------------------------------------------------------

static void write_tail(Tail *t, Str *out) {
  if (t->end == t->start)
    return;
  leb_put(out, t->start - t->written);
  leb_put(out, t->end - t->start);
  t->written = t->end;
}

static void take_run(void *ctx, size_t run, const Bitset *hits) {
  Work *w = ctx;
  for (size_t i = 0; i < w->cover->nclasses; i++) {
    Tail *t = &w->tails[i];
    if (!bitset_has(hits, t->statement))
      continue;
    if (t->end != run) {
      write_tail(t, &w->cover->tests[i]);
      t->start = (uint32_t)run;
    }
    t->end = (uint32_t)run + 1;
  }
}

int cover_load(Cover *c, Store *store, const Suite *suite,
               const uint32_t *order, size_t norder, Err *err) {
  *c = (Cover){.class_of = mem_array(uint32_t, suite->nentities + 1)};
  for (size_t i = 0; i < suite->nentities; i++)
    c->class_of[i] = ENTITY_NONE;
  Work w = {.cover = c,
            .prints = mem_array(Print, suite->nentities + 1),
            .tails = mem_array(Tail, suite->nentities + 1)};
  int rc =
      store_each_spectrum(store, suite, ENTITY_STATEMENT, print_run, &w, err);
  if (!rc) {
    find_classes(&w, suite, order, norder);
    c->tests = mem_array(Str, c->nclasses + 1);
    rc = store_each_spectrum(store, suite, ENTITY_STATEMENT, take_run, &w, err);
  }
  for (size_t i = 0; !rc && i < c->nclasses; i++)
    write_tail(&w.tails[i], &c->tests[i]);
  free(w.prints);
  free(w.tails);
  return rc;
}

void cover_release(Cover *c) {
  for (size_t i = 0; c->tests && i < c->nclasses; i++)
    str_release(&c->tests[i]);
  free(c->tests);
  free(c->class_of);
  *c = (Cover){0};
}
