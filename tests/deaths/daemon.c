// A daemon that outlives its test: its lines are there, and it is killed.
#include <stdio.h>
#include <unistd.h>

static volatile int sink;

static void serve(int ready) {
  sink = 1; // BEFORE
  if (write(ready, "x", 1) != 1)
    _exit(9);
  for (;;)
    sleep(1000);
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    int ends[2];
    char byte;
    if (pipe(ends))
      return 0;
    if (fork() == 0) {
      setsid();
      if (fork() == 0)
        serve(ends[1]); // BEFORE
      _exit(0);
    }
    if (read(ends[0], &byte, 1) != 1)
      return 0;
    return 3; // BEFORE
  }
  puts("done"); // AFTER
  return 0;
}

// kind: exit
