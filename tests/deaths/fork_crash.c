// A child crashes in the middle of a block; its parent lives on and says so.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int storage;
static volatile int first, second;

static void in_child(int *volatile p) {
  first = 1;  // BEFORE
  *p = 1;     // BEFORE
  second = 1; // AFTER
  if (*p > 1)
    second = 2;
}

int main(int argc, char **argv) {
  (void)argv;
  int status;
  pid_t child = fork();
  if (child == 0) {
    in_child(argc > 1 ? 0 : &storage); // BEFORE
    _exit(0);
  }
  waitpid(child, &status, 0); // BEFORE
  return WIFSIGNALED(status); // BEFORE
}

// kind: signal
