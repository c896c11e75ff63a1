// Namespaces of confined runs: see namespaces.h.
//
// The process that holds them is forked while culprit is small, so that making
// a view never copies a large process. The messages on the control socket:
//
//   holder -> culprit   one byte: the namespaces exist
//   culprit -> holder   one byte: users are mapped; then one byte per view
//   maker -> culprit    Reply, with the files of the view
//
// The maker is a child of the holder, one process per view. The holder ends
// when culprit's end of the socket is closed.
#include "confine/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/send_files.h"
#include "confine/view.h"
#include "util/fs.h"
#include "util/mem.h"

enum { CONTROL = 3 }; // the holder's end of the socket

typedef struct {
  int failed;
  Err err;
} Reply;

static void send_reply(const Reply *reply, const int files[2]) {
  files_send(CONTROL, reply, sizeof *reply, files, reply->failed ? 0 : 2);
}

static int take_reply(int control, ViewFiles *out, Err *err) {
  Reply reply;
  int files[2];
  int n = files_receive(control, &reply, sizeof reply, files, 2, true);
  if (n < 0)
    return err_set(err, "the process that makes views has ended");
  *err = reply.err;
  if (reply.failed || !n)
    return -1;
  *out = (ViewFiles){files[0], files[1]};
  return 0;
}

// --- in the holder ----------------------------------------------------------

static _Noreturn void make_view(const ConfinePlan *plan, const char *base) {
  Reply reply = {0};
  int fds[2] = {-1, -1};
  if (unshare(CLONE_NEWNS))
    reply.failed = err_set(&reply.err, "cannot create a mount namespace: %s",
                           strerror(errno));
  else
    reply.failed = view_enter(plan, base, &reply.err);
  if (!reply.failed) {
    fds[0] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    fds[1] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fds[0] < 0 || fds[1] < 0)
      reply.failed =
          err_set(&reply.err, "cannot open the view: %s", strerror(errno));
  }
  send_reply(&reply, fds);
  _exit(0);
}

static void raise_loopback(void) {
  struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return;
  ioctl(fd, SIOCSIFFLAGS, &r);
  close(fd);
}

static bool read_byte(int fd) {
  char byte;
  ssize_t n;
  do
    n = recv(fd, &byte, 1, 0);
  while (n < 0 && errno == EINTR);
  return n == 1;
}

static bool write_byte(int fd) { return send(fd, "", 1, MSG_NOSIGNAL) == 1; }

static void forget_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  for (int s = 1; s < NSIG; s++)
    signal(s, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

// Only the socket stays open.
static void keep_control_only(int control) {
  if (control != CONTROL)
    dup2(control, CONTROL);
  close_range(CONTROL + 1, ~0U, 0);
  fcntl(CONTROL, F_SETFD, FD_CLOEXEC);
}

static _Noreturn void holder_main(const ConfinePlan *plan, const char *base,
                                  int control, int spaces) {
  setsid();
  forget_signals();
  keep_control_only(control);
  if (unshare(spaces) || !write_byte(CONTROL) || !read_byte(CONTROL))
    _exit(1);
  if (spaces & CLONE_NEWNET)
    raise_loopback();
  while (read_byte(CONTROL)) {
    pid_t pid = fork();
    if (pid == 0)
      make_view(plan, base);
    if (pid < 0) {
      Reply reply = {.failed = -1};
      err_set(&reply.err, "cannot create a process: %s", strerror(errno));
      send_reply(&reply, NULL);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
      ;
  }
  _exit(0);
}

// --- in culprit -------------------------------------------------------------

static int write_map(pid_t pid, const char *name, const char *text) {
  char *path = mem_printf("/proc/%d/%s", (int)pid, name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  free(path);
  if (fd < 0)
    return -1;
  ssize_t n = write(fd, text, strlen(text));
  close(fd);
  return n == (ssize_t)strlen(text) ? 0 : -1;
}

// Root maps all users; any other user maps only itself.
static int map_users(pid_t pid) {
  const char *all = "0 0 4294967295";
  if (geteuid() == 0 && !write_map(pid, "uid_map", all) &&
      !write_map(pid, "gid_map", all))
    return 0;
  char *user = mem_printf("%d %d 1", (int)geteuid(), (int)geteuid());
  char *group = mem_printf("%d %d 1", (int)getegid(), (int)getegid());
  int rc = write_map(pid, "uid_map", user) ||
           write_map(pid, "setgroups", "deny") ||
           write_map(pid, "gid_map", group);
  free(group);
  free(user);
  return rc ? -1 : 0;
}

static int start(Namespaces *n, const ConfinePlan *plan, const char *base,
                 Err *err) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
    return err_set(err, "cannot create a socket: %s", strerror(errno));
  n->pid = fork();
  if (n->pid == 0)
    holder_main(plan, base, ends[1], n->spaces);
  close(ends[1]);
  n->control = ends[0];
  if (n->pid < 0) {
    n->pid = 0;
    return err_set(err, "cannot create a process: %s", strerror(errno));
  }
  if (!read_byte(n->control))
    return err_set(err, "this kernel does not allow user namespaces");
  if (map_users(n->pid))
    return err_set(err, "user namespaces are restricted here: %s",
                   strerror(errno));
  n->pidfd = pidfd_open(n->pid, 0);
  if (n->pidfd < 0 || !write_byte(n->control))
    return err_set(err, "the process that makes views has ended");
  fcntl(n->pidfd, F_SETFD, FD_CLOEXEC);
  return 0;
}

int namespaces_open(Namespaces *n, const ConfinePlan *plan, bool network,
                    Err *err) {
  *n = (Namespaces){.pidfd = -1, .control = -1};
  n->spaces = CLONE_NEWUSER | CLONE_NEWIPC | (network ? CLONE_NEWNET : 0);
  char *base = mem_printf("%s/view", plan->scratch);
  int rc = fs_mkdirs(base, err);
  if (!rc)
    rc = start(n, plan, base, err);
  free(base);
  if (rc)
    namespaces_close(n);
  return rc;
}

void namespaces_close(Namespaces *n) {
  if (n->control >= 0)
    close(n->control); // it ends at that
  if (n->pidfd >= 0)
    close(n->pidfd);
  while (n->pid > 0 && waitpid(n->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  *n = (Namespaces){.pidfd = -1, .control = -1};
}

int namespaces_make_view(const Namespaces *n, ViewFiles *out, Err *err) {
  if (!write_byte(n->control))
    return err_set(err, "the process that makes views has ended");
  return take_reply(n->control, out, err);
}
