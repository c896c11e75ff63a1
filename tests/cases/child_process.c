// The fault is in a child process: a run is the union of its processes.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int n) {
  if (n % 2)
    return 3 * n + 2; // BUG
  return n / 2;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  int n = atoi(argv[1]);
  pid_t child = fork();
  if (child == 0)
    _exit(work(n)); // CHILD
  int status;
  waitpid(child, &status, 0);
  printf("%d\n", WEXITSTATUS(status)); // PARENT
  return 0;
}

// run: 6 -> 3
// run: 40 -> 20
// run: 3 -> 10
// run: 7 -> 22
// fails: 2
// cover: CHILD 2 2
// cover: PARENT 2 2
// rank: ochiai --entities statement BUG first
