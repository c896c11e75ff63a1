// SIGKILL from another process, in the middle of a loop.
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long rounds;

int main(int argc, char **argv) {
  (void)argv;
  pid_t child = fork();
  if (child == 0) {
    usleep(200000);
    if (argc > 1)
      kill(getppid(), SIGKILL); // BEFORE
    _exit(0);
  }
  while (argc > 1)
    rounds = rounds + 1; // BEFORE
  waitpid(child, 0, 0);
  puts("done"); // AFTER
  return 0;
}

// kind: signal
// imprecise
