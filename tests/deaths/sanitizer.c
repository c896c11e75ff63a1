// A sanitizer ends the run in the middle of a block, without any signal.
#include <stdlib.h>

static volatile int first, second;

static void store(volatile char *p, int at) {
  first = 1;  // BEFORE
  p[at] = 1;  // BEFORE
  second = 1; // AFTER
  if (p[0] > 1)
    second = 2;
}

int main(int argc, char **argv) {
  (void)argv;
  char *p = calloc(1, 2);
  store(p, argc); // BEFORE
  free(p);        // AFTER
  return 0;
}

// flags: -fsanitize=address
// kind: sanitizer
