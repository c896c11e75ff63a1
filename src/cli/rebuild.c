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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command/cli.h"
#include "model/suite.h"
#include "process/words.h"
#include "store/store.h"
#include "util/arena.h"
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

// Returns when one of the files has changed and they have been left alone for
// a moment: a linker writes its output in several steps. Sleeps in between; an
// interrupt ends the program as usual.
static void rebuild_wait(const WordList *files) {
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

// Runs ourselves with these arguments and returns the exit status.
static int rebuild_round(const WordList *args) {
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

// --- watching ---------------------------------------------------------------

// The words of this command without --watch.
static void words_of_round(WordList *out, int argc, char **argv) {
  array_push(out, "culprit");
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "--watch") != 0)
      array_push(out, argv[i]);
  array_push(out, NULL);
}

static void words_of_failed(WordList *out, const char *store) {
  const char *const words[] = {"culprit", "run", "--failed",
                               "--store", store, NULL};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    array_push(out, (char *)words[i]);
}

// What a rebuild changes: the program, or if none is named, the sources (those
// adapters build first).
static void files_to_watch(const char *exe, const char *dir, WordList *files,
                           Arena *arena) {
  Store *store;
  Suite suite = {0};
  Err err = {0};
  if (exe) {
    array_push(files, (char *)exe);
    return;
  }
  if (store_open(&store, dir, STORE_EXISTING, &err))
    return;
  if (!store_load(store, 0, &suite, &err))
    for (size_t i = 0; i < suite.nsources; i++)
      array_push(files, arena_strdup(arena, suite.sources[i].path));
  suite_release(&suite);
  store_close(store);
}

int rebuild_watch(const char *exe, const char *store, int argc, char **argv) {
  char *dir = store_find(store);
  WordList all = {0}, failed = {0}, files = {0};
  Arena arena = {0};
  words_of_round(&all, argc, argv);
  words_of_failed(&failed, dir);
  int status = rebuild_round(&all);
  while (status == EXIT_DONE || status == EXIT_FAILED ||
         status == EXIT_NO_VERDICT) {
    files.len = 0;
    files_to_watch(exe, dir, &files, &arena);
    if (!files.len) {
      status =
          cli_fail(EXIT_ENVIRONMENT,
                   "--watch: no file to watch; name the program with --exe");
      break;
    }
    fprintf(stderr, "watching %zu file%s; Ctrl-C ends it\n", files.len,
            files.len == 1 ? "" : "s");
    rebuild_wait(&files);
    bool some = status == EXIT_FAILED;
    status = rebuild_round(some ? &failed : &all);
    if (some && status == EXIT_DONE) {
      fprintf(stderr, "the failed tests pass now; running all tests\n");
      status = rebuild_round(&all);
    }
  }
  array_release(&all);
  array_release(&failed);
  array_release(&files);
  arena_release(&arena);
  free(dir);
  return status;
}
