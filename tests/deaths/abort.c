// abort() in the middle of a block.
#include <stdio.h>
#include <stdlib.h>

static void check(int ok) {
  if (!ok)
    abort(); // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  puts("working");  // BEFORE
  check(argc == 1); // BEFORE
  puts("done");     // AFTER
  return 0;
}

// kind: signal
