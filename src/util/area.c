// Temporary directories that are never left behind: see area.h.
#include "util/area.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

#define PREFIX "culprit-scratch-"
enum { RANDOM = 6, ATTEMPTS = 100, KILL_ROUNDS = 200, KILL_MS = 10 };

// --- making and locking -----------------------------------------------------

// -1: somebody else has it.
static int lock_dir(const char *dir) {
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
    close(fd);
    fd = -1;
  }
  return fd;
}

static bool is_there(int fd) {
  struct stat st;
  return !fstat(fd, &st) && st.st_nlink > 0;
}

// `variable` names another place.
static int open_in(Area *a, const char *base, const char *variable, Err *err) {
  char *full = path_absolute(base, NULL);
  *a = AREA_NONE;
  // A sweep may take a directory between its making and its locking.
  for (int i = 0; i < ATTEMPTS && a->lock < 0; i++) {
    free(a->dir);
    a->dir = mem_printf("%s/" PREFIX "XXXXXX", full);
    if (!mkdtemp(a->dir))
      break;
    a->lock = lock_dir(a->dir);
    if (a->lock >= 0 && !is_there(a->lock)) {
      close(a->lock);
      a->lock = -1;
    }
  }
  free(full);
  if (a->lock >= 0) {
    stop_remove(a->dir);
    return 0;
  }
  err_set(err,
          "cannot create a scratch directory in %s: %s; set %s to a "
          "directory with free space",
          base, strerror(errno), variable);
  free(a->dir);
  *a = AREA_NONE;
  return -1;
}

int area_open(Area *a, const char *base, Err *err) {
  return open_in(a, base, "CULPRIT_TMPDIR", err);
}

static const char *temporary_base(void) {
  const char *tmp = getenv("TMPDIR");
  return tmp && *tmp ? tmp : "/tmp";
}

int area_open_temporary(Area *a, Err *err) {
  return open_in(a, temporary_base(), "TMPDIR", err);
}

// --- removing ---------------------------------------------------------------

// Ends everything that ran in the area, and with it the watcher.
static void end_watcher(Area *a) {
  if (a->watcher <= 0)
    return;
  stop_descendants(false);
  unsetenv(AREA_VARIABLE);
}

void area_close(Area *a) {
  end_watcher(a);
  if (a->dir)
    fs_remove_stubborn_tree(a->dir);
  if (a->dir)
    stop_keep(a->dir);
  if (a->lock >= 0)
    close(a->lock);
  free(a->dir);
  *a = AREA_NONE;
}

// --- the processes of an area -----------------------------------------------

static bool names_dir(const char *entry, const char *dir) {
  size_t n = strlen(dir);
  const char *at = strstr(entry, dir);
  return at && (at[n] == '/' || at[n] == '\0');
}

static bool belongs(const char *pid, const char *dir) {
  char *path = mem_printf("/proc/%s/environ", pid);
  Str env = {0};
  Err ignored;
  bool found = false;
  fs_read(path, 4 << 20, &env, &ignored);
  for (size_t i = 0; !found && i < env.len; i += strlen(env.data + i) + 1)
    found = names_dir(env.data + i, dir);
  str_release(&env);
  free(path);
  return found;
}

typedef ARRAY(pid_t) Sessions;

static bool has_session(const Sessions *s, pid_t session) {
  for (size_t i = 0; i < s->len; i++)
    if (s->items[i] == session)
      return true;
  return false;
}

typedef bool Wanted(const char *pid, const void *what);

static bool in_area(const char *pid, const void *dir) {
  return belongs(pid, dir);
}

static bool in_session(const char *pid, const void *sessions) {
  return has_session(sessions, getsid((pid_t)strtol(pid, NULL, 10)));
}

// Kills those that are wanted; their sessions but `ours` are added to `out`.
static size_t kill_those(Wanted *wanted, const void *what, pid_t ours,
                         Sessions *out) {
  DIR *d = opendir("/proc");
  size_t n = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
    if (pid <= 0 || pid == getpid() || !wanted(e->d_name, what))
      continue;
    pid_t session = getsid(pid);
    if (out && session > 1 && session != ours && session != getsid(0))
      array_push(out, session);
    kill(pid, SIGKILL);
    n++;
  }
  if (d)
    closedir(d);
  return n;
}

// Of an area's processes we know the environment; some of their session may
// have cleared theirs. ours: 0, if sessions cannot be told from the owner's.
static size_t kill_round(const char *dir, pid_t ours) {
  Sessions sessions = {0};
  size_t n = kill_those(in_area, dir, ours, ours ? &sessions : NULL);
  if (sessions.len)
    kill_those(in_session, &sessions, ours, NULL);
  array_release(&sessions);
  return n;
}

// Those that have a name of the area in their environment, and their children.
static void kill_processes(const char *dir, pid_t ours) {
  for (int i = 0; i < KILL_ROUNDS && kill_round(dir, ours); i++)
    poll(NULL, 0, KILL_MS);
}

// --- what others left -------------------------------------------------------

static bool is_area_name(const char *name) {
  size_t n = strlen(PREFIX);
  if (strncmp(name, PREFIX, n) != 0 || strlen(name) != n + RANDOM)
    return false;
  for (name += n; *name; name++)
    if (!isalnum((unsigned char)*name))
      return false;
  return true;
}

static void remove_if_left(const char *dir) {
  struct stat st;
  if (lstat(dir, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
    return;
  int lock = lock_dir(dir);
  if (lock < 0)
    return;
  kill_processes(dir, 0);
  fs_remove_stubborn_tree(dir);
  close(lock);
}

void areas_sweep(const char *base) {
  DIR *d = opendir(base);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (!is_area_name(e->d_name))
      continue;
    char *dir = mem_printf("%s/%s", base, e->d_name);
    remove_if_left(dir);
    free(dir);
  }
  if (d)
    closedir(d);
}

void areas_sweep_all(void) {
  const char *wish = getenv("CULPRIT_TMPDIR"), *tmp = temporary_base();
  if (wish && *wish)
    areas_sweep(wish);
  areas_sweep("/dev/shm");
  areas_sweep(tmp);
  if (strcmp(tmp, "/tmp") != 0)
    areas_sweep("/tmp");
}

// --- the watcher ------------------------------------------------------------

// A reader of a pipe must not wait because the watcher holds its other end.
static void drop_files(int keep) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 3; i++)
    dup2(null, i);
  if (keep > 3)
    close_range(3, (unsigned)keep - 1, 0);
  close_range((unsigned)keep + 1, ~0U, 0);
}

// Holds no lock: once its owner has ended, an area is like any left-over one.
static _Noreturn void watch(const char *dir, pid_t owner, pid_t session,
                            int pidfd) {
  setsid();
  drop_files(pidfd);
  struct pollfd fd = {.fd = pidfd, .events = POLLIN};
  while (getppid() == owner && poll(&fd, 1, -1) <= 0)
    ;
  kill_processes(dir, session);
  char *base = mem_printf("%.*s", (int)(path_base(dir) - dir), dir);
  for (int i = 0; i < KILL_ROUNDS && fs_exists(dir); i++) {
    areas_sweep(base);
    poll(NULL, 0, KILL_MS); // a helper of our owner's is just dying
  }
  areas_sweep_all();
  _exit(0);
}

void area_watch(Area *a) {
  pid_t owner = getpid(), session = getsid(0);
  int pidfd = pidfd_open(owner, 0);
  if (pidfd < 0)
    return; // the next culprit does it
  fcntl(pidfd, F_SETFD, FD_CLOEXEC);
  a->watcher = fork();
  if (a->watcher == 0)
    watch(a->dir, owner, session, pidfd);
  close(pidfd);
  stop_adopt();
  setenv(AREA_VARIABLE, a->dir, 1);
}
