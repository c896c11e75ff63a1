// Starts processes: see spawn.h.
//
// The child runs child_main on a stack of its own, in our memory, while the
// starter's thread is suspended. It may only make system calls and write into
// its SpawnedChild, which is how it reports what went wrong.
#include "process/spawn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/server.h"
#include "runtime/server_format.h"
#include "util/mem.h"

enum { CHILD_STACK = 65536, THREAD_STACK = 262144 };

struct Starter {
  pthread_t thread;
  sem_t asked;
  atomic_bool answered;
  bool quit;
  int bell;
  sigset_t mask;
  const Spawn *spawn;
  Streams streams;
  StartAnswer answer;
  char *stack; // of the child
  Servers servers;
};

// --- the child --------------------------------------------------------------

typedef struct {
  const Spawn *spawn;
  Streams streams;
  const sigset_t *mask;
  int error;         // 0: it executes
  const char *doing; // what failed
  const char *path;  // with which file
} SpawnedChild;

static int failed(SpawnedChild *c, const char *doing, const char *path) {
  c->error = errno;
  c->doing = doing;
  c->path = path;
  return -1;
}

static int open_redirect(SpawnedChild *c, const Redirect *r) {
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

static int pass_control(int fd) {
  return fd == SERVE_FD ? fcntl(fd, F_SETFD, 0) : dup2(fd, SERVE_FD);
}

static int set_streams(SpawnedChild *c) {
  const int fds[] = {c->streams.in, c->streams.out, c->streams.err};
  for (int i = 0; i < 3; i++)
    if (fds[i] >= 0 && dup2(fds[i], i) < 0)
      return failed(c, "set up the streams of", c->spawn->path);
  if (c->streams.control >= 0 && pass_control(c->streams.control) < 0)
    return failed(c, "set up the streams of", c->spawn->path);
  for (size_t i = 0; i < c->spawn->nredirects; i++)
    if (open_redirect(c, &c->spawn->redirects[i]))
      return -1;
  return 0;
}

static int child_main(void *arg) {
  SpawnedChild *c = arg;
  const Spawn *s = c->spawn;
  setsid();
  if (s->confine && confine_enter(s->confine)) {
    failed(c, "confine", s->path);
    _exit(127);
  }
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

// --- starting it ------------------------------------------------------------

static pid_t start(const Starter *s, SpawnedChild *c) {
  c->error = 0;
  pid_t pid = clone(child_main, s->stack + CHILD_STACK,
                    CLONE_VM | CLONE_VFORK | SIGCHLD, c);
  if (pid > 0 && c->error)
    waitpid(pid, NULL, 0);
  return pid;
}

// A script without #! is the shell's, as with execvp.
static pid_t start_script(const Starter *s, SpawnedChild *c) {
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
  pid_t pid = start(s, c);
  c->spawn = plain;
  free(argv);
  return pid;
}

static pid_t launch_server(void *context, const Spawn *spawn, int null,
                           int control) {
  const Starter *s = context;
  SpawnedChild c = {
      .spawn = spawn, .streams = {null, null, null, control}, .mask = &s->mask};
  pid_t pid = start(s, &c);
  return pid > 0 && !c.error ? pid : -1;
}

static void do_start(Starter *s) {
  StartAnswer *a = &s->answer;
  if (s->spawn->serve &&
      servers_start(&s->servers, s->spawn, launch_server, s, a))
    return;
  SpawnedChild c = {.spawn = s->spawn, .streams = s->streams, .mask = &s->mask};
  pid_t pid = start(s, &c);
  if (pid > 0 && c.error == ENOEXEC)
    pid = start_script(s, &c);
  *a = (StartAnswer){.pid = pid > 0 && !c.error ? pid : -1};
  int error = pid < 0 ? errno : c.error;
  a->try_again = error == EAGAIN || (pid < 0 && error == ENOMEM);
  if (pid < 0)
    snprintf(a->problem, sizeof a->problem, "cannot create a process: %s",
             strerror(error));
  else if (error)
    snprintf(a->problem, sizeof a->problem, "cannot %s %s: %s", c.doing, c.path,
             strerror(error));
}

// --- the thread -------------------------------------------------------------

static void *starter_main(void *arg) {
  Starter *s = arg;
  for (;;) {
    while (sem_wait(&s->asked))
      ;
    if (s->quit)
      return NULL;
    do_start(s);
    atomic_store(&s->answered, true);
    eventfd_write(s->bell, 1);
  }
}

static void release(Starter *s) {
  servers_close(&s->servers);
  sem_destroy(&s->asked);
  free(s->stack);
  free(s);
}

Starter *starter_new(int bell, const sigset_t *mask) {
  Starter *s = mem_new(Starter);
  s->bell = bell;
  s->mask = *mask;
  s->stack = mem_alloc(CHILD_STACK);
  servers_open(&s->servers);
  sem_init(&s->asked, 0, 0);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, THREAD_STACK);
  int failure = pthread_create(&s->thread, &attr, starter_main, s);
  pthread_attr_destroy(&attr);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!failure)
    return s;
  release(s);
  return NULL;
}

void starter_free(Starter *s) {
  if (!s)
    return;
  s->quit = true;
  sem_post(&s->asked);
  pthread_join(s->thread, NULL);
  release(s);
}

void starter_ask(Starter *s, const Spawn *spawn, Streams streams) {
  assert(!atomic_load(&s->answered));
  s->spawn = spawn;
  s->streams = streams;
  sem_post(&s->asked);
}

bool starter_take(Starter *s, StartAnswer *answer) {
  if (!atomic_load(&s->answered))
    return false;
  *answer = s->answer;
  atomic_store(&s->answered, false);
  return true;
}
