#include "ring.h"

void ring_push(Ring *r, int n) {
  if (r->count < RING) {
    r->items[(r->first + r->count) % RING] = n;
    r->count++;
  } else {
    r->items[r->first] = 0; // BUG
    r->first = (r->first + 1) % RING;
  }
}

int ring_sum(const Ring *r) {
  int sum = 0;
  for (int i = 0; i < r->count; i++)
    sum += r->items[(r->first + i) % RING];
  return sum;
}
