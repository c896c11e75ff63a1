// A crash in the program, called back from a shared library: both modules' lines
// are there, and nothing after the calls.
#include <stdio.h>

void visit(void (*action)(int *), int *number);

static volatile int first, second;

static void increase(int *number) {
  first = 1;    // BEFORE
  *number += 1; // BEFORE
  second = 1;   // AFTER
  if (*number > 2)
    second = 2;
}

int main(int argc, char **argv) {
  (void)argv;
  int number = 1;
  visit(increase, argc > 1 ? 0 : &number); // BEFORE
  printf("%d\n", number);                  // AFTER
  return 0;
}

// kind: signal
// library: visit.c
