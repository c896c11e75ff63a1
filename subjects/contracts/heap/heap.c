// Takes the smallest key from a heap.
#include "heap.h"

int heap_count(const Heap *h, int key) {
  int n = 0;
  for (int i = 0; i < h->size; i++)
    n += h->keys[i] == key;
  return n;
}

int heap_ok(const Heap *h) {
  if (h->size < 0 || h->size > HEAP_MAX)
    return 0;
  for (int i = 1; i < h->size; i++)
    if (h->keys[(i - 1) / 2] > h->keys[i])
      return 0;
  return 1;
}

int heap_pop(Heap *h) {
  int top = h->keys[0];
  int last = h->keys[h->size - 1];
  h->size = h->size - 1;
  int at = 0;
  int child = 1;
  while (child < h->size) {
    int right = child + 1;
    if (right < h->size && h->keys[right] < h->keys[child])
      child = right;
    if (last <= h->keys[child])
      break;
    h->keys[at] = h->keys[child];
    at = child;
    child = 2 * at + 1;
  }
  if (h->size > 0)
    h->keys[at] = last;
  return top;
}
