// The supervisor of system calls: see supervisor.h.
//
// Before execve, every confined process sends the supervisor a descriptor from
// which the supervisor receives its calls. The supervisor polls all of them and
// closes those whose processes have ended.
#include "confine/supervisor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "confine/send_files.h"
#include "confine/syscall_filter.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/mem.h"

enum { REFUSED_MOST = 200, DNS_PORT = 53 };

struct Supervisor {
  SupervisorPlan plan;
  struct sock_filter code[FILTER_MAX];
  struct sock_fprog filter;
  int mail[2]; // where processes send their descriptors: ours, theirs
  int quit;    // eventfd
  pthread_t thread;
  pthread_mutex_t lock; // of refused
  ARRAY(Refused) refused;
  ARRAY(struct pollfd) watched; // quit, mail, then one per process
  struct seccomp_notif *call;   // as large as the kernel wants them
  struct seccomp_notif_resp *answer;
  size_t call_size, answer_size;
};

// --- in the new process -----------------------------------------------------

int supervisor_enter(const Supervisor *s) {
  int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER, &s->filter);
  if (fd < 0)
    return -1;
  bool sent = files_send(s->mail[1], "", 1, &fd, 1);
  close(fd);
  return sent ? 0 : -1;
}

// --- what was refused -------------------------------------------------------

static void remember(Supervisor *s, RefusedKind kind, const char *what) {
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; i < s->refused.len; i++)
    if (s->refused.items[i].kind == kind &&
        !strcmp(s->refused.items[i].what, what)) {
      s->refused.items[i].times++;
      pthread_mutex_unlock(&s->lock);
      return;
    }
  if (s->refused.len < REFUSED_MOST)
    array_push(&s->refused, (Refused){kind, mem_strdup(what), 1});
  pthread_mutex_unlock(&s->lock);
}

void supervisor_take_refused(Supervisor *s,
                             void (*take)(void *ctx, const Refused *r),
                             void *ctx) {
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; i < s->refused.len; i++) {
    if (take)
      take(ctx, &s->refused.items[i]);
    free(s->refused.items[i].what);
  }
  s->refused.len = 0;
  pthread_mutex_unlock(&s->lock);
}

// --- looking at the caller --------------------------------------------------

static bool read_memory(pid_t pid, uint64_t from, void *to, size_t n) {
  struct iovec own = {to, n}, other = {(void *)(uintptr_t)from, n};
  return process_vm_readv(pid, &own, 1, &other, 1, 0) == (ssize_t)n;
}

// A string of at most `room` - 1 bytes; page by page, it may end before one.
static bool read_string(pid_t pid, uint64_t from, char *to, size_t room) {
  for (size_t n = 0; n < room;) {
    size_t step = 4096 - (from + n) % 4096;
    step = step < room - n ? step : room - n;
    if (!read_memory(pid, from + n, to + n, step))
      return false;
    if (memchr(to + n, 0, step))
      return true;
    n += step;
  }
  return false;
}

static char *link_of(pid_t pid, const char *name) {
  char target[4096];
  char *path = mem_printf("/proc/%d/%s", (int)pid, name);
  ssize_t n = readlink(path, target, sizeof target - 1);
  free(path);
  return n > 0 ? mem_printf("%.*s", (int)n, target) : NULL;
}

// A path as the caller names it; `dir`: a descriptor of his, AT_FDCWD.
static char *full_path(pid_t pid, int dir, const char *path) {
  if (*path == '/')
    return path_absolute(path, "/");
  char *name = dir == AT_FDCWD ? mem_strdup("cwd") : mem_printf("fd/%d", dir);
  char *base = link_of(pid, name);
  char *full = base ? path_absolute(path, base) : NULL;
  free(base);
  free(name);
  return full;
}

static bool lies_in(const char *path, const char *dir) {
  size_t n = strlen(dir);
  return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

static bool lies_in_writable(const Supervisor *s, const char *path) {
  bool ok = lies_in(path, s->plan.plan->scratch) || lies_in(path, "/proc") ||
            lies_in(path, "/dev");
  for (const char *const *p = s->plan.plan->writable; !ok && p && *p; p++)
    ok = lies_in(path, *p);
  return ok;
}

// The path with the links of its directories followed. Caller frees.
static char *entry_path(const char *path) {
  const char *base = path_base(path);
  char *dir = mem_printf("%.*s", (int)(base - path), path);
  char *real = realpath(dir, NULL);
  char *entry = real ? mem_printf("%s/%s", real[1] ? real : "", base) : NULL;
  free(real);
  free(dir);
  return entry ? entry : mem_strdup(path);
}

// Is it below what may really be written? `entry`: the name itself is meant,
// not what it leads to.
static bool is_writable(const Supervisor *s, const char *path, bool entry) {
  char *name = entry_path(path);
  char *real = entry ? NULL : realpath(path, NULL);
  bool ok = lies_in_writable(s, name) && (!real || lies_in_writable(s, real));
  free(real);
  free(name);
  return ok;
}

// --- decisions: 0: the call goes on; else its errno ---------------------------

static bool is_port_allowed(const Supervisor *s, uint16_t port) {
  for (size_t i = 0; i < s->plan.plan->nports; i++)
    if (s->plan.plan->ports[i] == port)
      return true;
  return false;
}

static bool is_socket(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISSOCK(st.st_mode);
}

// Its own sockets are below the scratch area or exist in its view only.
static int decide_socket(Supervisor *s, pid_t pid,
                         const struct sockaddr_un *a) {
  if (!a->sun_path[0])
    return 0; // abstract: in the network namespace, or Landlock's matter
  char *path = full_path(pid, AT_FDCWD, a->sun_path);
  bool ok = !path || is_writable(s, path, false) || !is_socket(path);
  if (!ok)
    remember(s, REFUSED_CONNECT, path);
  free(path);
  return ok ? 0 : ECONNREFUSED;
}

static int decide_address(Supervisor *s, const char *host, uint16_t port,
                          bool loopback) {
  char what[128];
  if (!port || is_port_allowed(s, port))
    return 0; // port 0 asks for the way, and sends nothing
  snprintf(what, sizeof what, strchr(host, ':') ? "[%s]:%u%s" : "%s:%u%s", host,
           port, port == DNS_PORT ? " (name lookup)" : "");
  remember(s, REFUSED_CONNECT, what);
  if (loopback)
    return s->plan.private_network ? 0 : ECONNREFUSED;
  return ENETUNREACH;
}

static int decide_connect(Supervisor *s, const struct seccomp_notif *call) {
  union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un path;
  } a = {0};
  bool sends = call->data.nr == SYS_sendto;
  uint64_t from = call->data.args[sends ? 4 : 1];
  size_t n = (size_t)call->data.args[sends ? 5 : 2];
  char host[INET6_ADDRSTRLEN];
  n = n < sizeof a - 1 ? n : sizeof a - 1;
  if (!read_memory((pid_t)call->pid, from, &a, n))
    return 0; // the kernel will say so itself
  switch (a.any.sa_family) {
  case AF_UNIX:
    return decide_socket(s, (pid_t)call->pid, &a.path);
  case AF_INET:
    inet_ntop(AF_INET, &a.four.sin_addr, host, sizeof host);
    return decide_address(s, host, ntohs(a.four.sin_port),
                          ntohl(a.four.sin_addr.s_addr) >> 24 == 127);
  case AF_INET6:
    inet_ntop(AF_INET6, &a.six.sin6_addr, host, sizeof host);
    return decide_address(s, host, ntohs(a.six.sin6_port),
                          IN6_IS_ADDR_LOOPBACK(&a.six.sin6_addr));
  default:
    return 0;
  }
}

// A run leads a session of its own.
static int decide_signal(Supervisor *s, pid_t caller, pid_t target,
                         int signal) {
  char what[64];
  pid_t one = target < -1 ? -target : target;
  if (!signal || !target || one == caller)
    return 0;
  if (target != -1 && getsid(one) == getsid(caller))
    return 0;
  if (target != -1 && kill(one, 0) && errno == ESRCH)
    return 0;
  if (target == -1)
    strcpy(what, "all processes");
  else
    snprintf(what, sizeof what, "process %d", (int)one);
  remember(s, REFUSED_SIGNAL, what);
  return EPERM;
}

static pid_t pid_of_pidfd(pid_t caller, int fd) {
  char *path = mem_printf("/proc/%d/fdinfo/%d", (int)caller, fd);
  Str text = {0};
  Err ignored;
  fs_read(path, 4096, &text, &ignored);
  const char *at = strstr(str_text(&text), "\nPid:");
  pid_t pid = at ? atoi(at + 5) : 0;
  str_release(&text);
  free(path);
  return pid;
}

static int decide_name(Supervisor *s, char *path, bool entry) {
  bool ok = !path || is_writable(s, path, entry);
  if (!ok)
    remember(s, REFUSED_WRITE, path);
  free(path);
  return ok ? 0 : EACCES;
}

static int decide_file(Supervisor *s, pid_t pid, int fd) {
  char *name = mem_printf("fd/%d", fd);
  char *target = link_of(pid, name);
  free(name);
  if (target && *target == '/')
    return decide_name(s, target, false);
  free(target); // a pipe, a socket
  return 0;
}

static int decide_path(Supervisor *s, const struct seccomp_notif *call,
                       const SystemCall *c, int i) {
  const __u64 *args = call->data.args;
  pid_t pid = (pid_t)call->pid;
  int dir = c->dirs[i] < 0 ? AT_FDCWD : (int)args[c->dirs[i]];
  uint64_t from = args[c->paths[i]];
  char path[4096] = "";
  if (from && !read_string(pid, from, path, sizeof path))
    return 0; // the kernel will say so itself
  if (*path || dir == AT_FDCWD)
    return decide_name(s, full_path(pid, dir, path), c->entry);
  return decide_file(s, pid, dir);
}

static int decide_paths(Supervisor *s, const struct seccomp_notif *call,
                        const SystemCall *c) {
  int error = decide_path(s, call, c, 0);
  if (!error && c->paths[1] >= 0)
    error = decide_path(s, call, c, 1);
  return error;
}

static int decide(Supervisor *s, const struct seccomp_notif *call) {
  const __u64 *args = call->data.args;
  const SystemCall *c = filter_call(call->data.nr);
  pid_t pid = (pid_t)call->pid;
  switch (c ? c->kind : CALL_OTHER) {
  case CALL_CONNECT:
    return decide_connect(s, call);
  case CALL_KILL:
    return decide_signal(s, pid, (pid_t)args[0], (int)args[c->signal]);
  case CALL_PIDFD:
    return decide_signal(s, pid, pid_of_pidfd(pid, (int)args[0]),
                         (int)args[c->signal]);
  case CALL_FILE:
    return decide_file(s, pid, (int)args[0]);
  case CALL_PATH:
    return decide_paths(s, call, c);
  default:
    return 0;
  }
}

// --- the thread -------------------------------------------------------------

static void answer_call(Supervisor *s, int fd) {
  memset(s->call, 0, s->call_size);
  memset(s->answer, 0, s->answer_size);
  if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, s->call))
    return; // the caller is gone
  int error = decide(s, s->call);
  s->answer->id = s->call->id;
  if (error)
    s->answer->error = -error;
  else
    s->answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, s->answer);
}

static void take_mail(Supervisor *s) {
  char byte;
  int fd;
  if (files_receive(s->mail[0], &byte, 1, &fd, 1, false) > 0)
    array_push(&s->watched, (struct pollfd){.fd = fd, .events = POLLIN});
}

static void look_at_processes(Supervisor *s) {
  size_t kept = 2;
  for (size_t i = 2; i < s->watched.len; i++) {
    struct pollfd *p = &s->watched.items[i];
    if (p->revents & POLLIN)
      answer_call(s, p->fd);
    if (p->revents & (POLLHUP | POLLERR | POLLNVAL))
      close(p->fd);
    else
      s->watched.items[kept++] = *p;
  }
  s->watched.len = kept;
}

static void *supervisor_main(void *arg) {
  Supervisor *s = arg;
  for (;;) {
    if (poll(s->watched.items, s->watched.len, -1) < 0)
      continue;
    if (s->watched.items[0].revents)
      return NULL;
    look_at_processes(s);
    if (s->watched.items[1].revents & POLLIN)
      take_mail(s);
  }
}

static int start_thread(Supervisor *s) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failure = pthread_create(&s->thread, NULL, supervisor_main, s);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failure;
}

// --- opening and closing ----------------------------------------------------

static void release(Supervisor *s) {
  for (size_t i = 2; i < s->watched.len; i++)
    close(s->watched.items[i].fd);
  supervisor_take_refused(s, NULL, NULL);
  array_release(&s->watched);
  array_release(&s->refused);
  close(s->mail[0]);
  close(s->mail[1]);
  close(s->quit);
  free(s->call);
  free(s->answer);
  pthread_mutex_destroy(&s->lock);
  free(s);
}

// False: this kernel has no filters that ask.
static bool learn_sizes(Supervisor *s) {
  struct seccomp_notif_sizes sizes;
  if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes))
    return false;
  s->call_size = sizes.seccomp_notif > sizeof *s->call ? sizes.seccomp_notif
                                                       : sizeof *s->call;
  s->answer_size = sizes.seccomp_notif_resp > sizeof *s->answer
                       ? sizes.seccomp_notif_resp
                       : sizeof *s->answer;
  s->call = mem_alloc(s->call_size);
  s->answer = mem_alloc(s->answer_size);
  return true;
}

static bool open_files(Supervisor *s) {
  s->mail[0] = s->mail[1] = -1;
  s->quit = eventfd(0, EFD_CLOEXEC);
  if (s->quit < 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->mail))
    return false;
  array_push(&s->watched, (struct pollfd){.fd = s->quit, .events = POLLIN});
  array_push(&s->watched, (struct pollfd){.fd = s->mail[0], .events = POLLIN});
  return true;
}

Supervisor *supervisor_open(const SupervisorPlan *plan, Err *err) {
  Supervisor *s = mem_new(Supervisor);
  FilterPlan filter = {.signals = plan->signals,
                       .files = plan->files,
                       .no_datagrams = !plan->private_network};
  s->plan = *plan;
  pthread_mutex_init(&s->lock, NULL);
  s->filter.filter = s->code;
  s->filter.len = (unsigned short)filter_make(&filter, s->code);
  if (open_files(s) && learn_sizes(s) && !start_thread(s))
    return s;
  err_set(err, "this kernel cannot ask about filtered system calls: %s",
          strerror(errno));
  release(s);
  return NULL;
}

void supervisor_close(Supervisor *s) {
  if (!s)
    return;
  eventfd_write(s->quit, 1);
  pthread_join(s->thread, NULL);
  release(s);
}
