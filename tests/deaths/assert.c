// A failing assertion.
#include <assert.h>
#include <stdio.h>

int main(int argc, char **argv) {
  (void)argv;
  puts("working");   // BEFORE
  assert(argc == 1); // BEFORE
  puts("done");      // AFTER
  return 0;
}

// kind: signal
