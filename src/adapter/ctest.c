// The adapter `ctest`: the tests of a CMake build directory, one by one.
//
// `ctest --show-only=json-v1` lists them (with the user's own filters, -R, -E,
// -L, if the command was given); we run their commands ourselves and judge them
// by their properties: WILL_FAIL, SKIP_RETURN_CODE, TIMEOUT, ENVIRONMENT,
// WORKING_DIRECTORY, PASS_, FAIL_ and SKIP_REGULAR_EXPRESSION, DISABLED.
// Tests with DEPENDS, fixtures or locks run one at a time, set-ups first and
// clean-ups last.
#include <stdlib.h>
#include <string.h>

#include "adapter/adapter.h"
#include "adapter/suites.h"
#include "adapter/switches.h"
#include "util/capture.h"
#include "util/fs.h"
#include "util/mem.h"

typedef enum { PHASE_SETUP, PHASE_TEST, PHASE_DEPENDENT, PHASE_CLEANUP } Phase;

typedef struct {
  TestList list;
  ARRAY(Phase) phases; // by test
} CtestList;

// --- finding out ------------------------------------------------------------

bool ctest_detect(const RunOptions *o) {
  if (command_is(o->command, "ctest", NULL))
    return true;
  bool make = !o->command || command_is(o->command, "make", "test") ||
              command_is(o->command, "make", "check") ||
              command_is(o->command, "ninja", "test");
  return make && dir_has(o->cwd, "CTestTestfile.cmake");
}

// --- properties -------------------------------------------------------------

typedef struct {
  Test *test;
  TestRules *rules;
  Phase *phase;
  Arena *arena;
} CtestTest;

static void set_environment(CtestTest *t, const json_t *v) {
  t->test->env = json_words(v, t->arena);
}
static void set_cwd(CtestTest *t, const json_t *v) {
  t->test->cwd = arena_strdup(t->arena, json_string_value(v));
}
static void set_timeout(CtestTest *t, const json_t *v) {
  t->rules->timeout = json_number_value(v);
}
static void set_will_fail(CtestTest *t, const json_t *v) {
  t->rules->will_fail = json_is_true(v);
}
static void set_skip_status(CtestTest *t, const json_t *v) {
  t->rules->skip_status = (int)json_number_value(v);
}
static void set_pass(CtestTest *t, const json_t *v) {
  t->rules->pass = json_words(v, t->arena);
}
static void set_fail(CtestTest *t, const json_t *v) {
  t->rules->fail = json_words(v, t->arena);
}
static void set_skip(CtestTest *t, const json_t *v) {
  t->rules->skip = json_words(v, t->arena);
}
static void set_alone(CtestTest *t, const json_t *v) {
  t->test->alone = t->test->alone || !json_is_false(v);
}
static void set_setup(CtestTest *t, const json_t *v) {
  set_alone(t, v);
  *t->phase = PHASE_SETUP;
}
static void set_dependent(CtestTest *t, const json_t *v) {
  set_alone(t, v);
  if (*t->phase == PHASE_TEST)
    *t->phase = PHASE_DEPENDENT;
}
static void set_cleanup(CtestTest *t, const json_t *v) {
  set_alone(t, v);
  *t->phase = PHASE_CLEANUP;
}

static const struct {
  const char *name;
  json_type type; // JSON_NULL: any
  void (*set)(CtestTest *t, const json_t *value);
} properties[] = {
    {"ENVIRONMENT", JSON_NULL, set_environment},
    {"WORKING_DIRECTORY", JSON_STRING, set_cwd},
    {"TIMEOUT", JSON_REAL, set_timeout},
    {"WILL_FAIL", JSON_NULL, set_will_fail},
    {"SKIP_RETURN_CODE", JSON_REAL, set_skip_status},
    {"PASS_REGULAR_EXPRESSION", JSON_NULL, set_pass},
    {"FAIL_REGULAR_EXPRESSION", JSON_NULL, set_fail},
    {"SKIP_REGULAR_EXPRESSION", JSON_NULL, set_skip},
    {"RUN_SERIAL", JSON_NULL, set_alone},
    {"RESOURCE_LOCK", JSON_NULL, set_alone},
    {"FIXTURES_SETUP", JSON_NULL, set_setup},
    {"FIXTURES_REQUIRED", JSON_NULL, set_dependent},
    {"DEPENDS", JSON_NULL, set_dependent},
    {"FIXTURES_CLEANUP", JSON_NULL, set_cleanup},
};

static void take_property(CtestTest *t, const json_t *property) {
  const char *name = json_string_value(json_object_get(property, "name"));
  const json_t *value = json_object_get(property, "value");
  for (size_t i = 0;
       name && value && i < sizeof properties / sizeof *properties; i++)
    if (!strcmp(name, properties[i].name) &&
        (properties[i].type == JSON_NULL ||
         json_typeof(value) == properties[i].type))
      properties[i].set(t, value);
}

static bool is_disabled(const json_t *test) {
  size_t i;
  json_t *property;
  json_array_foreach(json_object_get(test, "properties"), i, property) {
    const char *name = json_string_value(json_object_get(property, "name"));
    if (name && !strcmp(name, "DISABLED"))
      return json_is_true(json_object_get(property, "value"));
  }
  return false;
}

// --- the list ---------------------------------------------------------------

static void add_test(CtestList *l, const json_t *test) {
  const char *name = json_string_value(json_object_get(test, "name"));
  if (!name || is_disabled(test))
    return;
  Arena *arena = &l->list.arena;
  char **argv = json_words(json_object_get(test, "command"), arena);
  if (!argv) { // not built: starting it will say so
    argv = arena_array(arena, char *, 2);
    argv[0] = arena_printf(arena, "./%s (its program is not built)", name);
  }
  array_push(&l->phases, PHASE_TEST);
  CtestTest t = {.test = list_add(&l->list, name, argv),
                 .rules = list_rules(&l->list),
                 .phase = &l->phases.items[l->phases.len - 1],
                 .arena = arena};
  t.test->rules = t.rules;
  size_t i;
  json_t *property;
  json_array_foreach(json_object_get(test, "properties"), i, property)
      take_property(&t, property);
}

// By phase, otherwise in ctest's own order.
static void sort_by_place(CtestList *l, TestList *out) {
  for (Phase p = PHASE_SETUP; p <= PHASE_CLEANUP; p++)
    for (size_t i = 0; i < l->list.tests.len; i++)
      if (l->phases.items[i] == p)
        array_push(&out->tests, l->list.tests.items[i]);
}

static int no_tests(const RunOptions *o, Err *err) {
  if (o->command && o->command[1])
    return err_set(err, "ctest lists no tests for these options");
  return cmake_lists_none(o->cwd, err);
}

static int read_listing(CtestList *l, const Str *text, Err *err) {
  const char *start = strchr(str_text(text), '{');
  json_error_t e;
  json_t *root =
      start ? json_loads(start,
                         JSON_DECODE_INT_AS_REAL | JSON_DISABLE_EOF_CHECK, &e)
            : NULL;
  if (!root)
    return err_set(err,
                   "ctest does not list its tests as JSON (CMake 3.14 or "
                   "later is needed): %.200s",
                   str_text(text));
  size_t i;
  json_t *test;
  json_array_foreach(json_object_get(root, "tests"), i, test) add_test(l, test);
  json_decref(root);
  return 0;
}

static int list_tests(CtestList *l, const RunOptions *o, Err *err) {
  WordList argv = {0};
  Str text = {0};
  if (command_is(o->command, "ctest", NULL))
    array_push_all(&argv, o->command);
  else
    array_push(&argv, "ctest");
  array_push(&argv, "--show-only=json-v1");
  array_push(&argv, NULL);
  int status = suite_capture(o->cwd, argv.items, &text);
  array_release(&argv);
  int rc = status == 127 ? err_set(err, "ctest: not found; install cmake")
                         : read_listing(l, &text, err);
  str_release(&text);
  return rc;
}

static int build(Runner *r, Err *err) {
  char jobs[16];
  snprintf(jobs, sizeof jobs, "-j%d", r->options->jobs);
  char *argv[] = {"cmake", "--build", ".", jobs, NULL};
  if (!dir_has(r->options->cwd, "CMakeCache.txt"))
    return 0;
  return suite_build(r, r->options->cwd, argv, "build.log", err);
}

// CMake's own Makefile has a target test, which calls ctest; another one is
// the project's.
static bool has_own_target(const RunOptions *o) {
  const char *target = o->command ? NULL : makefile_target(o->cwd);
  return target && strcmp(target, "test") != 0;
}

static int run_tests(CtestList *l, Runner *r, Err *err) {
  if (!l->list.tests.len && has_own_target(r->options))
    return make_run(r, err);
  if (!l->list.tests.len)
    return no_tests(r->options, err);
  TestList sorted = {0};
  sort_by_place(l, &sorted);
  int rc = list_run(&sorted, r, "ctest", err);
  list_release(&sorted);
  return rc;
}

int ctest_run(Runner *r, Err *err) {
  CtestList l = {0};
  int rc = build(r, err);
  if (!rc)
    rc = list_tests(&l, r->options, err);
  if (!rc)
    rc = run_tests(&l, r, err);
  list_release(&l.list);
  array_release(&l.phases);
  return rc;
}
