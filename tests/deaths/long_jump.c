// longjmp out of the middle of a block.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;

static void check(int ok) {
  if (!ok)
    longjmp(place, 7); // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  if (setjmp(place) == 0) {
    puts("working");  // BEFORE
    check(argc == 1); // BEFORE
    puts("done");     // AFTER
    return 0;         // AFTER
  }
  return 7; // BEFORE
}

// kind: exit
