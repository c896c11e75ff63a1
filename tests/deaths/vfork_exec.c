// vfork and exec of another instrumented program; the parent goes on.
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  (void)argv;
  int status;
  const char *text = argc > 1 ? "5" : "0";
  pid_t child = vfork();
  if (child == 0) {
    execl("./other", "other", text, (char *)0); // BEFORE
    _exit(9);                                   // AFTER
  }
  waitpid(child, &status, 0); // BEFORE
  if (WEXITSTATUS(status))
    return 1; // BEFORE
  return 0;   // AFTER
}

// kind: exit
// with: other.c
