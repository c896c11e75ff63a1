// exit() in the middle of a block.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  (void)argv;
  puts("working"); // BEFORE
  if (argc > 1) {
    puts("leaving"); // BEFORE
    exit(argc - 1);  // BEFORE
    puts("never");   // AFTER
  }
  puts("done"); // AFTER
  return 0;
}

// kind: exit
