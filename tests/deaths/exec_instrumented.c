// exec of another program built by culprit-cc: the lines of both count.
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  (void)argv;
  puts("working"); // BEFORE
  fflush(stdout);
  const char *program = argc > 1 ? "./other" : "./absent";
  execl(program, "other", "1", (char *)0); // BEFORE
  puts("done");                            // AFTER
  return 0;
}

// kind: exit
// with: other.c
