// Becomes nobody, then forks, and dies: a file that is owned by nobody, or none.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    if (setgid(65534) || setuid(65534))
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
// needs: root
