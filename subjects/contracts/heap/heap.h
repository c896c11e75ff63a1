// A priority queue: the smallest of its keys is on top.
#ifndef HEAP_H
#define HEAP_H

enum { HEAP_MAX = 128 };

typedef struct {
  int keys[HEAP_MAX];
  int size;
} Heap;

int heap_count(const Heap *h, int key);
int heap_ok(const Heap *h);

#include "contract.h"

#endif
