// An illegal instruction, as __builtin_trap makes it.
#include <stdio.h>

static inline void check(int ok) {
  if (!ok)
    __builtin_trap(); // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  puts("working");  // BEFORE
  check(argc == 1); // BEFORE
  puts("done");     // AFTER
  return 0;
}

// kind: signal
