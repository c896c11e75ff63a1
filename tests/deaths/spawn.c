// posix_spawn and system(): everything that was started counts.
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv) {
  (void)argv;
  int status;
  pid_t child;
  char *words[] = {"other", argc > 1 ? "5" : "0", 0};
  if (posix_spawn(&child, "./other", 0, 0, words, environ)) // BEFORE
    return 9;
  waitpid(child, &status, 0);
  if (argc > 1)
    return WEXITSTATUS(system("./other 4; ./other 6")); // BEFORE
  return 0;                                             // AFTER
}

// kind: exit
// with: other.c
