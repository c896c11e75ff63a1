// From scores to ranks: see order.h.
#include "tally/order.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

typedef struct {
  double value;    // what is ordered at present
  uint32_t before; // position before ordering
} Key;

static int higher_first(const void *a, const void *b) {
  const Key *x = a, *y = b;
  if (x->value != y->value)
    return x->value > y->value ? -1 : 1;
  return x->before < y->before ? -1 : x->before > y->before;
}

static int earlier_first(const void *a, const void *b) {
  const Key *x = a, *y = b;
  return x->before < y->before ? -1 : x->before > y->before;
}

// Where the tie group ends that starts at `from`.
static size_t group_end(const Key *keys, size_t from, size_t n) {
  size_t end = from + 1;
  while (end < n && score_same(keys[end - 1].value, keys[end].value))
    end++;
  return end;
}

// keys[from, to) tie for good.
static void close_group(const Ranking *r, Key *keys, size_t from, size_t to) {
  qsort(keys + from, to - from, sizeof *keys, earlier_first);
  for (size_t i = from; i < to; i++) {
    Suspect *s = &r->suspects.items[keys[i].before];
    s->rank_best = (uint32_t)from + 1;
    s->rank = (uint32_t)to;
  }
}

// Orders keys[from, to), which tie in all keys before `by`.
static void order_group(const Ranking *r, Key *keys, size_t from, size_t to,
                        SuspectKey *const *by, size_t nkeys) {
  if (!nkeys || to - from == 1) {
    close_group(r, keys, from, to);
    return;
  }
  for (size_t i = from; i < to; i++) {
    keys[i].value = (*by)(&r->suspects.items[keys[i].before]);
    assert(isfinite(keys[i].value));
  }
  qsort(keys + from, to - from, sizeof *keys, higher_first);
  for (size_t i = from, end; i < to; i = end) {
    end = group_end(keys, i, to);
    order_group(r, keys, i, end, by + 1, nkeys - 1);
  }
}

static void permute(Ranking *r, const Key *keys) {
  size_t n = r->suspects.len;
  Suspect *sorted = mem_array(Suspect, n);
  for (size_t i = 0; i < n; i++)
    sorted[i] = r->suspects.items[keys[i].before];
  memcpy(r->suspects.items, sorted, n * sizeof *sorted);
  free(sorted);
}

static double is_no_test(const Suspect *s) { return !s->test; }

void ranking_order_by(Ranking *r, SuspectKey *const *keys, size_t nkeys) {
  enum { MOST = 8 };
  SuspectKey *all[MOST] = {is_no_test};
  size_t n = r->suspects.len;
  if (!n)
    return;
  assert(nkeys < MOST);
  memcpy(all + 1, keys, nkeys * sizeof *keys);
  Key *order = mem_array(Key, n);
  for (size_t i = 0; i < n; i++)
    order[i].before = (uint32_t)i;
  order_group(r, order, 0, n, all, nkeys + 1);
  permute(r, order);
  free(order);
}

double suspect_score(const Suspect *s) { return s->score; }
double suspect_hint(const Suspect *s) { return s->hint; }
double suspect_slice(const Suspect *s) { return s->slice_ef; }
double suspect_own(const Suspect *s) { return s->own; }
double suspect_confidence(const Suspect *s) { return s->confidence; }
double suspect_prior(const Suspect *s) { return s->prior; }
double suspect_near(const Suspect *s) { return s->near; }

void ranking_order(Ranking *r, bool by_confidence) {
  SuspectKey *const keys[] = {suspect_score, suspect_confidence};
  ranking_order_by(r, keys, by_confidence ? 2 : 1);
}
