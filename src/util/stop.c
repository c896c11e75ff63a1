// Stopping on a signal: see stop.h. Everything that the handler calls is
// async-signal-safe: system calls and memory on the stack.
#include "util/stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/descent.h"

enum {
  DIRS_MOST = 16,
  TERM_LOOKS = 300, // for descendants to end by themselves
  KILL_LOOKS = 500, // until we give up waiting for their death
  LOOK_MS = 10,
  DEPTH_MOST = 64, // of a directory that is removed
  SENT_MOST = 64,
};

static _Atomic int first;        // signal
static _Atomic unsigned orderly; // seconds
static _Atomic(const char *) dirs[DIRS_MOST];
static _Atomic(const char *) hint;
static atomic_flag ending = ATOMIC_FLAG_INIT;
static _Atomic uint64_t sent[SENT_MOST]; // by descendants: pid << 8 | signal
static _Atomic size_t nsent;
static pid_t owner;
static _Atomic int64_t came; // seconds: when a second signal would count
static int ends[2] = {-1, -1};

// --- lists of /proc and of directories ---------------------------------------

typedef struct {
  uint64_t inode;
  int64_t next;
  unsigned short length;
  unsigned char type;
  char name[];
} Entry; // of getdents64

// Calls `f` with each name but "." and "..".
static void for_each_name(int dir, void (*f)(int dir, const char *name, int n),
                          int number) {
  char buffer[1024] __attribute__((aligned(8)));
  long got;
  while ((got = syscall(SYS_getdents64, dir, buffer, sizeof buffer)) > 0)
    for (long at = 0; at < got;) {
      const Entry *e = (const Entry *)(buffer + at);
      if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0)
        f(dir, e->name, number);
      at += e->length;
    }
}

static int number_of(const char *digits) {
  int n = 0;
  while (*digits >= '0' && *digits <= '9')
    n = n * 10 + (*digits++ - '0');
  return n;
}

static void with_tasks(void (*f)(int dir, const char *name, int n), int n) {
  int dir = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    for_each_name(dir, f, n);
    close(dir);
  }
}

// --- our threads and descendants
// ----------------------------------------------

static int freeze_signal(void) { return SIGRTMAX - 2; }

static void freeze(int sig, siginfo_t *info, void *context) {
  (void)sig, (void)info, (void)context;
  for (;;)
    pause();
}

static void freeze_thread(int dir, const char *name, int n) {
  (void)dir, (void)n;
  if (number_of(name) != gettid())
    syscall(SYS_tgkill, getpid(), number_of(name), freeze_signal());
}

static void signal_child(pid_t pid, int sig) {
  pid_t group = getpgid(pid);
  if (group > 1 && group != getpgrp())
    kill(-group, sig);
  kill(pid, sig);
}

// The children of one of our threads. The kernel lists them with blanks.
static void signal_children(int dir, const char *name, int sig) {
  char path[64], text[512];
  size_t kept = 0;
  ssize_t n;
  size_t length = strlen(name);
  if (length > 32)
    return;
  memcpy(path, name, length);
  memcpy(path + length, "/children", sizeof "/children");
  int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && (n = read(fd, text + kept, sizeof text - 1 - kept)) > 0) {
    text[kept + (size_t)n] = '\0';
    char *at = text;
    for (char *blank; (blank = strchr(at, ' ')); at = blank + 1)
      signal_child(number_of(at), sig);
    kept = strlen(at);
    memmove(text, at, kept);
  }
  if (fd >= 0)
    close(fd);
}

// Are there any children left, after those that have ended are reaped?
static bool any_child(void) {
  while (waitpid(-1, NULL, WNOHANG) > 0)
    ;
  return waitpid(-1, NULL, WNOHANG) == 0;
}

void stop_adopt(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// Not the signal that came: shells have those in the background ignore SIGINT,
// and nohup SIGHUP.
void stop_descendants(bool gently) {
  stop_adopt();
  if (gently)
    with_tasks(signal_children, SIGTERM);
  for (int i = 0; gently && any_child() && i < TERM_LOOKS; i++)
    poll(NULL, 0, LOOK_MS);
  for (int i = 0; any_child() && i < KILL_LOOKS; i++) {
    with_tasks(signal_children, SIGKILL);
    poll(NULL, 0, i < LOOK_MS ? 1 : LOOK_MS);
  }
}

// --- directories
// --------------------------------------------------------------

static void remove_name(int dir, const char *name, int depth) {
  if (!unlinkat(dir, name, 0) || (errno != EISDIR && errno != EPERM))
    return;
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(dir, name, flags);
  if (fd < 0 && errno == EACCES && !fchmodat(dir, name, 0700, 0))
    fd = openat(dir, name, flags);
  if (fd < 0)
    return;
  fchmod(fd, 0700); // a test may have taken our rights away
  // Again as long as reading while removing leaves something out.
  for (int i = 0; i < 100 && depth < DEPTH_MOST; i++) {
    lseek(fd, 0, SEEK_SET);
    for_each_name(fd, remove_name, depth + 1);
    if (!unlinkat(dir, name, AT_REMOVEDIR) || errno != ENOTEMPTY)
      break;
  }
  close(fd);
}

// --- stopping
// -----------------------------------------------------------------

static void say(const char *text) {
  ssize_t n = write(STDERR_FILENO, text, strlen(text));
  (void)n;
}

static _Noreturn void end_now(int sig) {
  if (atomic_flag_test_and_set(&ending))
    freeze(0, NULL, NULL);
  with_tasks(freeze_thread, 0);
  stop_descendants(true);
  for (int i = 0; i < DIRS_MOST; i++) {
    const char *dir = atomic_load(&dirs[i]);
    if (dir)
      remove_name(AT_FDCWD, dir, 0);
  }
  say("culprit: interrupted");
  say(stop_hint_text());
  say("\n");
  _exit(128 + sig);
}

// A child between fork and exec, or without exec, ends as if signals were not
// watched.
static bool is_child(int sig) {
  if (getpid() == owner)
    return false;
  signal(sig, SIG_DFL);
  raise(sig); // comes when the handler returns
  return true;
}

// A program under test may signal all it can reach. That is not the user's wish.
static bool is_sent(int sig, const siginfo_t *info) {
  int saved = errno;
  if (info->si_code > 0 || !process_ancestor(info->si_pid))
    return false;
  size_t i = atomic_fetch_add(&nsent, 1) % SENT_MOST;
  atomic_store(&sent[i], (uint64_t)info->si_pid << 8 | (unsigned)sig);
  errno = saved;
  return true;
}

static int64_t seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec;
}

// One Ctrl-C may come twice: from the terminal, and passed on by our parent.
// What comes later is impatience.
static void on_signal(int sig, siginfo_t *info, void *context) {
  (void)context;
  int saved = errno, none = 0;
  if (is_child(sig) || is_sent(sig, info))
    return;
  bool again = !atomic_compare_exchange_strong(&first, &none, sig);
  unsigned seconds = atomic_load(&orderly);
  if (again ? seconds_now() > came : !seconds)
    end_now(atomic_load(&first));
  if (again)
    return;
  came = seconds_now() + 1;
  stop_adopt();
  ssize_t n = write(ends[1], "", 1);
  (void)n;
  alarm(seconds);
  errno = saved;
}

static void on_alarm(int sig, siginfo_t *info, void *context) {
  (void)context;
  if (is_child(sig) || is_sent(sig, info))
    return;
  if (atomic_load(&first))
    end_now(atomic_load(&first));
  signal(sig, SIG_DFL); // the signal is not ours
  raise(sig);
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction act = {.sa_sigaction = handler,
                          .sa_flags = SA_RESTART | SA_SIGINFO};
  sigfillset(&act.sa_mask);
  sigaction(sig, &act, NULL);
}

static bool is_ignored(int sig) {
  struct sigaction act;
  return !sigaction(sig, NULL, &act) && act.sa_handler == SIG_IGN;
}

static void handle_all(void) {
  handle(freeze_signal(), freeze);
  handle(SIGALRM, on_alarm);
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  if (!is_ignored(SIGHUP))
    handle(SIGHUP, on_signal);
}

void stop_watch(void) {
  if (owner)
    return;
  owner = getpid();
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
    ends[0] = ends[1] = -1;
  handle_all();
}

int stop_signal(void) { return atomic_load(&first); }
bool stop_requested(void) { return stop_signal() != 0; }
int stop_fd(void) { return ends[0]; }

int stop_status(int status) {
  return stop_requested() ? 128 + stop_signal() : status;
}

// What was said to be orderly and has ended by itself needs no alarm; what
// follows has none.
void stop_orderly(unsigned seconds) { atomic_store(&orderly, seconds); }

void stop_hint(const char *text) { atomic_store(&hint, text); }

const char *stop_hint_text(void) {
  const char *text = atomic_load(&hint);
  return text ? text : "";
}

void stop_remove(const char *dir) {
  for (int i = 0; i < DIRS_MOST; i++) {
    const char *none = NULL;
    if (atomic_compare_exchange_strong(&dirs[i], &none, dir))
      return;
  }
}

void stop_keep(const char *dir) {
  for (int i = 0; i < DIRS_MOST; i++) {
    const char *text = atomic_load(&dirs[i]);
    if (text && !strcmp(text, dir))
      atomic_store(&dirs[i], NULL);
  }
}

int stop_take_sent(pid_t *pid) {
  for (size_t i = 0; i < SENT_MOST; i++) {
    uint64_t s = atomic_exchange(&sent[i], 0);
    *pid = (pid_t)(s >> 8);
    if (s)
      return (int)(s & 0xff);
  }
  return 0;
}

void stop_forget(void) {
  char byte;
  alarm(0);
  while (ends[0] >= 0 && read(ends[0], &byte, 1) == 1)
    ;
  atomic_store(&first, 0);
  handle_all();
}
