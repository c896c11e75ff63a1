// heap SIZE SEED: makes a heap of SIZE keys and takes its top.
#include <stdio.h>
#include <stdlib.h>

#include "heap.h"

int main(int argc, char **argv) {
  static Heap h;
  int size = argc > 1 ? atoi(argv[1]) : 5;
  unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
  if (size < 1 || size > HEAP_MAX)
    return 2;
  for (int i = 0; i < size; i++) {
    seed = seed * 1103515245u + 12345u;
    int above = i ? h.keys[(i - 1) / 2] : 0;
    h.keys[i] = above + 1 + (int)(seed >> 16) % 9;
  }
  h.size = size;
  int top = heap_pop(&h);
  printf("%d, %d left\n", top, h.size);
  return 0;
}
