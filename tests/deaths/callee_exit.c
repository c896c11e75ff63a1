// exit() in a function called in the middle of a block, through a pointer.
#include <stdio.h>
#include <stdlib.h>

static void stay(int n) { printf("%d\n", n); }

static void leave(int n) {
  printf("%d\n", n); // BEFORE
  exit(n);           // BEFORE
}

static void (*volatile action)(int) = stay;
static volatile int first, second;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    action = leave; // BEFORE
  first = 1;        // BEFORE
  action(3);        // BEFORE
  second = 1;       // AFTER
  return 0;
}

// kind: exit
