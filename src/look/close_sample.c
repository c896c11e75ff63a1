// Which runs are looked at closely: see close_sample.h.
#include "look/close_sample.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "model/similarity.h"
#include "util/bitset.h"
#include "util/mem.h"

enum {
  FAILING_COMPARED = 64, // with each passing run
  LITTLE = 10,           // one of so many statements
};

// --- the order --------------------------------------------------------------

typedef struct {
  uint32_t run;
  double nearness;
  uint64_t chance;
} Candidate;

typedef ARRAY(Candidate) Candidates;

static bool is_taken(const Suite *suite, size_t run, Verdict verdict) {
  return suite->runs[run].verdict == verdict && suite->runs[run].has_spectrum;
}

// Marks up to FAILING_MOST runs of the failure, evenly.
static void mark_failing(const Suite *suite, const FailureGroup *g,
                         bool *marked) {
  size_t n = g->nruns < FAILING_MOST ? g->nruns : FAILING_MOST;
  for (size_t i = 0; i < n; i++) {
    uint32_t run = g->runs[i * g->nruns / n];
    marked[run] |= is_taken(suite, run, VERDICT_FAIL);
  }
}

static bool *choose_failing(const Suite *suite) {
  bool *marked = mem_array(bool, suite->nruns + 1);
  for (size_t i = 0; i < suite->nfailures; i++)
    mark_failing(suite, &suite->failures[i], marked);
  return marked;
}

static uint64_t seed_of(const Suite *suite) {
  uint64_t seed = 0;
  for (size_t i = 0; i < suite->nruns; i++)
    seed = XXH3_64bits_withSeed(suite->runs[i].test,
                                strlen(suite->runs[i].test), seed);
  return seed;
}

static int by_nearness(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  int order = (x->nearness < y->nearness) - (x->nearness > y->nearness);
  return order ? order : (x->chance > y->chance) - (x->chance < y->chance);
}

static int by_chance(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  int order = (x->chance > y->chance) - (x->chance < y->chance);
  return order ? order : (x->run > y->run) - (x->run < y->run);
}

static void list_passing(const Suite *suite, const double *nearness,
                         Candidates *out) {
  uint64_t seed = seed_of(suite);
  for (size_t i = 0; i < suite->nruns; i++) {
    const char *test = suite->runs[i].test;
    if (is_taken(suite, i, VERDICT_PASS))
      array_push(out,
                 (Candidate){(uint32_t)i, nearness[i],
                             XXH3_64bits_withSeed(test, strlen(test), seed)});
  }
}

// The next of the list that nobody has; false: there is none.
static bool next_passing(const Candidates *list, size_t *at, bool *had,
                         uint32_t *run) {
  for (; *at < list->len; ++*at) {
    *run = list->items[*at].run;
    if (had[*run])
      continue;
    return had[*run] = true;
  }
  return false;
}

// Half nearest, half at random, by turns.
static void order_passing(const Suite *suite, const double *nearness,
                          CloseSample *out) {
  Candidates lists[2] = {0}; // nearest first; at random
  size_t at[2] = {0};
  bool *had = mem_array(bool, suite->nruns + 1);
  for (int i = 0; i < 2; i++)
    list_passing(suite, nearness, &lists[i]);
  if (lists[0].len) {
    qsort(lists[0].items, lists[0].len, sizeof(Candidate), by_nearness);
    qsort(lists[1].items, lists[1].len, sizeof(Candidate), by_chance);
  }
  uint32_t run;
  for (int i = 0; next_passing(&lists[i], &at[i], had, &run); i = !i)
    array_push(out, (SampledRun){.run = run,
                                 .stratum = i ? CLOSE_RANDOM : CLOSE_NEAR});
  for (int i = 0; i < 2; i++)
    array_release(&lists[i]);
  free(had);
}

void close_sample_order(const Suite *suite, const double *nearness,
                        CloseSample *out) {
  bool *failing = choose_failing(suite);
  CloseSample passing = {0};
  order_passing(suite, nearness, &passing);
  size_t next = 0;
  for (size_t i = 0; i < suite->nruns; i++) {
    if (!failing[i])
      continue;
    array_push(out, (SampledRun){.run = (uint32_t)i, .stratum = CLOSE_NEAR});
    if (next < passing.len)
      array_push(out, passing.items[next++]);
  }
  while (next < passing.len)
    array_push(out, passing.items[next++]);
  array_release(&passing);
  free(failing);
}

// --- nearness ---------------------------------------------------------------

typedef struct {
  const Suite *suite;
  const bool *failing; // by run: chosen
  size_t nfailing;
  size_t seen; // of these, so far
  Bitset compared[FAILING_COMPARED];
  size_t sizes[FAILING_COMPARED], ncompared;
  double *nearness;
  bool *little; // by run: see SampledRun
} NearnessPass;

// Of many, evenly.
static void keep_failing(void *ctx, size_t run, const Bitset *hits) {
  NearnessPass *p = ctx;
  if (!p->failing[run])
    return;
  size_t due = p->ncompared * p->nfailing / FAILING_COMPARED;
  bool few = p->nfailing <= FAILING_COMPARED;
  if (p->ncompared < FAILING_COMPARED && (few || p->seen >= due)) {
    p->sizes[p->ncompared] = bitset_count(hits);
    bitset_union(&p->compared[p->ncompared++], hits);
  }
  p->seen++;
}

static size_t common(const Bitset *a, const Bitset *b) {
  size_t n = a->nwords < b->nwords ? a->nwords : b->nwords, same = 0;
  for (size_t i = 0; i < n; i++)
    same += (size_t)__builtin_popcountll(a->words[i] & b->words[i]);
  return same;
}

static void measure_passing(void *ctx, size_t run, const Bitset *hits) {
  NearnessPass *p = ctx;
  if (!is_taken(p->suite, run, VERDICT_PASS))
    return;
  size_t size = bitset_count(hits);
  p->little[run] = p->ncompared > 0;
  for (size_t i = 0; i < p->ncompared; i++) {
    size_t same = common(hits, &p->compared[i]);
    double share = similarity_share(same, size, p->sizes[i]);
    p->little[run] &= same * LITTLE < p->sizes[i];
    if (share > p->nearness[run])
      p->nearness[run] = share;
  }
}

int close_sample_draw(Store *store, const Suite *suite, CloseSample *out,
                      Err *err) {
  bool *failing = choose_failing(suite);
  double *nearness = mem_array(double, suite->nruns + 1);
  NearnessPass *p = mem_new(NearnessPass);
  *p = (NearnessPass){.suite = suite,
                      .failing = failing,
                      .nearness = nearness,
                      .little = mem_array(bool, suite->nruns + 1)};
  for (size_t i = 0; i < suite->nruns; i++)
    p->nfailing += failing[i];
  int rc =
      store_each_spectrum(store, suite, ENTITY_STATEMENT, keep_failing, p, err);
  if (!rc)
    rc = store_each_spectrum(store, suite, ENTITY_STATEMENT, measure_passing, p,
                             err);
  if (!rc)
    close_sample_order(suite, nearness, out);
  for (size_t i = 0; i < out->len; i++)
    out->items[i].little = p->little[out->items[i].run];
  for (size_t i = 0; i < p->ncompared; i++)
    bitset_release(&p->compared[i]);
  free(p->little);
  free(p);
  free(nearness);
  free(failing);
  return rc;
}
