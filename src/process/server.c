// Fork servers: see server.h.
#include "process/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/loadable.h"
#include "runtime/server_format.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  ROOM = 32768,   // bytes for strings that are longer than the server's own
  GREETING_S = 5, // seconds in which a server must say hello
};

struct Server {
  char *path;
  bool unusable; // such a program cannot be served
  int control;
  pid_t pid;
  size_t argc, envc;
  size_t room;    // bytes for arguments and environment
  char **linking; // variables that the dynamic linker looks at
  const Confine *confine;
  unsigned generation; // of its view
};

// --- texts ------------------------------------------------------------------

static size_t count(char *const *list) {
  size_t n = 0;
  while (list[n])
    n++;
  return n;
}

static size_t bytes(char *const *list) {
  size_t n = 0;
  for (; *list; list++)
    n += strlen(*list) + 1;
  return n;
}

// Read before the program runs: the server's values would count.
static bool is_linking(const char *entry) {
  return text_starts(entry, "LD_") || text_starts(entry, "GLIBC_") ||
         text_starts(entry, "MALLOC_");
}

// Those of `env`, in order. Caller frees the list and each of it.
static char **linking_of(char *const *env) {
  char **list = mem_array(char *, count(env) + 1);
  size_t n = 0;
  for (; *env; env++)
    if (is_linking(*env))
      list[n++] = mem_strdup(*env);
  return list;
}

static bool same_linking(char *const *linking, char *const *env) {
  for (; *env; env++)
    if (is_linking(*env) && (!*linking || strcmp(*linking++, *env) != 0))
      return false;
  return !*linking;
}

static bool has_preload(char *const *env) {
  for (; *env; env++)
    if (text_starts(*env, SERVE_VARIABLE))
      return true;
  return false;
}

// --- one server -------------------------------------------------------------

static void server_free(Server *s) {
  if (!s)
    return;
  if (s->control >= 0)
    close(s->control); // the server ends at that
  for (char **p = s->linking; p && *p; p++)
    free(*p);
  free(s->linking);
  free(s->path);
  free(s);
}

static unsigned generation_of(const Spawn *spawn) {
  return spawn->confine ? confine_generation(spawn->confine) : 0;
}

static bool fits(const Server *s, const Spawn *spawn) {
  return count(spawn->argv) == s->argc && count(spawn->env) == s->envc &&
         bytes(spawn->argv) + bytes(spawn->env) <= s->room &&
         same_linking(s->linking, spawn->env) && s->confine == spawn->confine &&
         s->generation == generation_of(spawn);
}

// The environment with LD_PRELOAD last. Caller frees list and last entry.
static char **preloading(char *const *env, const char *library) {
  size_t n = count(env);
  char **list = mem_array(char *, n + 2);
  memcpy(list, env, n * sizeof *env);
  list[n] = mem_printf(SERVE_VARIABLE "%s%*s", library, ROOM, "");
  return list;
}

// In time, or never.
static bool is_greeted(int control) {
  ServeHello hello = {0};
  struct timeval limit = {.tv_sec = GREETING_S};
  setsockopt(control, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ssize_t n = recv(control, &hello, sizeof hello, 0);
  limit.tv_sec = 0; // none: a named pipe may keep a request waiting
  setsockopt(control, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return n == sizeof hello && hello.magic == SERVE_MAGIC;
}

// Leaves s->pid at 0 if it could not be started.
static void launch_server(Server *s, const Servers *all, const Spawn *spawn,
                          ServerLaunch *launch, void *context) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
    return;
  char **env = preloading(spawn->env, all->library);
  Spawn own = {.path = spawn->path,
               .argv = spawn->argv,
               .env = env,
               .cwd = spawn->cwd,
               .confine = spawn->confine};
  pid_t pid = launch(context, &own, all->null, ends[1]);
  close(ends[1]);
  if (pid > 0) {
    s->pid = pid;
    s->control = ends[0];
  } else {
    close(ends[0]);
  }
  free(env[count(spawn->env)]);
  free(env);
}

static void give_up(Server *s) {
  kill(s->pid, SIGKILL);
  s->unusable = true;
}

// Always makes one: it may be unusable.
static Server *server_new(const Servers *all, const Spawn *spawn,
                          ServerLaunch *launch, void *context) {
  Server *s = mem_new(Server);
  s->path = mem_strdup(spawn->path);
  s->control = -1;
  s->argc = count(spawn->argv);
  s->envc = count(spawn->env);
  s->room = bytes(spawn->argv) + bytes(spawn->env) + ROOM;
  s->linking = linking_of(spawn->env);
  s->confine = spawn->confine;
  s->generation = generation_of(spawn);
  s->unusable = !loadable_with_preload(spawn->path);
  if (!s->unusable)
    launch_server(s, all, spawn, launch, context);
  if (s->pid && !is_greeted(s->control))
    give_up(s);
  s->unusable |= !s->pid;
  return s;
}

// --- all of them ------------------------------------------------------------

static char *find_library(void) {
  char *path = path_of_part("culprit-server.so");
  // A blank or colon would end its name.
  if (fs_exists(path) && !strpbrk(path, " :"))
    return path;
  free(path);
  return NULL;
}

void servers_open(Servers *s) {
  *s = (Servers){.library = find_library()};
  s->null = open("/dev/null", O_RDWR | O_CLOEXEC);
}

static void drop(Servers *s, size_t place) {
  server_free(s->list[place]);
  s->list[place] = NULL;
}

void servers_close(Servers *s) {
  for (size_t i = 0; i < SERVERS_MAX; i++) {
    pid_t pid = s->list[i] ? s->list[i]->pid : 0;
    drop(s, i);
    if (pid > 0)
      waitpid(pid, NULL, 0);
  }
  if (s->null >= 0)
    close(s->null);
  free(s->library);
}

// The place of the program's server, or one for it.
static size_t place_for(Servers *s, const char *path) {
  for (size_t i = 0; i < SERVERS_MAX; i++)
    if (s->list[i] && !strcmp(s->list[i]->path, path))
      return i;
  for (size_t i = 0; i < SERVERS_MAX; i++)
    if (!s->list[i])
      return i;
  return s->next++ % SERVERS_MAX;
}

static Server *server_for(Servers *s, const Spawn *spawn, ServerLaunch *launch,
                          void *context) {
  size_t place = place_for(s, spawn->path);
  Server *old = s->list[place];
  if (old && !strcmp(old->path, spawn->path) &&
      (old->unusable || fits(old, spawn)))
    return old;
  drop(s, place); // it ends by itself, and is reaped like any orphan
  return s->list[place] = server_new(s, spawn, launch, context);
}

// --- a request --------------------------------------------------------------

static void add_string(Str *m, const char *s) { str_addn(m, s, strlen(s) + 1); }

static void add_redirect(Str *m, uint32_t mode, int fd, int from) {
  ServeRedirect r = {.mode = mode, .fd = fd, .from = from};
  str_addn(m, (const char *)&r, sizeof r);
}

static void add_strings(Str *m, char *const *list) {
  for (; *list; list++)
    add_string(m, *list);
}

// The standard streams, then what the test redirects itself.
static void make_request(const Spawn *spawn, Str *m) {
  ServeRequest head = {.magic = SERVE_MAGIC,
                       .argc = (uint32_t)count(spawn->argv),
                       .envc = (uint32_t)count(spawn->env),
                       .nredirects = (uint32_t)spawn->nredirects + 3};
  str_addn(m, (const char *)&head, sizeof head);
  add_redirect(m, SERVE_READ, STDIN_FILENO, 0);
  add_redirect(m, SERVE_UPDATE, STDOUT_FILENO, 0);
  add_redirect(m, SERVE_UPDATE, STDERR_FILENO, 0);
  for (size_t i = 0; i < spawn->nredirects; i++)
    add_redirect(m, (uint32_t)spawn->redirects[i].mode, spawn->redirects[i].fd,
                 spawn->redirects[i].from);
  add_string(m, spawn->cwd);
  add_string(m, "/dev/null");
  add_string(m, spawn->out);
  add_string(m, spawn->err);
  for (size_t i = 0; i < spawn->nredirects; i++)
    add_string(m, spawn->redirects[i].path ? spawn->redirects[i].path : "");
  add_strings(m, spawn->argv);
  add_strings(m, spawn->env);
}

static void set_problem(StartAnswer *to, const ServeAnswer *from,
                        const Spawn *spawn) {
  const char *what = strerror(from->error);
  const char *file = "";
  size_t own = from->which >= 3 ? from->which - 3 : spawn->nredirects;
  if (own < spawn->nredirects && spawn->redirects[own].path)
    file = spawn->redirects[own].path;
  to->try_again = from->error == EAGAIN ||
                  (from->what == SERVE_NO_PROCESS && from->error == ENOMEM);
  if (from->what == SERVE_NO_PROCESS)
    snprintf(to->problem, sizeof to->problem, "cannot create a process: %s",
             what);
  else if (from->what == SERVE_DIRECTORY)
    snprintf(to->problem, sizeof to->problem,
             "cannot change to the directory %s: %s", spawn->cwd, what);
  else
    snprintf(to->problem, sizeof to->problem, "cannot open %s: %s", file, what);
}

static bool ask(const Server *server, const Spawn *spawn, ServeAnswer *a) {
  Str m = {0};
  make_request(spawn, &m);
  bool good =
      m.len <= SERVE_MESSAGE_MAX &&
      send(server->control, m.data, m.len, MSG_NOSIGNAL) == (ssize_t)m.len &&
      recv(server->control, a, sizeof *a, 0) == sizeof *a;
  str_release(&m);
  return good;
}

// Absolute names only: the new process is somewhere else.
static bool can_ask(const Servers *s, const Spawn *spawn) {
  return s->library && s->null >= 0 && spawn->cwd && spawn->out &&
         *spawn->out == '/' && spawn->err && *spawn->err == '/' &&
         *spawn->path == '/' && !has_preload(spawn->env);
}

bool servers_start(Servers *s, const Spawn *spawn, ServerLaunch *launch,
                   void *context, StartAnswer *answer) {
  if (!can_ask(s, spawn))
    return false;
  Server *server = server_for(s, spawn, launch, context);
  ServeAnswer a;
  if (server->unusable || !fits(server, spawn))
    return false;
  if (!ask(server, spawn, &a)) {
    give_up(server);
    return false;
  }
  *answer = (StartAnswer){.pid = a.what == SERVE_DONE ? a.pid : -1};
  if (a.what == SERVE_DONE)
    return true;
  if (a.pid > 0)
    waitpid(a.pid, NULL, 0);
  set_problem(answer, &a, spawn);
  return a.what != SERVE_ROOM;
}
