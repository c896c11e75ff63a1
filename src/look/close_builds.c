// The close builds of a session's programs: see close_builds.h.
//
// Each is made by a child process, so that it can be given up.
#include "look/close_builds.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/loaded.h"
#include "program/trace_build.h"
#include "runtime/close_name.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { PATIENCE = 50 }; // milliseconds between two questions

// --- which modules are programs ---------------------------------------------

static bool has_interpreter(const Str *image) {
  Elf64_Ehdr h;
  memcpy(&h, image->data, sizeof h);
  for (size_t i = 0; i < h.e_phnum; i++) {
    Elf64_Phdr p;
    size_t at = h.e_phoff + i * sizeof p;
    if (at > image->len || image->len - at < sizeof p)
      return false;
    memcpy(&p, image->data + at, sizeof p);
    if (p.p_type == PT_INTERP)
      return true;
  }
  return false;
}

// A static program that may lie anywhere is taken for a library.
static bool is_program(const char *path) {
  enum { HEAD = 65536 };
  Str image = {0};
  Err ignored;
  Elf64_Ehdr h;
  bool is = !fs_read(path, HEAD, &image, &ignored) && image.len >= sizeof h;
  if (is) {
    memcpy(&h, image.data, sizeof h);
    is = h.e_type == ET_EXEC || has_interpreter(&image);
  }
  str_release(&image);
  return is;
}

// --- one build --------------------------------------------------------------

static void build_in_child(OtherBuild *make, const char *program,
                           const char *cache, int out) {
  TraceBuild b = {0};
  Err err = {0};
  setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL))
    _exit(1);
  if (!make(&b, program, cache, &err))
    _exit(0);
  ssize_t said = write(out, err.text, strlen(err.text));
  _exit(said < 0 ? 2 : 1);
}

// What a builder that was killed has left.
static void remove_unfinished(const char *cache, pid_t pid) {
  char *pattern = mem_printf("%s/*.%ld", cache, (long)pid);
  glob_t found;
  if (!glob(pattern, 0, NULL, &found)) {
    for (size_t i = 0; i < found.gl_pathc; i++)
      fs_remove_tree(found.gl_pathv[i]);
    globfree(&found);
  }
  free(pattern);
}

// Its words, until it is done. False: it took too long.
static bool await(int from, CloseGoOn *go_on, void *context, Str *said) {
  struct pollfd ready = {.fd = from, .events = POLLIN};
  char text[512];
  for (;;) {
    if (!go_on(context))
      return false;
    if (poll(&ready, 1, PATIENCE) <= 0)
      continue;
    ssize_t n = read(from, text, sizeof text);
    if (n <= 0)
      return true;
    str_addn(said, text, (size_t)n);
  }
}

typedef enum { BUILD_DONE, BUILD_FAILED, BUILD_LATE } BuildEnd;

static BuildEnd build(OtherBuild *make, const char *program, const char *cache,
                      CloseGoOn *go_on, void *context, Str *said) {
  int ends[2], status = 1;
  if (pipe2(ends, O_CLOEXEC))
    return BUILD_FAILED;
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0)
    build_in_child(make, program, cache, ends[1]);
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return BUILD_FAILED;
  }
  setpgid(pid, pid);
  bool in_time = await(ends[0], go_on, context, said);
  if (!in_time) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
  }
  waitpid(pid, &status, 0);
  close(ends[0]);
  if (!in_time)
    remove_unfinished(cache, pid);
  return !in_time ? BUILD_LATE : status ? BUILD_FAILED : BUILD_DONE;
}

// --- all of them ------------------------------------------------------------

int close_builds_link(const char *dir, const char *program, const char *build,
                      Err *err) {
  char name[CLOSE_NAME + 1];
  close_name(name, program, strlen(program));
  char *path = mem_printf("%s/%s", dir, name);
  int rc =
      symlink(build, path) ? err_set(err, "%s: %s", path, strerror(errno)) : 0;
  free(path);
  return rc;
}

static int link_build(CloseBuilds *b, const char *program, const char *build,
                      Err *err) {
  int rc = close_builds_link(b->dir, program, build, err);
  hashmap_put(&b->index, program, strlen(program), b->programs.len);
  array_push(&b->programs,
             (CloseProgram){mem_strdup(program), mem_strdup(build)});
  return rc;
}

// It is in the cache.
static int take_build(CloseBuilds *b, const char *program, const char *cache,
                      Err *err) {
  TraceBuild t = {0};
  if (b->make(&t, program, cache, err))
    return -1;
  int rc = link_build(b, program, t.program, err);
  if (t.note)
    array_push(&b->notes, mem_strdup(t.note));
  trace_build_release(&t);
  return rc;
}

static int by_failing(const void *a, const void *b) {
  const SeenModule *x = *(const SeenModule *const *)a;
  const SeenModule *y = *(const SeenModule *const *)b;
  int order = (x->failing < y->failing) - (x->failing > y->failing);
  order = order ? order : (x->runs < y->runs) - (x->runs > y->runs);
  return order ? order : strcmp(x->path, y->path);
}

static int make_one(CloseBuilds *b, const char *program, const char *cache,
                    CloseGoOn *go_on, void *context, Err *err) {
  Str said = {0};
  int rc = 0;
  switch (build(b->make, program, cache, go_on, context, &said)) {
  case BUILD_DONE:
    rc = take_build(b, program, cache, err);
    break;
  case BUILD_FAILED:
    array_push(&b->notes,
               mem_printf("%s %s: %s", b->purpose, program,
                          said.len ? said.data : "it cannot be built again"));
    break;
  case BUILD_LATE:
    b->cut = true;
  }
  str_release(&said);
  return rc;
}

// The directories of the libraries that tests loaded: a script may have said
// where they are, as libtool's do.
static char *library_directories(const SeenModule *modules, size_t n) {
  Str out = {0};
  for (size_t i = 0; i < n; i++) {
    const char *path = modules[i].path, *slash = strrchr(path, '/');
    if (slash && !is_program(path))
      str_addf(&out, "%s%.*s", out.len ? ":" : "", (int)(slash - path), path);
  }
  return out.len ? str_take(&out) : NULL;
}

int close_builds_make(CloseBuilds *b, const SeenModule *modules, size_t n,
                      const char *cache, const char *dir, CloseGoOn *go_on,
                      void *context, Err *err) {
  ARRAY(const SeenModule *) order = {0};
  int rc = fs_mkdirs(dir, err);
  b->dir = mem_strdup(dir);
  for (size_t i = 0; i < n; i++)
    if (is_program(modules[i].path))
      array_push(&order, &modules[i]);
  char *libraries = library_directories(modules, n);
  loaded_search(libraries);
  if (order.len)
    qsort(order.items, order.len, sizeof *order.items, by_failing);
  for (size_t i = 0; !rc && !b->cut && i < order.len; i++) {
    b->now = order.items[i];
    rc = make_one(b, b->now->path, cache, go_on, context, err);
  }
  b->now = NULL;
  loaded_search(NULL);
  free(libraries);
  array_release(&order);
  return rc;
}

void close_builds_release(CloseBuilds *b) {
  for (size_t i = 0; i < b->programs.len; i++) {
    free(b->programs.items[i].program);
    free(b->programs.items[i].build);
  }
  for (size_t i = 0; i < b->notes.len; i++)
    free(b->notes.items[i]);
  array_release(&b->programs);
  array_release(&b->notes);
  hashmap_release(&b->index);
  free(b->dir);
  *b = (CloseBuilds){0};
}

const char *close_builds_of(const CloseBuilds *b, const char *program) {
  uint64_t at;
  return hashmap_get(&b->index, program, strlen(program), &at)
             ? b->programs.items[at].build
             : NULL;
}

bool close_builds_has(const CloseBuilds *b, const char *module) {
  for (size_t i = 0; i < b->programs.len; i++)
    if (!strcmp(b->programs.items[i].build, module))
      return true;
  return false;
}
