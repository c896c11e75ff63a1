// Starts one process: see spawn.h.
//
// The child runs child_main on a stack of its own, in our memory, while we are
// suspended. It may only make system calls and write into its Child, which is
// how it tells us what went wrong.
#include "run/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mem.h"

enum { STACK = 65536 };

typedef struct {
  const Spawn *spawn;
  Streams streams;
  const sigset_t *mask;
  int error;         // 0: it executes
  const char *doing; // what failed
  const char *path;  // with which file
} Child;

static int failed(Child *c, const char *doing, const char *path) {
  c->error = errno;
  c->doing = doing;
  c->path = path;
  return -1;
}

static int open_redirect(Child *c, const Redirect *r) {
  static const int flags[] = {
      [REDIRECT_READ] = O_RDONLY,
      [REDIRECT_WRITE] = O_WRONLY | O_CREAT | O_TRUNC,
      [REDIRECT_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
  };
  if (r->mode == REDIRECT_DUP)
    return dup2(r->from, r->fd) < 0 ? failed(c, "copy a stream for", "") : 0;
  int fd = open(r->path, flags[r->mode], 0666);
  if (fd < 0)
    return failed(c, "open", r->path);
  if (fd != r->fd) {
    dup2(fd, r->fd);
    close(fd);
  }
  return 0;
}

static int set_streams(Child *c) {
  const int fds[] = {c->streams.in, c->streams.out, c->streams.err};
  for (int i = 0; i < 3; i++)
    if (fds[i] >= 0 && dup2(fds[i], i) < 0)
      return failed(c, "set up the streams of", c->spawn->path);
  for (size_t i = 0; i < c->spawn->nredirects; i++)
    if (open_redirect(c, &c->spawn->redirects[i]))
      return -1;
  return 0;
}

static int child_main(void *arg) {
  Child *c = arg;
  const Spawn *s = c->spawn;
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL); // should we be killed ourselves
  if (s->cwd && chdir(s->cwd))
    failed(c, "change to the directory", s->cwd);
  else if (!set_streams(c)) {
    sigprocmask(SIG_SETMASK, c->mask, NULL);
    execve(s->path, s->argv, s->env);
    failed(c, "execute", s->path);
  }
  _exit(127);
}

static pid_t start(Child *c) {
  alignas(16) static char stack[STACK]; // one child at a time: we wait for it
  c->error = 0;
  pid_t pid = clone(child_main, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
                    c);
  if (pid > 0 && c->error)
    waitpid(pid, NULL, 0);
  return pid;
}

// A script without #! is the shell's, as with execvp.
static pid_t start_script(Child *c) {
  const Spawn *plain = c->spawn;
  size_t argc = 0;
  while (plain->argv[argc])
    argc++;
  char **argv = mem_array(char *, argc + 2);
  argv[0] = "sh";
  argv[1] = (char *)plain->path;
  for (size_t i = 1; i < argc; i++)
    argv[i + 1] = plain->argv[i];
  Spawn shell = *plain;
  shell.path = "/bin/sh";
  shell.argv = argv;
  c->spawn = &shell;
  pid_t pid = start(c);
  c->spawn = plain;
  free(argv);
  return pid;
}

pid_t spawn_process(const Spawn *s, Streams streams, const sigset_t *mask,
                    char *problem, size_t size) {
  Child c = {.spawn = s, .streams = streams, .mask = mask};
  pid_t pid = start(&c);
  if (pid > 0 && c.error == ENOEXEC)
    pid = start_script(&c);
  if (pid > 0 && !c.error)
    return pid;
  if (pid < 0) {
    int saved = errno == ENOMEM ? EAGAIN : errno;
    snprintf(problem, size, "cannot make a process: %s", strerror(errno));
    errno = saved;
    return -1;
  }
  snprintf(problem, size, "cannot %s %s: %s", c.doing, c.path,
           strerror(c.error));
  errno = c.error == EAGAIN ? EAGAIN : ENOENT;
  return -1;
}
