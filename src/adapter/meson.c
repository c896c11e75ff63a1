// The adapter `meson`: the tests of a Meson build directory, one by one.
//
// Meson leaves a list of them in meson-info/intro-tests.json; we run their
// commands ourselves. Their protocol decides: exitcode (77 is skipped, 99 an
// error) or tap. What the list does not tell is which tests are expected to
// fail (should_fail): meson's own Python knows, and is asked.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/adapter.h"
#include "adapter/suites.h"
#include "adapter/switches.h"
#include "util/capture.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"

static const char LIST[] = "meson-info/intro-tests.json";

// --- finding out ------------------------------------------------------------

bool meson_detect(const RunOptions *o) {
  if (o->command && !command_is(o->command, "meson", "test") &&
      !command_is(o->command, "ninja", "test"))
    return false;
  char *dir = suite_dir(o);
  bool yes = dir_has(dir, LIST);
  free(dir);
  return yes;
}

// --- expected failures ------------------------------------------------------

static const char ASK[] =
    "import pickle, sys\n"
    "for t in pickle.load(open('meson-private/meson_test_setup.dat', 'rb')):\n"
    "    if t.should_fail: print(t.name)\n";

// The Python that runs meson: what its own first line names. Memory: arena.
static char *meson_python(Arena *arena) {
  char *meson = path_lookup("meson", arena);
  Str head = {0};
  Err ignored;
  char *python = NULL;
  if (meson && !fs_read(meson, 256, &head, &ignored) &&
      text_starts(str_text(&head), "#!")) {
    const char *start = head.data + 2 + strspn(head.data + 2, " \t");
    python = arena_strndup(arena, start, strcspn(start, " \t\r\n"));
  }
  str_release(&head);
  bool usable = python && strstr(python, "python") && fs_executable(python);
  return usable ? python : "python3";
}

// The names of tests that are expected to fail. If meson cannot be asked, the
// user learns that these count as failures.
static void find_expected(Runner *r, const char *dir, Hashmap *names) {
  Arena arena = {0};
  Str text = {0};
  char *argv[] = {meson_python(&arena), "-c", (char *)ASK, NULL};
  int status = suite_capture(dir, argv, &text);
  arena_release(&arena);
  if (status) {
    err_set(&r->warning, "cannot tell which tests are expected to fail "
                         "(should_fail), because Python cannot load Meson "
                         "here; they count as failures");
    str_release(&text);
    return;
  }
  for (const char *line = str_text(&text); *line;) {
    size_t n = strcspn(line, "\n");
    hashmap_put(names, line, n, 1);
    line += n + (line[n] == '\n');
  }
  str_release(&text);
}

// --- the list ---------------------------------------------------------------

static char **environment_of(const json_t *env, Arena *arena) {
  char **words = arena_array(arena, char *, json_object_size(env) + 1);
  size_t n = 0;
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)env, name, value) {
    if (json_is_string(value))
      words[n++] = arena_printf(arena, "%s=%s", name, json_string_value(value));
  }
  return words;
}

// "project:suite / name": Meson's names are not unique across suites.
static char *unique_name(const json_t *test, const char *name, Hashmap *seen,
                         Arena *arena) {
  char *full = arena_strdup(arena, name);
  uint64_t before = 0;
  hashmap_get(seen, name, strlen(name), &before);
  hashmap_put(seen, name, strlen(name), before + 1);
  const char *suite =
      json_string_value(json_array_get(json_object_get(test, "suite"), 0));
  if (before)
    full = arena_printf(arena, "%s / %s (%d)", suite ? suite : "", name,
                        (int)before + 1);
  return full;
}

static void add_test(TestList *l, const json_t *test, Hashmap *seen,
                     const Hashmap *expected) {
  const char *name = json_string_value(json_object_get(test, "name"));
  const char *protocol = json_string_value(json_object_get(test, "protocol"));
  const char *cwd = json_string_value(json_object_get(test, "workdir"));
  char **argv = json_words(json_object_get(test, "cmd"), &l->arena);
  if (!name || !argv)
    return;
  Test *t = list_add(l, unique_name(test, name, seen, &l->arena), argv);
  TestRules *rules = list_rules(l);
  t->env = environment_of(json_object_get(test, "env"), &l->arena);
  t->cwd = cwd ? arena_strdup(&l->arena, cwd) : NULL;
  t->alone = json_is_false(json_object_get(test, "is_parallel"));
  t->rules = rules;
  uint64_t ignored;
  rules->will_fail = hashmap_get(expected, name, strlen(name), &ignored);
  rules->timeout = json_number_value(json_object_get(test, "timeout"));
  rules->tap = protocol && !strcmp(protocol, "tap");
  rules->skip_status = 77;
  rules->error_status = 99;
}

static int list_tests(TestList *l, const char *dir, const Hashmap *expected,
                      Err *err) {
  char *path = mem_printf("%s/%s", dir, LIST);
  json_error_t e;
  json_t *root = json_load_file(path, JSON_DECODE_INT_AS_REAL, &e), *test;
  Hashmap seen = {0};
  size_t i;
  json_array_foreach(root, i, test) add_test(l, test, &seen, expected);
  int rc = 0;
  if (!root)
    rc = err_set(err, "%s:%d: %s", path, e.line, e.text);
  else if (!l->tests.len)
    rc = meson_lists_none(dir, err);
  hashmap_release(&seen);
  json_decref(root);
  free(path);
  return rc;
}

int meson_run(Runner *r, Err *err) {
  TestList l = {0};
  Hashmap expected = {0};
  char *dir = suite_dir(r->options);
  char *ninja[] = {"ninja", NULL};
  int rc = suite_build(r, dir, ninja, "build.log", err);
  if (!rc)
    find_expected(r, dir, &expected);
  if (!rc)
    rc = list_tests(&l, dir, &expected, err);
  if (!rc)
    rc = list_run(&l, r, "meson", err);
  hashmap_release(&expected);
  list_release(&l);
  free(dir);
  return rc;
}
