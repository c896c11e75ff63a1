// Parent and child count, each on its own.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

static void in_child(void) {
  sink = 1; // BEFORE
}

static void in_parent(void) {
  sink = 2; // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    int status;
    pid_t child = fork(); // BEFORE
    if (child == 0) {
      in_child();
      _exit(3); // BEFORE
    }
    in_parent();
    waitpid(child, &status, 0);
    return WEXITSTATUS(status); // BEFORE
  }
  puts("done"); // AFTER
  return 0;
}

// kind: exit
