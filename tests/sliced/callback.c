// The order that a callback gave.
#include <stdio.h>
#include <stdlib.h>

static int calls;

static int compare(const void *a, const void *b) {
  calls++;
  int x = *(const int *)a, y = *(const int *)b; // in
  return y - x;                                 // in
}

int main(void) {
  int v[] = {3, 1, 2}; // in
  int unused = 4;
  qsort(v, 3, sizeof *v, compare); // in
  unused += calls;
  for (int i = 0; i < 3; i++) // in
    printf("%d ", v[i]);      // in
  return unused > 1000;
}
// expect: 1 2 3
// at: 0 printf
