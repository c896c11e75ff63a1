// The tests file: see testfile.h.
#include "run/testfile.h"

#include <string.h>

#include "process/words.h"
#include "util/array.h"
#include "util/fs.h"

typedef ARRAY(Test) Tests;

static int check_line(const char *path, size_t number, const char *line,
                      size_t n, Err *err) {
  if (memchr(line, '\0', n))
    return err_set(
        err,
        "%s:%zu: the line contains a NUL byte; a tests file is text, "
        "one test per line",
        path, number);
  if (n > TEST_LINE_MAX)
    return err_set(err,
                   "%s:%zu: the line has %zu bytes, the limit is %d; put long "
                   "input into a file and redirect it (< FILE)",
                   path, number, n, TEST_LINE_MAX);
  return 0;
}

static bool is_test(const char *line) {
  line += strspn(line, " \t\r\v\f");
  return *line && *line != '#';
}

int testfile_parse(Testfile *f, const char *path, const char *text, size_t size,
                   const char *prefix, Err *err) {
  Tests tests = {0};
  const char *end = text + size;
  int rc = 0;
  for (unsigned number = 1; !rc && text < end; number++) {
    const char *eol = memchr(text, '\n', (size_t)(end - text));
    size_t n = (size_t)((eol ? eol : end) - text);
    rc = check_line(path, number, text, n, err);
    if (!rc) {
      char *line = arena_strndup(&f->arena, text, n);
      char *name = arena_printf(&f->arena, "%s%u", prefix, number);
      if (is_test(line))
        array_push(&tests, (Test){name, number, line, NULL});
    }
    text += n + 1;
  }
  if (!rc && !tests.len)
    rc = err_set(err,
                 "%s: no test in it; every line that is not blank and "
                 "does not start with # is one",
                 path);
  f->ntests = tests.len;
  f->tests = arena_adopt(&f->arena, &tests);
  return rc;
}

int testfile_read(Testfile *f, const char *path, const char *prefix, Err *err) {
  Str text = {0};
  int rc = fs_read(path, 0, &text, err);
  if (rc)
    err_prefix(err, "tests file");
  else
    rc = testfile_parse(f, path, str_text(&text), text.len, prefix, err);
  str_release(&text);
  return rc;
}

void testfile_release(Testfile *f) {
  arena_release(&f->arena);
  *f = (Testfile){0};
}

char *path_lookup(const char *name, Arena *arena) {
  if (strchr(name, '/'))
    return arena_strdup(arena, name);
  const char *path = getenv("PATH");
  for (const char *p = path ? path : "/usr/bin:/bin"; *name; p++) {
    size_t n = strcspn(p, ":");
    char *full = n ? arena_printf(arena, "%.*s/%s", (int)n, p, name)
                   : arena_printf(arena, "./%s", name);
    if (fs_executable(full))
      return full;
    p += n;
    if (!*p)
      break;
  }
  return NULL;
}

static char **prepend(char *first, char *const *argv, size_t argc,
                      Arena *arena) {
  char **all = arena_array(arena, char *, argc + 2);
  all[0] = first;
  memcpy(all + 1, argv, argc * sizeof *argv);
  return all;
}

// Fills `out` if the line needs no shell.
static bool prepare_directly(const Test *t, const char *exe, Arena *arena,
                             Spawn *out) {
  Words w;
  if (!words_parse(&w, t->line, arena))
    return false;
  if (exe) {
    out->path = arena_strdup(arena, exe);
    out->argv = prepend(arena_strdup(arena, exe), w.argv, w.argc, arena);
  } else {
    if (!w.argc || words_is_shell_command(w.argv[0]))
      return false;
    out->path = path_lookup(w.argv[0], arena);
    out->argv = w.argv;
    if (!out->path) // sh may know better, and says it as users are used to
      return false;
  }
  out->redirects = w.redirects;
  out->nredirects = w.nredirects;
  return true;
}

void spawn_shell(Spawn *out, const char *text, Arena *arena) {
  char **argv = arena_array(arena, char *, 4);
  argv[0] = "sh";
  argv[1] = "-c";
  argv[2] = arena_strdup(arena, text);
  out->path = "/bin/sh";
  out->argv = argv;
  out->redirects = NULL;
  out->nredirects = 0;
}

void test_prepare(const Test *t, const char *exe, Arena *arena, Spawn *out) {
  out->redirects = NULL;
  out->nredirects = 0;
  if (!t->line) {
    const char *found = path_lookup(t->argv[0], arena);
    out->path = found ? found : t->argv[0];
    out->argv = t->argv;
    out->redirects = t->redirects;
    out->nredirects = t->nredirects;
    return;
  }
  if (!prepare_directly(t, exe, arena, out))
    spawn_shell(out, test_command(t, exe, arena), arena);
}

char *test_command(const Test *t, const char *exe, Arena *arena) {
  Str s = {0};
  if (!t->line) {
    words_quote_all(&s, t->argv);
  } else {
    if (exe) {
      words_quote(&s, exe);
      str_addc(&s, ' ');
    }
    str_add(&s, t->line);
  }
  return arena_take(arena, &s);
}

char **test_environment(const Test *t, char **env, Arena *arena) {
  size_t n = 0, own = 0;
  if (!t->env)
    return env;
  while (env[n])
    n++;
  while (t->env[own])
    own++;
  char **all = arena_array(arena, char *, own + n + 1);
  memcpy(all, t->env, own * sizeof *all);
  memcpy(all + own, env, n * sizeof *all);
  return all;
}
