// The fork server: a shared object that LD_PRELOAD brings into a program that
// is to run many times. It is initialised before everything else (-z
// initfirst), stops the program there, loaded and linked but with none of its
// own code run, and makes a process of it for every request (server_format.h).
//
// Each is as if it had been executed: it is a child of the tool, not of the
// server (CLONE_PARENT), leads a session, has the files, the directory, the
// arguments and the environment of its request, and runs all initialisers from
// the first on. LD_PRELOAD is gone.
//
// What differs from an execution: addresses are those of the server, in every
// run; /proc/self/cmdline and environ are cut where the server's were; and two
// null pointers end the environment.
//
// Rules of a guest: no libc, system calls made directly, no heap, no output. If
// anything is unusual (another libc, no socket), the program runs on and the
// tool, not greeted, gives up on serving it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "server_format.h"
#include "system.h"

static struct {
  int argc, envc;
  char **argv, **envp;
  char *strings, *end; // where the kernel has put them
  void *tid;           // where libc keeps the number of the thread
  void *robust;        // its list of locks
  size_t robust_size;
} self;

static _Alignas(8) char message[SERVE_MESSAGE_MAX];

// A request, taken apart.
typedef struct {
  const ServeRequest *head;
  const ServeRedirect *redirects;
  const char *strings, *end;
} ParsedRequest;

static bool take_message(ParsedRequest *r) {
  long n =
      call6(SYS_recvfrom, SERVE_FD, (long)message, sizeof message, 0, 0, 0);
  if (n == -EINTR)
    return take_message(r);
  r->head = (const ServeRequest *)message;
  r->redirects = (const ServeRedirect *)(r->head + 1);
  if (n < (long)sizeof *r->head || r->head->magic != SERVE_MAGIC ||
      r->head->nredirects > SERVE_MESSAGE_MAX / sizeof *r->redirects)
    return false;
  r->strings = (const char *)(r->redirects + r->head->nredirects);
  r->end = message + n;
  return r->strings < r->end && !r->end[-1];
}

static const char *next_string(ParsedRequest *r) {
  const char *s = r->strings;
  if (s < r->end)
    r->strings += length(s) + 1;
  return s < r->end ? s : "";
}

static void answer(int pid, uint32_t what, long error, uint32_t which) {
  ServeAnswer a = {pid, (int32_t)-error, what, which};
  call6(SYS_sendto, SERVE_FD, (long)&a, sizeof a, 0x4000 /* MSG_NOSIGNAL */, 0,
        0);
}

// --- in the new process -----------------------------------------------------

static long redirect(const ServeRedirect *r, const char *path) {
  static const int flags[] = {
      [SERVE_READ] = O_RDONLY,
      [SERVE_WRITE] = O_WRONLY | O_CREAT | O_TRUNC,
      [SERVE_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
      [SERVE_UPDATE] = O_RDWR,
  };
  if (r->mode == SERVE_COPY)
    return CALL(SYS_dup2, r->from, r->fd, 0);
  if (r->mode > SERVE_UPDATE)
    return -EINVAL;
  long fd = CALL(SYS_open, path, flags[r->mode], 0666);
  if (fd < 0 || fd == r->fd)
    return fd;
  long rc = CALL(SYS_dup2, fd, r->fd, 0);
  CALL(SYS_close, fd, 0, 0);
  return rc;
}

// Pointers into the place of the server's own strings.
static char *lay_out(ParsedRequest *r, char **list, int n, char *at) {
  for (int i = 0; i < n; i++) {
    const char *s = next_string(r);
    size_t size = length(s) + 1;
    copy(at, s, size);
    list[i] = at;
    at += size;
  }
  return at;
}

static bool set_arguments(ParsedRequest *r) {
  if (r->head->argc != (uint32_t)self.argc ||
      r->head->envc != (uint32_t)self.envc - 1 ||
      r->end - r->strings > self.end - self.strings)
    return false;
  char *at = lay_out(r, self.argv, self.argc, self.strings);
  at = lay_out(r, self.envp, self.envc - 1, at);
  self.envp[self.envc - 1] = NULL;
  clear(at, (size_t)(self.end - at));
  return true;
}

static void fail(uint32_t what, long error, uint32_t which) {
  answer((int)CALL(SYS_getpid, 0, 0, 0), what, error, which);
  CALL(SYS_exit_group, 127, 0, 0);
}

// What an execution by process/spawn.c does, in the same order.
static void become(ParsedRequest *r) {
  CALL(SYS_set_robust_list, self.robust, self.robust_size, 0);
  CALL(SYS_setsid, 0, 0, 0);
  CALL(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
  long rc = CALL(SYS_chdir, next_string(r), 0, 0);
  if (rc < 0)
    fail(SERVE_DIRECTORY, rc, 0);
  for (uint32_t i = 0; i < r->head->nredirects; i++) {
    rc = redirect(&r->redirects[i], next_string(r));
    if (rc < 0)
      fail(SERVE_OPEN, rc, i);
  }
  if (!set_arguments(r))
    fail(SERVE_ROOM, -E2BIG, 0);
  answer((int)CALL(SYS_getpid, 0, 0, 0), SERVE_DONE, 0, 0);
  CALL(SYS_close, SERVE_FD, 0, 0);
}

// --- the server -------------------------------------------------------------

static int count(char **list) {
  int n = 0;
  while (list[n])
    n++;
  return n;
}

static bool is_server(char **envp) {
  static const char wanted[] = SERVE_VARIABLE;
  int n = count(envp);
  if (!n)
    return false;
  for (size_t i = 0; i < sizeof wanted - 1; i++)
    if (envp[n - 1][i] != wanted[i])
      return false;
  return true;
}

static bool know_thyself(int argc, char **argv, char **envp) {
  self.argc = argc;
  self.argv = argv;
  self.envc = count(envp);
  self.envp = envp;
  self.strings = argv[0];
  self.end = envp[self.envc - 1] + length(envp[self.envc - 1]) + 1;
  long got = call6(SYS_get_robust_list, 0, (long)&self.robust,
                   (long)&self.robust_size, 0, 0, 0);
  return !got && argc > 0 && self.end > self.strings &&
         !CALL(SYS_prctl, 40 /* PR_GET_TID_ADDRESS */, &self.tid, 0);
}

static long make_process(void) {
  return call6(SYS_clone,
               CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID |
                   SIGCHLD,
               0, 0, (long)self.tid, 0, 0);
}

__attribute__((constructor)) static void serve(int argc, char **argv,
                                               char **envp) {
  if (!argv || !envp || !is_server(envp) || !know_thyself(argc, argv, envp))
    return;
  ServeHello hello = {SERVE_MAGIC, (int32_t)CALL(SYS_getpid, 0, 0, 0)};
  if (call6(SYS_sendto, SERVE_FD, (long)&hello, sizeof hello, 0x4000, 0, 0) !=
      sizeof hello)
    return;
  ParsedRequest r;
  while (take_message(&r)) {
    long pid = make_process();
    if (pid == 0) {
      become(&r);
      return;
    }
    if (pid < 0)
      answer(-1, SERVE_NO_PROCESS, pid, 0);
  }
  CALL(SYS_exit_group, 0, 0, 0);
}
