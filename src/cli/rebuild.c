// Waiting for a rebuild: see rebuild.h.
//
// Files are looked at a few times a second: build tools replace them in so many
// ways (rename, truncate, a new directory) that watching events would have to
// fall back on looking anyway, and a thousand files cost a millisecond.
#include "cli/rebuild.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum { LOOK = 300, QUIET = 2 }; // milliseconds; looks without a change

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

int rebuild_round(const WordList *args) {
  pid_t pid = fork();
  int status = 0;
  if (pid == 0) {
    execv("/proc/self/exe", args->items);
    _exit(EXIT_ENVIRONMENT);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    return EXIT_ENVIRONMENT;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERRUPTED;
}
