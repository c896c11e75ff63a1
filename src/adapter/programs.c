// The adapter `program`: test programs that a build leaves where nothing says how
// to run them.
//
//   sds-test  tests/run_tests  unittest     names as those of test files
//
// Each that culprit-cc built is a test, started from the top of the build without
// arguments; the tests inside of it are told apart as segments.
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/adapter.h"
#include "adapter/suites.h"
#include "model/testcode.h"
#include "program/sections.h"
#include "util/fs.h"
#include "util/mem.h"

static const char *const places[] = {"*", "test/*", "tests/*", NULL};

static bool is_test_program(const char *path) {
  const char *name = path_base(path);
  return !strchr(name, '.') &&
         (testcode_is_program(name) || text_starts(name, "test") ||
          text_starts(name, "run_test") || text_starts(name, "run-test") ||
          text_starts(name, "unittest")) &&
         fs_executable(path) && section_exists(path, "culprit_map");
}

static void add_program(TestList *list, const char *path, const char *dir) {
  char **argv = arena_array(&list->arena, char *, 2);
  argv[0] = arena_strdup(&list->arena, path);
  argv[1] = NULL;
  list_add(list, path_below(path, dir), argv);
}

// Adds those of a place; returns how many there are. `list`: NULL to count only.
static size_t find_in(const char *dir, const char *place, TestList *list) {
  size_t n = 0;
  char *pattern = mem_printf("%s/%s", dir, place);
  glob_t found;
  if (!glob(pattern, 0, NULL, &found)) {
    for (size_t i = 0; i < found.gl_pathc; i++)
      if (is_test_program(found.gl_pathv[i])) {
        n++;
        if (list)
          add_program(list, found.gl_pathv[i], dir);
      }
    globfree(&found);
  }
  free(pattern);
  return n;
}

static size_t find_programs(const char *dir, TestList *list) {
  size_t n = 0;
  for (size_t i = 0; places[i]; i++)
    n += find_in(dir, places[i], list);
  return n;
}

bool program_detect(const RunOptions *o) {
  return !o->command && find_programs(o->cwd, NULL);
}

int program_run(Runner *r, Err *err) {
  TestList list = {0};
  find_programs(r->options->cwd, &list);
  int rc = list_run(&list, r, "program", err);
  list_release(&list);
  return rc;
}
