// A crash in a handler that runs when main has returned.
#include <stdlib.h>

static int storage;
static int *volatile pointer = &storage;
static volatile int first, second;

static void handler(void) {
  first = 1;    // BEFORE
  *pointer = 1; // BEFORE
  second = 1;   // AFTER
  if (storage > 1)
    second = 2;
}

int main(int argc, char **argv) {
  (void)argv;
  atexit(handler); // BEFORE
  if (argc > 1)
    pointer = 0; // BEFORE
  return 0;      // BEFORE
}

// kind: signal
