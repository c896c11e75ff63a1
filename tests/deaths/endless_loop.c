// A loop that never ends: killed at the timeout.
#include <stdio.h>

static volatile long rounds;

int main(int argc, char **argv) {
  (void)argv;
  puts("working"); // BEFORE
  while (argc > 1)
    rounds = rounds + 1; // BEFORE
  puts("done");          // AFTER
  return 0;
}

// kind: timeout
// timeout: 4
// imprecise
