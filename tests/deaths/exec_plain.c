// exec of a program that knows nothing of culprit.
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  (void)argv;
  puts("working"); // BEFORE
  fflush(stdout);
  const char *program = argc > 1 ? "/bin/false" : "/absent";
  execl(program, program, (char *)0); // BEFORE
  puts("done");                       // AFTER
  return 0;
}

// kind: exit
