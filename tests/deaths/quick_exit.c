// quick_exit() and a handler of its own.
#include <stdio.h>
#include <stdlib.h>

static void handler(void) {
  fputs("handler\n", stderr); // BEFORE
}

static void leave(int status) {
  if (status)
    quick_exit(status); // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  at_quick_exit(handler);
  leave(argc - 1); // BEFORE
  puts("done");    // AFTER
  return 0;
}

// kind: exit
