// Closes every descriptor, takes them all for itself, then dies.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    struct rlimit few = {64, 64};
    for (int fd = 0; fd < 65536; fd++)
      close(fd);
    setrlimit(RLIMIT_NOFILE, &few);
    while (open("/dev/null", O_RDWR) >= 0)
      ;
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
