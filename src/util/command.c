// Running another program to its end: see command.h.
#include "util/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mem.h"

enum { COMMAND_SECONDS = 600 };

static void execute(char *const argv[], const char *extra, const int ends[2]) {
  dup2(ends[1], STDOUT_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
  if (extra)
    putenv(mem_strdup(extra));
  alarm(COMMAND_SECONDS); // outlives exec: a hung compiler does not hang us
  execvp(argv[0], argv);
  dprintf(STDOUT_FILENO, "%s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

int command_capture(char *const argv[], const char *extra, Str *out) {
  int ends[2];
  if (pipe(ends))
    return 127;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0)
    execute(argv, extra, ends);
  close(ends[1]);
  char buf[4096];
  ssize_t n;
  while (pid > 0 && (n = read(ends[0], buf, sizeof buf)) != 0) {
    if (n > 0)
      str_addn(out, buf, (size_t)n);
    else if (errno != EINTR)
      break;
  }
  close(ends[0]);
  int status;
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
