// Splits programs that hold many tests: see split.h.
#include "adapter/split.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/libtool.h"
#include "adapter/suites.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"

enum { LIST_MAX = 16 << 20 }; // bytes of names

static const char LIST[] = "CULPRIT_UNIT_LIST";

// Does the program understand the variable?
static bool holds_units(const Test *t, const char *cwd) {
  if (t->line || !strchr(t->argv[0], '/'))
    return false;
  Arena arena = {0};
  Libtool wrapper;
  char *named = path_absolute(t->argv[0], t->cwd ? t->cwd : cwd);
  const char *path =
      libtool_read(&wrapper, named, &arena) ? wrapper.program : named;
  Str image = {0};
  Err ignored;
  bool holds = fs_executable(path) && !fs_read(path, 0, &image, &ignored) &&
               image.len > 4 && !memcmp(image.data, "\177ELF", 4) &&
               memmem(image.data, image.len, LIST, sizeof LIST);
  str_release(&image);
  free(named);
  arena_release(&arena);
  return holds;
}

// The names of its tests, a line each, in `names`.
static void ask(const Test *t, const char *cwd, const char *scratch,
                Str *names) {
  WordList argv = {0};
  Str said = {0};
  Err ignored;
  char *file = mem_printf("%s/units", scratch);
  char *variable = mem_printf("%s=%s", LIST, file);
  array_push(&argv, "env");
  if (t->env)
    array_push_all(&argv, t->env);
  array_push(&argv, variable);
  array_push_all(&argv, t->argv);
  array_push(&argv, NULL);
  unlink(file);
  if (!suite_capture(t->cwd ? t->cwd : cwd, argv.items, &said))
    fs_read_regular(file, LIST_MAX, names, &ignored);
  unlink(file);
  str_release(&said);
  array_release(&argv);
  free(variable);
  free(file);
}

static char **with_variable(char *const *env, char *variable, Arena *arena) {
  size_t n = 0;
  while (env && env[n])
    n++;
  char **all = arena_array(arena, char *, n + 2);
  if (n)
    memcpy(all, env, n * sizeof *all);
  all[n] = variable;
  return all;
}

static void add_unit(TestList *out, const Test *whole, const char *unit,
                     bool only_one) {
  Arena *a = &out->arena;
  const char *name =
      only_one ? unit : arena_printf(a, "%s/%s", whole->name, unit);
  char *variable = arena_printf(a, "CULPRIT_UNIT_ONLY=%s", unit);
  Test *t = list_add(out, name, whole->argv);
  t->env = with_variable(whole->env, variable, a);
  t->cwd = whole->cwd;
  t->rules = whole->rules;
  t->alone = whole->alone;
}

// False: it has none.
static bool split_one(const Test *t, const char *cwd, const char *scratch,
                      bool only_one, TestList *out) {
  Str names = {0};
  Hashmap seen = {0};
  ask(t, cwd, scratch, &names);
  for (char *line = names.data; line && *line;) {
    size_t n = strcspn(line, "\n");
    char *next = line + n + (line[n] == '\n');
    line[n] = '\0';
    if (n && hashmap_intern(&seen, line, n, out->tests.len) == out->tests.len)
      add_unit(out, t, line, only_one);
    line = next;
  }
  bool any = seen.len > 0;
  hashmap_release(&seen);
  str_release(&names);
  return any;
}

void split_units(const Test *tests, size_t n, const char *cwd,
                 const char *scratch, bool only_one, TestList *out) {
  for (size_t i = 0; i < n; i++)
    if (!holds_units(&tests[i], cwd) ||
        !split_one(&tests[i], cwd, scratch, only_one, out))
      array_push(&out->tests, tests[i]);
}
