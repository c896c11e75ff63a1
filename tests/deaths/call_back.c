// A crash in a function that libc calls back.
#include <stdio.h>
#include <stdlib.h>

static int *volatile bad;
static volatile int first, second;

static int compare(const void *a, const void *b) {
  first = *(const int *)a; // BEFORE
  second = *bad;           // BEFORE
  first = *(const int *)b; // AFTER
  if (first == second)
    return 0;
  return first - second;
}

int main(int argc, char **argv) {
  (void)argv;
  int numbers[] = {3, 1, 2};
  bad = argc > 1 ? 0 : numbers;
  qsort(numbers, 3, sizeof *numbers, compare); // BEFORE
  puts("done");                                // AFTER
  return 0;
}

// kind: signal
