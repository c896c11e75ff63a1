// A qsort of its own, linked to programs of tests/e2e/close-records: which
// elements are compared depends on the C library's version, and the interpreter
// makes the same comparisons in the same order.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void sort(char *base, size_t n, size_t size, char *spare,
                 int (*compare)(const void *, const void *)) {
  size_t half = n / 2, k = 0;
  if (n <= 1)
    return;
  char *a = base, *b = base + half * size, *end = base + n * size;
  const char *middle = b;
  sort(a, half, size, spare, compare);
  sort(b, n - half, size, spare, compare);
  while (a < middle && b < end) {
    char **least = compare(a, b) <= 0 ? &a : &b;
    memcpy(spare + k, *least, size);
    *least += size;
    k += size;
  }
  memcpy(spare + k, a, (size_t)(middle - a));
  memcpy(base, spare, k + (size_t)(middle - a));
}

void qsort(void *base, size_t n, size_t size,
           int (*compare)(const void *, const void *)) {
  char *spare = malloc(n * size + 1);
  if (spare)
    sort(base, n, size, spare, compare);
  free(spare);
}
