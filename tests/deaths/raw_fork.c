// A child made by the bare system call, unknown to libc: it counts, too.
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    long child = syscall(SYS_fork);
    if (child == 0) {
      sink = 1; // BEFORE
      _exit(3);
    }
    int status;
    waitpid((pid_t)child, &status, 0);
    return WEXITSTATUS(status); // BEFORE
  }
  puts("done"); // AFTER
  return 0;
}

// kind: exit
