// _exit(): no atexit handler, no stdio buffer, nothing is written any more.
#include <stdio.h>
#include <unistd.h>

static void leave(int status) {
  if (status)
    _exit(status); // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  puts("working"); // BEFORE
  leave(argc - 1); // BEFORE
  puts("done");    // AFTER
  return 0;
}

// kind: exit
