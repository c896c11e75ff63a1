// How make started a log driver: see driver_context.h.
//
//   "FDS\0ARGC\0CWD\0ARG\0...\0NAME=value\0..."
#include "adapter/driver_context.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/spool.h"
#include "util/mem.h"

enum { FD_FIRST = 3, FD_LAST = 9 }; // what a shell can name

static void put(Str *out, const char *text) {
  str_addn(out, text, strlen(text) + 1);
}

static unsigned open_files(void) {
  unsigned set = 0;
  for (int fd = FD_FIRST; fd <= FD_LAST; fd++) {
    int flags = fcntl(fd, F_GETFD);
    set |= flags >= 0 && !(flags & FD_CLOEXEC) ? 1u << fd : 0;
  }
  return set;
}

// Not what makes a process one of this make's.
static bool is_kept(const char *variable) {
  static const char *const others[] = {
      "MAKEFLAGS=", "MFLAGS=", "MAKELEVEL=", SPOOL_ENV "=", NULL};
  for (size_t i = 0; others[i]; i++)
    if (text_starts(variable, others[i]))
      return false;
  return true;
}

void driver_context_write(char *const *argv, Str *out) {
  extern char **environ;
  char *cwd = getcwd(NULL, 0);
  size_t argc = 0;
  while (argv[argc])
    argc++;
  str_addf(out, "%u", open_files());
  str_addc(out, '\0');
  str_addf(out, "%zu", argc);
  str_addc(out, '\0');
  put(out, cwd ? cwd : "/");
  for (size_t i = 0; i < argc; i++)
    put(out, argv[i]);
  for (char **e = environ; *e; e++)
    if (is_kept(*e))
      put(out, *e);
  free(cwd);
}

static void add_redirects(DriverContext *c, unsigned set, Arena *arena) {
  c->redirects = arena_array(arena, Redirect, FD_LAST + 1);
  for (int fd = FD_FIRST; fd <= FD_LAST; fd++)
    if (set & 1u << fd)
      c->redirects[c->nredirects++] =
          (Redirect){.mode = REDIRECT_WRITE, .fd = fd, .path = "/dev/null"};
}

bool driver_context_read(DriverContext *c, const char *text, size_t size,
                         Arena *arena) {
  WordList words = {0};
  *c = (DriverContext){0};
  for (const char *at = text, *end = text + size; at < end;) {
    size_t n = strnlen(at, (size_t)(end - at));
    array_push(&words, arena_strndup(arena, at, n));
    at += n + 1;
  }
  size_t argc = words.len > 1 ? strtoul(words.items[1], NULL, 10) : 0;
  bool good = size && !text[size - 1] && argc && words.len >= 3 + argc;
  if (good) {
    size_t nenv = words.len - 3 - argc;
    add_redirects(c, (unsigned)strtoul(words.items[0], NULL, 10), arena);
    c->cwd = words.items[2];
    c->argv = arena_array(arena, char *, argc + 1);
    memcpy(c->argv, words.items + 3, argc * sizeof *c->argv);
    c->env = arena_array(arena, char *, nenv + 1);
    if (nenv)
      memcpy(c->env, words.items + 3 + argc, nenv * sizeof *c->env);
  }
  array_release(&words);
  return good;
}
