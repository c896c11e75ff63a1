// Recursion without end: there is no stack left even for a signal handler.
#include <stdio.h>

static volatile int end;

static int deeper(volatile char *outer, int n) {
  volatile char here[4096];
  here[0] = *outer; // BEFORE
  if (n == end)
    return here[0];
  return deeper(here, n + 1) + here[1]; // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  char first = 1;
  end = argc > 1 ? -1 : 10;           // BEFORE
  int result = deeper(&first, 0) + 1; // BEFORE
  printf("%d\n", result);             // AFTER
  return 0;
}

// kind: signal
// imprecise
