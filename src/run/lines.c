// The adapters `testsfile` and `command`: tests that are command lines.
#include <stdlib.h>
#include <string.h>

#include "run/adapter.h"
#include "run/batch.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/mem.h"

bool testsfile_detect(const RunOptions *o) { return o->tests != NULL; }

bool command_detect(const RunOptions *o) { return o->command != NULL; }

// Registers the program of a whole command, if it can be named without running
// it. What has no map is passed over: a test may use any program.
static int add_program(Runner *r, const Test *t, Hashmap *seen, Err *err) {
  Arena arena = {0};
  Spawn spawn = {0};
  int rc = 0;
  test_prepare(t, NULL, &arena, &spawn);
  char *path = path_absolute(spawn.path, r->options->cwd);
  uint64_t ignored;
  if (!hashmap_get(seen, path, strlen(path), &ignored) && fs_executable(path))
    rc = runner_add_module(r, path, err);
  hashmap_put(seen, path, strlen(path), 1);
  free(path);
  arena_release(&arena);
  return rc;
}

static int add_programs(Runner *r, const Test *tests, size_t n, Err *err) {
  if (r->options->exe)
    return runner_add_module(r, r->options->exe, err);
  Hashmap seen = {0};
  int rc = 0;
  for (size_t i = 0; !rc && i < n; i++)
    rc = add_program(r, &tests[i], &seen, err);
  hashmap_release(&seen);
  return rc;
}

// Runs those that are still to be run.
static int run_tests(Runner *r, const char *adapter, const Test *tests,
                     size_t n, Err *err) {
  if (runner_begin(r, adapter, err) || add_programs(r, tests, n, err))
    return -1;
  ARRAY(Test) todo = {0};
  for (size_t i = 0; i < n; i++)
    if (!runner_is_done(r, tests[i].name))
      array_push(&todo, tests[i]);
  r->already = n - todo.len;
  r->total = todo.len;
  if (r->progress)
    r->progress(r);
  int rc = batch_run(r, todo.items, todo.len, err);
  array_release(&todo);
  return rc;
}

int testsfile_run(Runner *r, Err *err) {
  const RunOptions *o = r->options;
  Testfile f = {0};
  // Tests added to a session must not replace those of another file.
  char *prefix =
      o->add ? mem_printf("%s:", path_base(o->tests)) : mem_strdup("");
  int rc = testfile_read(&f, o->tests, prefix, err);
  if (!rc)
    rc = run_tests(r, "testsfile", f.tests, f.ntests, err);
  testfile_release(&f);
  free(prefix);
  return rc;
}

int command_run(Runner *r, Err *err) {
  Test test = {.name = "1", .number = 1, .argv = r->options->command};
  return run_tests(r, "command", &test, 1, err);
}
