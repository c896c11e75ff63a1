// Candidates by site: see site_queue.h.
#include "input/site_queue.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void site_queue_release(SiteQueue *q) {
  for (size_t i = 0; i < q->sites.len; i++)
    array_release(&q->sites.items[i]);
  array_release(&q->sites);
  q->len = 0;
}

static bool comes_before(const FlipCandidate *a, const FlipCandidate *b) {
  return a->score != b->score ? a->score > b->score : a->number < b->number;
}

static void exchange(FlipCandidate *h, size_t i, size_t k) {
  FlipCandidate t = h[i];
  h[i] = h[k];
  h[k] = t;
}

void site_queue_add(SiteQueue *q, const FlipCandidate *c, double score) {
  while (q->sites.len <= c->site)
    array_push(&q->sites, (SiteHeap){0});
  SiteHeap *s = &q->sites.items[c->site];
  FlipCandidate own = *c;
  own.model = NULL;
  own.score = score;
  array_push(s, own);
  q->len++;
  for (size_t i = s->len - 1;
       i && comes_before(&s->items[i], &s->items[(i - 1) / 2]); i = (i - 1) / 2)
    exchange(s->items, i, (i - 1) / 2);
}

FlipCandidate site_queue_take(SiteQueue *q, size_t site) {
  SiteHeap *s = &q->sites.items[site];
  assert(s->len);
  FlipCandidate best = s->items[0];
  s->items[0] = s->items[--s->len];
  q->len--;
  for (size_t i = 0;;) {
    size_t first = i;
    for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < s->len; k++)
      if (comes_before(&s->items[k], &s->items[first]))
        first = k;
    if (first == i)
      return best;
    exchange(s->items, i, first);
    i = first;
  }
}

double site_cost(uint32_t attempts, uint32_t runs) {
  const double known = 4;
  return ((double)attempts + 1) * (runs ? known * (1 + log2((double)runs)) : 1);
}
