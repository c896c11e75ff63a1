// Server processes that end with us: see child.h.
#include "php/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/stop.h"
#include "util/str.h"

// --- starting ---------------------------------------------------------------

// Between fork and exec other threads' locks may be held: system calls only.

static void default_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  for (int s = 1; s < NSIG; s++)
    signal(s, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

// Streams first go above 2, so that none overwrites another.
static int place_stream(int from, int to) {
  if (from < 0)
    from = open("/dev/null", O_RDWR);
  int high = fcntl(from, F_DUPFD, 10 + to);
  return high;
}

// Another user namespace makes the kernel forget whom to die with.
static int confine(const ChildPlan *plan, pid_t parent) {
  if (plan->confine && confine_enter(plan->confine))
    return -1;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(127);
  return 0;
}

static _Noreturn void become(const ChildPlan *plan, pid_t parent, int report) {
  setsid();
  default_signals();
  int high[3] = {place_stream(plan->in, 0), place_stream(plan->out, 1),
                 place_stream(plan->err, 2)};
  int up = fcntl(report, F_DUPFD_CLOEXEC, 20);
  for (int i = 0; i < 3; i++)
    dup2(high[i], i);
  if (!confine(plan, parent)) {
    close_range(3, (unsigned)up - 1, 0);
    close_range((unsigned)up + 1, ~0U, 0);
    execve(plan->path, plan->argv, plan->env ? plan->env : environ);
  }
  int why = errno;
  ssize_t n = write(up, &why, sizeof why);
  (void)n;
  _exit(127);
}

// What exec said, through a pipe that exec closes; 0: it worked.
static int exec_problem(int fd) {
  int why = 0;
  ssize_t n;
  do
    n = read(fd, &why, sizeof why);
  while (n < 0 && errno == EINTR);
  return n == sizeof why ? why : 0;
}

int child_start(ChildProcess *c, const ChildPlan *plan, Err *err) {
  int ends[2];
  *c = (ChildProcess){.pidfd = -1};
  if (pipe2(ends, O_CLOEXEC))
    return err_set(err, "%s: no pipe: %s", plan->path, strerror(errno));
  pid_t parent = getpid(), pid = fork();
  if (pid == 0)
    become(plan, parent, ends[1]);
  int why = pid < 0 ? errno : 0;
  close(ends[1]);
  if (!why)
    why = exec_problem(ends[0]);
  close(ends[0]);
  if (pid > 0)
    c->pidfd = pidfd_open(pid, 0);
  if (pid > 0 && (why || c->pidfd < 0)) {
    why = why ? why : errno;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (c->pidfd >= 0)
      close(c->pidfd);
  }
  if (why)
    return err_set(err, "%s: cannot be started: %s", plan->path, strerror(why));
  fcntl(c->pidfd, F_SETFD, FD_CLOEXEC);
  c->pid = pid;
  return 0;
}

// --- ending -----------------------------------------------------------------

bool child_ended(ChildProcess *c, int milliseconds) {
  if (!c->pid)
    return true;
  // One that was killed is waited for in any case.
  struct pollfd p[] = {
      {.fd = c->pidfd, .events = POLLIN},
      {.fd = milliseconds < 0 ? -1 : stop_fd(), .events = POLLIN}};
  int n;
  do
    n = poll(p, 2, milliseconds);
  while (n < 0 && errno == EINTR);
  if (n <= 0 || !p[0].revents)
    return false;
  // What it left behind goes with it: while it is not reaped, its number
  // cannot be another group's.
  kill(-c->pid, SIGKILL);
  while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
    ;
  close(c->pidfd);
  *c = (ChildProcess){.pidfd = -1, .status = c->status};
  return true;
}

bool child_has_children(const ChildProcess *c) {
  char path[64], digit;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", c->pid, c->pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool any = fd >= 0 && read(fd, &digit, 1) == 1;
  if (fd >= 0)
    close(fd);
  return any;
}

void child_kill(ChildProcess *c) {
  if (!c->pid)
    return;
  kill(-c->pid, SIGKILL);
  child_ended(c, -1);
}

void child_stop(ChildProcess *c, int milliseconds) {
  if (!c->pid)
    return;
  if (stop_requested()) {
    child_kill(c);
    return;
  }
  kill(c->pid, SIGTERM);
  if (!child_ended(c, milliseconds))
    child_kill(c);
}

const char *child_how(int status, char buf[32]) {
  if (WIFSIGNALED(status)) {
    const char *name = sigabbrev_np(WTERMSIG(status));
    if (name)
      snprintf(buf, 32, "SIG%s", name);
    else
      snprintf(buf, 32, "signal %d", WTERMSIG(status));
  } else {
    snprintf(buf, 32, "exit status %d", WEXITSTATUS(status));
  }
  return buf;
}

// --- where programs are -----------------------------------------------------

static char *find_in(const char *dirs, const char *name) {
  for (const char *p = dirs; *p;) {
    size_t n = strcspn(p, ":");
    char *path =
        n ? mem_printf("%.*s/%s", (int)n, p, name) : mem_printf("./%s", name);
    if (fs_executable(path))
      return path;
    free(path);
    p += n + (p[n] == ':');
  }
  return NULL;
}

char *child_find(const char *const names[]) {
  const char *dirs = getenv("PATH");
  for (; *names; names++) {
    char *path = find_in(dirs ? dirs : "", *names);
    if (!path)
      path =
          find_in("/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin", *names);
    if (path)
      return path;
  }
  return NULL;
}

// --- words and logs ---------------------------------------------------------

void text_list_release(TextList *w) {
  for (size_t i = 0; i < w->len; i++)
    free(w->items[i]);
  array_release(w);
}

char *child_log_end(const char *log, size_t most) {
  enum { LOG_MOST = 4 << 20 };
  Str text = {0};
  Err ignored;
  int fd = fs_open_regular(AT_FDCWD, log, false, &ignored);
  if (fd >= 0) {
    fs_read_fd(fd, log, LOG_MOST, &text, &ignored);
    close(fd);
  }
  size_t skip = text.len > most ? text.len - most : 0;
  char *end = mem_strdup(str_text(&text) + skip);
  for (char *p = end; *p; p++)
    if ((unsigned char)*p < ' ')
      *p = p[1] ? ' ' : '\0';
  str_release(&text);
  return end;
}
