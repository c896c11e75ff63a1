// From scores to ranks: see order.h.
#include "locate/order.h"

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

// keys[from, to) have the same score: order them by confidence.
static void split_group(const Ranking *r, Key *keys, size_t from, size_t to) {
  for (size_t i = from; i < to; i++)
    keys[i].value = r->suspects.items[keys[i].before].confidence;
  qsort(keys + from, to - from, sizeof *keys, higher_first);
  for (size_t i = from, end; i < to; i = end) {
    end = group_end(keys, i, to);
    close_group(r, keys, i, end);
  }
}

static void permute(Ranking *r, const Key *keys) {
  size_t n = r->suspects.len;
  Suspect *sorted = mem_array(Suspect, n);
  for (size_t i = 0; i < n; i++)
    sorted[i] = r->suspects.items[keys[i].before];
  if (n)
    memcpy(r->suspects.items, sorted, n * sizeof *sorted);
  free(sorted);
}

void ranking_order(Ranking *r, bool by_confidence) {
  size_t n = r->suspects.len;
  Key *keys = mem_array(Key, n);
  for (size_t i = 0; i < n; i++) {
    assert(isfinite(r->suspects.items[i].score));
    keys[i] = (Key){r->suspects.items[i].score, (uint32_t)i};
  }
  if (n)
    qsort(keys, n, sizeof *keys, higher_first);
  for (size_t i = 0, end; i < n; i = end) {
    end = group_end(keys, i, n);
    if (by_confidence)
      split_group(r, keys, i, end);
    else
      close_group(r, keys, i, end);
  }
  permute(r, keys);
  free(keys);
}
