// Changes the directory, then forks, and dies: relative paths lead nowhere.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    if (chdir("/"))
      return 0;
    pid_t child = fork();
    if (child == 0) {
      sink = 1; // BEFORE
      _exit(0); // BEFORE
    }
    waitpid(child, 0, 0);
    abort(); // BEFORE
  }
  puts("done"); // AFTER
  return 0;
}

// kind: signal
