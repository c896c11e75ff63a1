// Running a list of tests: see listed.h.
#include "adapter/listed.h"

#include <stdlib.h>
#include <string.h>

#include "adapter/libtool.h"
#include "adapter/split.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/mem.h"

// Registers the program of a whole command, if it can be named without running
// it. What has no map is passed over: a test may use any program.
static int add_program(Runner *r, const Test *t, Hashmap *seen, Err *err) {
  Arena arena = {0};
  Spawn spawn = {0};
  int rc = 0;
  test_prepare(t, NULL, &arena, &spawn);
  char *path = path_absolute(spawn.path, t->cwd ? t->cwd : r->options->cwd);
  uint64_t ignored;
  Libtool wrapper;
  if (!hashmap_get(seen, path, strlen(path), &ignored) && fs_executable(path))
    rc = runner_add_module(
        r, libtool_read(&wrapper, path, &arena) ? wrapper.program : path, err);
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
static int run_rest(Runner *r, const Test *tests, size_t n, Err *err) {
  ARRAY(Test) todo = {0};
  for (size_t i = 0; i < n; i++)
    if (!runner_is_done(r, tests[i].name))
      array_push(&todo, tests[i]);
  batch_order(r, todo.items, todo.len);
  r->already = n - todo.len;
  r->total = todo.len;
  if (r->progress)
    r->progress(r);
  int rc = batch_run(r, todo.items, todo.len, err);
  array_release(&todo);
  return rc;
}

// All programs are registered, whatever the shard: lines that no test of it
// executes are known in each.
static int run_listed(Runner *r, const Test *tests, size_t n, Err *err) {
  if (!r->options->isolate)
    return run_rest(r, tests, n, err);
  TestList split = {0};
  split_units(tests, n, r->options->cwd, r->scratch.dir, r->listed == 1,
              &split);
  int rc = run_rest(r, split.tests.items, split.tests.len, err);
  list_release(&split);
  return rc;
}

// shards[i]: that of tests[i].
static int assign_shards(Runner *r, const Test *tests, size_t n,
                         unsigned *shards, Err *err) {
  TestTimes times;
  const char **names = mem_array(const char *, n);
  for (size_t i = 0; i < n; i++)
    names[i] = tests[i].name;
  int rc = test_times_load(&times, r->store, err);
  if (!rc) {
    shards_assign(&times, names, n, r->options->shard.n, shards);
    r->shards = shards_digest(names, shards, n);
  }
  test_times_release(&times);
  free(names);
  return rc;
}

static int run_shard(Runner *r, const char *adapter, const Test *tests,
                     size_t n, Err *err) {
  unsigned *shards = mem_array(unsigned, n);
  ARRAY(Test) ours = {0};
  int rc = assign_shards(r, tests, n, shards, err);
  for (size_t i = 0; i < n; i++)
    if (shards[i] == r->options->shard.k)
      array_push(&ours, tests[i]);
  rc = rc || runner_begin(r, adapter, err) || add_programs(r, tests, n, err)
           ? -1
           : run_listed(r, ours.items, ours.len, err);
  array_release(&ours);
  free(shards);
  return rc;
}

int listed_run(Runner *r, const char *adapter, const Test *tests, size_t n,
               Err *err) {
  r->listed = n;
  if (r->options->shard.n)
    return run_shard(r, adapter, tests, n, err);
  if (runner_begin(r, adapter, err) || add_programs(r, tests, n, err))
    return -1;
  return run_listed(r, tests, n, err);
}

// --- a list in the making ---------------------------------------------------

Test *list_add(TestList *l, const char *name, char *const *argv) {
  array_push(&l->tests, (Test){.name = arena_strdup(&l->arena, name),
                               .number = (unsigned)l->tests.len + 1,
                               .argv = argv});
  return &l->tests.items[l->tests.len - 1];
}

TestRules *list_rules(TestList *l) {
  TestRules *rules = arena_alloc(&l->arena, sizeof *rules);
  rules->skip_status = rules->error_status = -1;
  return rules;
}

int list_run(TestList *l, Runner *r, const char *adapter, Err *err) {
  return listed_run(r, adapter, l->tests.items, l->tests.len, err);
}

void list_release(TestList *l) {
  array_release(&l->tests);
  arena_release(&l->arena);
}
