// Waiting for a rebuild: see rebuild.h.
//
// Files are looked at a few times a second: build tools replace them in so many
// ways (rename, truncate, a new directory) that watching events would have to
// fall back on looking anyway, and a thousand files cost a millisecond.
#include "cli/rebuild.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/stop.h"

enum {
  LOOK = 300,         // milliseconds
  QUIET = 2,          // looks without a change
  ROUND_SECONDS = 30, // for a round to end after a signal
};

// Differs when a file was changed, made or removed.
static uint64_t state_of(const WordList *files) {
  uint64_t h = 0;
  for (size_t i = 0; i < files->len; i++) {
    struct stat st;
    uint64_t own = 1;
    if (!stat(files->items[i], &st))
      own = (uint64_t)st.st_mtim.tv_sec * 1000000007u +
            (uint64_t)st.st_mtim.tv_nsec + (uint64_t)st.st_size * 31 +
            st.st_ino * 17;
    h = h * 0x100000001b3u + own;
  }
  return h;
}

static void pause_for(int milliseconds) {
  struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&t, NULL);
}

void rebuild_wait(const WordList *files) {
  uint64_t first = state_of(files), last = first;
  for (int quiet = 0; last == first || quiet < QUIET;) {
    pause_for(LOOK);
    uint64_t now = state_of(files);
    quiet = now == last ? quiet + 1 : 0;
    last = now;
  }
}

// A signal that came to us is its business.
static bool wait_for_round(pid_t pid, int *status) {
  int pidfd = pidfd_open(pid, 0);
  struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN},
                         {.fd = stop_fd(), .events = POLLIN}};
  while (pidfd >= 0 && !(fds[0].revents & POLLIN)) {
    poll(fds, 2, -1);
    if (fds[1].fd >= 0 && stop_requested()) {
      kill(pid, stop_signal());
      fds[1].fd = -1;
    }
  }
  if (pidfd >= 0)
    close(pidfd);
  return waitpid(pid, status, 0) == pid;
}

int rebuild_round(const WordList *args) {
  stop_orderly(ROUND_SECONDS);
  pid_t pid = fork();
  int status = 0;
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execv("/proc/self/exe", args->items);
    _exit(EXIT_ENVIRONMENT);
  }
  bool ended = pid > 0 && wait_for_round(pid, &status);
  stop_orderly(0);
  if (!ended)
    return EXIT_ENVIRONMENT;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERRUPTED;
}
