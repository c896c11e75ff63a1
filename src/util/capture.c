// Runs a program and captures its output: see capture.h.
#include "util/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/stop.h"

enum { COMMAND_SECONDS = 600, STOP_MS = 2000 };

static void execute(char *const argv[], const char *extra, const int ends[2]) {
  dup2(ends[1], STDOUT_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
  if (extra)
    putenv(mem_strdup(extra));
  setpgid(0, 0);                    // a signal to all of it is ours to send
  prctl(PR_SET_PDEATHSIG, SIGTERM); // compilers clean up at that
  alarm(COMMAND_SECONDS); // outlives exec: a hung compiler does not hang us
  execvp(argv[0], argv);
  dprintf(STDOUT_FILENO, "%s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

// If we are to stop: asks it to end, then kills it; the end of its output comes
// soon then. False: it does not, somebody else holds its output.
static bool wait_for_output(int from, pid_t group, int *told) {
  static const int signals[] = {SIGTERM, SIGKILL};
  struct pollfd fds[] = {{.fd = from, .events = POLLIN},
                         {.fd = *told ? -1 : stop_fd(), .events = POLLIN}};
  int n = poll(fds, 2, *told ? STOP_MS : -1);
  if (!stop_requested() || fds[0].revents || (*told && n < 0))
    return true;
  if (*told < 2)
    kill(-group, signals[*told]);
  return ++*told < 4;
}

static void listen(int from, pid_t pid, Str *out) {
  char buf[4096];
  int told = 0;
  fcntl(from, F_SETFL, O_NONBLOCK);
  for (;;) {
    ssize_t n = read(from, buf, sizeof buf);
    if (n > 0)
      str_addn(out, buf, (size_t)n);
    else if (n < 0 && errno == EAGAIN && wait_for_output(from, pid, &told))
      continue;
    else if (n == 0 || errno != EINTR)
      return;
  }
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
  if (pid > 0)
    setpgid(pid, pid); // here and there: whoever comes first
  if (pid > 0)
    listen(ends[0], pid, out);
  close(ends[0]);
  int status;
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
