// culprit-capture: records the starts of a program by a script, and repeats them
// without the script. capture_format.h says how it is asked.
//
// Recording changes nothing for the script: a start that cannot be recorded is
// executed as if culprit-capture had not been there.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture_format.h"
#include "capture/program_start.h"
#include "util/fs.h"

#define CLOSE_VARIABLE "CULPRIT_CLOSE"

extern char **environ;

// --- the environment --------------------------------------------------------

static bool is_variable(const char *entry, const char *name) {
  size_t n = strlen(name);
  return !strncmp(entry, name, n) && entry[n] == '=';
}

static bool is_ours(const char *entry) {
  return is_variable(entry, CAPTURE_VARIABLE) ||
         is_variable(entry, CAPTURE_FROM_VARIABLE) ||
         is_variable(entry, CAPTURE_BUILDS_VARIABLE);
}

// While recording: programs that the program starts find the builds themselves.
static char **variables_of_record(const char *builds) {
  StartWords env = {0};
  for (char **e = environ; *e; e++)
    if (is_variable(*e, CLOSE_VARIABLE))
      array_push(&env, mem_printf(CLOSE_VARIABLE "=%s", builds));
    else if (!is_ours(*e))
      array_push(&env, *e);
  array_push(&env, NULL);
  return env.items;
}

// The recorded ones, but culprit's own are those of this process.
static char **variables_of_replay(const ProgramStart *s) {
  StartWords env = {0};
  for (char **e = s->env.items; *e; e++)
    if (!text_starts(*e, "CULPRIT_"))
      array_push(&env, *e);
  for (char **e = environ; *e; e++)
    if (text_starts(*e, "CULPRIT_") && !is_ours(*e))
      array_push(&env, *e);
  array_push(&env, NULL);
  return env.items;
}

// --- recording --------------------------------------------------------------

static off_t record_size(const char *place) {
  char *path = mem_printf("%s/record", place);
  struct stat st;
  off_t size = stat(path, &st) ? 0 : st.st_size;
  free(path);
  return size;
}

// The directory of the next record; -1: there is none.
static int claim(const char *dir, char **out, Err *err) {
  off_t bytes = 0;
  for (int i = 0; i < CAPTURE_STARTS && bytes < CAPTURE_RECORDS; i++) {
    char *path = mem_printf("%s/%d", dir, i);
    if (!mkdir(path, 0777)) {
      *out = path;
      return 0;
    }
    int error = errno;
    bytes += record_size(path);
    free(path);
    if (error != EEXIST)
      return err_set(err, "%s: %s", dir, strerror(error));
  }
  return err_set(err, "the script starts the program too often");
}

static void note_failure(const char *dir, const char *why) {
  char *path = mem_printf("%s/" CAPTURE_FAILED, dir);
  Err ignored;
  fs_write(path, why, strlen(why), &ignored);
  free(path);
}

// Files change by a clock that is a little late. Waits until it goes on, so that
// earlier changes have earlier times.
static struct timespec next_tick(void) {
  struct timespec before, now;
  clock_gettime(CLOCK_REALTIME_COARSE, &before);
  do {
    const struct timespec pause = {.tv_nsec = 200000};
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
  } while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec);
  return now;
}

static void write_all(int fd, const Str *text) {
  for (size_t at = 0; at < text->len;) {
    ssize_t n = write(fd, text->data + at, text->len - at);
    if (n < 0 && errno != EINTR)
      return;
    at += n > 0 ? (size_t)n : 0;
  }
}

// Ends as the program did.
static void end_as(int status) {
  if (!WIFSIGNALED(status))
    _exit(WEXITSTATUS(status));
  const struct rlimit none = {0};
  sigset_t all;
  setrlimit(RLIMIT_CORE, &none);
  signal(WTERMSIG(status), SIG_DFL);
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  raise(WTERMSIG(status));
  _exit(127);
}

// What must be known before it starts.
static int prepare(ProgramStart *s, const char *dir, char **argv, char **record,
                   Err *err) {
  int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (self < 0)
    return err_set(err, "the kernel has no pidfd_open");
  close(self);
  if (claim(dir, record, err) ||
      start_describe(s, getenv(CAPTURE_FROM_VARIABLE), argv, err))
    return -1;
  return tree_read(&s->before, str_text(&s->root), NULL, err);
}

static void record(const char *name, char **argv) {
  const char *dir = getenv(CAPTURE_VARIABLE);
  const char *builds = getenv(CAPTURE_BUILDS_VARIABLE);
  char *program = mem_printf("%s/%s", builds, name), *place = NULL;
  char **env = variables_of_record(builds);
  ProgramStart s = {0};
  Err err = {0};
  str_add(&s.name, name);
  if (prepare(&s, dir, argv, &place, &err)) {
    note_failure(dir, err.text);
    execve(program, argv, env);
    _exit(127);
  }
  struct timespec since = next_tick();
  char *path = mem_printf("%s/record", place);
  if (start_run(&s, program, env, true, &s.deed, &err) ||
      tree_read(&s.deed.after, str_text(&s.root), &since, &err) ||
      start_write(&s, path, &err))
    note_failure(dir, err.text);
  write_all(1, &s.deed.out);
  write_all(2, &s.deed.err);
  end_as(s.deed.status);
}

// --- replaying --------------------------------------------------------------

enum { OVERLAY = 0x794c7630 }; // OVERLAYFS_SUPER_MAGIC

// Inodes in use in the view; -1: this is no view that is thrown away.
static int64_t inodes_used(const char *path) {
  struct statfs st;
  return !statfs(path, &st) && st.f_type == OVERLAY
             ? (int64_t)(st.f_files - st.f_ffree)
             : -1;
}

static char *find_build(const char *name) {
  const char *const dirs[] = {getenv(CLOSE_VARIABLE),
                              getenv(CAPTURE_BUILDS_VARIABLE)};
  for (size_t i = 0; i < 2; i++) {
    char *path = dirs[i] ? mem_printf("%s/%s", dirs[i], name) : NULL;
    if (path && fs_executable(path))
      return path;
    free(path);
  }
  return NULL;
}

// Makes the tree what it was before this start. `last` is the start before, NULL:
// there was none. *own: all of it lies in the upper layer of the view.
static int restore(const ProgramStart *s, const ProgramStart *last, bool *own,
                   Err *err) {
  const char *root = str_text(&s->root);
  FileTree now = {0};
  bool known = last && !strcmp(str_text(&last->root), root);
  *own = known && *own;
  // If the program changes the tree, all times are set, which copies every file
  // to the upper layer. Then what it makes or changes outside of the tree can
  // be told by the inodes that it takes.
  bool touch = !*own && !tree_same(&s->before, &s->deed.after);
  int rc = known ? 0 : fs_mkdirs(root, err);
  if (!rc && !known)
    rc = tree_read(&now, root, NULL, err);
  if (!rc)
    rc = tree_apply(root, known ? &last->deed.after : &now, &s->before, touch,
                    err);
  if (!rc && touch && utimensat(AT_FDCWD, root, NULL, 0))
    rc = err_set(err, "%s: %s", root, strerror(errno));
  *own |= touch;
  tree_release(&now);
  return rc;
}

// Repeats one start: CAPTURE_SAME or CAPTURE_OTHER, with a hash.
static CaptureEnd repeat(ProgramStart *s, const ProgramStart *last, bool *own,
                         unsigned long long *hash) {
  const char *root = str_text(&s->root);
  char *program = find_build(str_text(&s->name));
  StartDeed deed = {0};
  Err err = {0};
  struct timespec since;
  CaptureEnd end = CAPTURE_CANNOT;
  int64_t used = -1;
  if (program && !restore(s, last, own, &err))
    used = inodes_used(root);
  clock_gettime(CLOCK_REALTIME_COARSE, &since);
  if (used >= 0) {
    char **env = variables_of_replay(s);
    bool good = !start_run(s, program, env, false, &deed, &err) &&
                !tree_read(&deed.after, root, &since, &err);
    // Nothing was made or changed outside of the tree.
    used +=
        (int64_t)tree_inodes(&deed.after) - (int64_t)tree_inodes(&s->before);
    good = good && used == inodes_used(root);
    end = good && deed_same(&deed, &s->deed) ? CAPTURE_SAME : CAPTURE_OTHER;
    *hash = good ? deed_hash(&deed) : 0;
    free(env);
  }
  if (*err.text)
    fprintf(stderr, "%s\n", err.text);
  deed_release(&deed);
  free(program);
  return end;
}

static size_t count_starts(const char *dir) {
  size_t n = 0;
  for (bool there = true; there; n += there) {
    char *path = mem_printf("%s/%zu", dir, n);
    there = fs_exists(path);
    free(path);
  }
  return n;
}

static int replay(const char *dir) {
  ProgramStart starts[2] = {0};
  size_t n = count_starts(dir), i = 0;
  unsigned long long hash = 0;
  bool own = false;
  CaptureEnd end = n ? CAPTURE_SAME : CAPTURE_CANNOT;
  for (; i < n && end == CAPTURE_SAME; i++) {
    char *path = mem_printf("%s/%zu/record", dir, i);
    ProgramStart *s = &starts[i % 2];
    Err err = {0};
    start_release(s);
    *s = (ProgramStart){0};
    end = start_read(s, path, &err)
              ? CAPTURE_CANNOT
              : repeat(s, i ? &starts[(i + 1) % 2] : NULL, &own, &hash);
    if (*err.text)
      fprintf(stderr, "%s\n", err.text);
    free(path);
  }
  printf(CAPTURE_LINE, n, end == CAPTURE_SAME ? n : i - (i > 0), hash);
  for (size_t k = 0; k < 2; k++)
    start_release(&starts[k]);
  return end;
}

// --- main -------------------------------------------------------------------

int main(int argc, char **argv) {
  const char *path = (const char *)getauxval(AT_EXECFN);
  const char *builds = getenv(CAPTURE_BUILDS_VARIABLE);
  if (getenv(CAPTURE_VARIABLE) && builds && path)
    record(path_base(path), argv);
  if (argc != 2) {
    fputs("usage: " CAPTURE_PROGRAM " RECORDS\n", stderr);
    return 2;
  }
  return replay(argv[1]);
}
