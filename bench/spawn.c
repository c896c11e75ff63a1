// Runs a command several times in sequence and prints the cost.
//
//   bench_spawn [-b] [-n TIMES] [-i INPUT] COMMAND [ARG...]
//   0.512 0.431 0.022 18432
//
// Prints wall-clock seconds, user and system CPU seconds of all its processes,
// and the largest resident set of any of them in kB. Standard input is INPUT or
// empty; standard output is discarded. -b: the best execution alone, with all
// its CPU seconds as user time. A single process is short enough to run
// uninterrupted now and then on a busy machine, and the kernel measures the sum
// more exactly than its parts. A program this small starts others faster than
// an interpreter could, and its own memory does not show in theirs.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t) { return t.tv_sec + t.tv_usec * 1e-6; }

typedef struct {
  double wall, user, system;
  long kilobytes;
} Cost;

// What one execution costs. Fails if it does not end with status 0.
static int run(char **command, posix_spawn_file_actions_t *files, Cost *out) {
  double start = now();
  pid_t child;
  int status = posix_spawnp(&child, *command, files, NULL, command, environ);
  if (status) {
    fprintf(stderr, "spawn: %s: %s\n", *command, strerror(status));
    return -1;
  }
  struct rusage cost;
  while (wait4(child, &status, 0, &cost) < 0)
    if (errno != EINTR)
      return -1;
  if (status) {
    fprintf(stderr, "spawn: %s: %s %d\n", *command,
            WIFEXITED(status) ? "exit status" : "signal",
            WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return -1;
  }
  *out = (Cost){now() - start, seconds(cost.ru_utime), seconds(cost.ru_stime),
                cost.ru_maxrss};
  return 0;
}

static void add(Cost *sum, const Cost *one) {
  sum->wall += one->wall;
  sum->user += one->user;
  sum->system += one->system;
  if (sum->kilobytes < one->kilobytes)
    sum->kilobytes = one->kilobytes;
}

static void keep_best(Cost *best, const Cost *one, bool first) {
  double cpu = one->user + one->system;
  if (first || one->wall < best->wall)
    best->wall = one->wall;
  if (first || cpu < best->user)
    best->user = cpu;
  if (best->kilobytes < one->kilobytes)
    best->kilobytes = one->kilobytes;
}

int main(int argc, char **argv) {
  const char *input = "/dev/null";
  int times = 1, opt;
  bool best = false;
  while ((opt = getopt(argc, argv, "+bn:i:")) != -1) {
    if (opt == 'b')
      best = true;
    else if (opt == 'n')
      times = atoi(optarg);
    else if (opt == 'i')
      input = optarg;
    else
      return 2;
  }
  if (optind == argc || times < 1)
    return 2;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, input, O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  Cost all = {0};
  for (int i = 0; i < times; i++) {
    Cost one;
    if (run(argv + optind, &files, &one))
      return 1;
    if (best)
      keep_best(&all, &one, i == 0);
    else
      add(&all, &one);
  }
  printf("%.6f %.6f %.6f %ld\n", all.wall, all.user, all.system, all.kilobytes);
  return 0;
}
