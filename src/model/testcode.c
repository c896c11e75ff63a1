// Which sources are code of tests: see testcode.h.
#include "model/testcode.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"

static const char *const directories[] = {
    "test",     "tests",     "testing",    "testsuite",  "t",
    "unittest", "unittests", "unit-tests", "unit_tests", NULL};
static const char *const frameworks[] = {
    "acutest",  "cmocka",  "CuTest", "greatest",      "minunit",
    "munit",    "seatest", "unity",  "unity_fixture", "unity_memory",
    "unittest", "utest",   NULL};
static const char *const names[] = {"tests",     "unittests",  "testmain",
                                    "test_main", "testrunner", NULL};
static const char *const beginnings[] = {"test_", "test-", "tests_", NULL};
static const char *const ends[] = {"_test",  "-test",     "_tests",
                                   "-tests", "_unittest", NULL};

// The first n characters of `text` are this word.
static bool is_word(const char *text, size_t n, const char *word) {
  return strlen(word) == n && !strncasecmp(text, word, n);
}

static bool is_one_of(const char *text, size_t n, const char *const *words) {
  for (; *words; words++)
    if (is_word(text, n, *words))
      return true;
  return false;
}

static bool is_test_file(const char *name) {
  size_t n = strcspn(name, ".");
  if (is_one_of(name, n, frameworks) || is_one_of(name, n, names))
    return true;
  for (size_t i = 0; beginnings[i]; i++) {
    size_t m = strlen(beginnings[i]);
    if (n > m && !strncasecmp(name, beginnings[i], m))
      return true;
  }
  for (size_t i = 0; ends[i]; i++) {
    size_t m = strlen(ends[i]);
    if (n > m && is_word(name + n - m, m, ends[i]))
      return true;
  }
  return false;
}

bool testcode_is_named_so(const char *path) {
  const char *slash;
  for (; (slash = strchr(path, '/')); path = slash + 1)
    if (is_one_of(path, (size_t)(slash - path), directories))
      return true;
  return is_test_file(path);
}

bool testcode_is_program(const char *path) {
  const char *name = path_base(path);
  return testcode_is_named_so(path) ||
         is_word(name, strcspn(name, "."), "test");
}

// Headers of the system do not count.
static bool is_system(const Source *s) { return !strncmp(s->path, "/usr/", 5); }

// Length of the directory that all sources are in, with its slash.
static size_t common_directory(const Suite *suite) {
  const char *first = NULL;
  size_t n = 0;
  for (size_t i = 0; i < suite->nsources; i++) {
    const char *path = suite->sources[i].path;
    if (is_system(&suite->sources[i]))
      continue;
    if (!first) {
      first = path;
      n = (size_t)(path_base(path) - path);
    }
    size_t same = 0;
    while (same < n && path[same] == first[same])
      same++;
    while (same && first[same - 1] != '/')
      same--;
    n = same;
  }
  return n;
}

// Functions by which frameworks are known whose files are called anything.
static const char *const framework_functions[] = {"vok_at_loc", "ok_at_loc",
                                                  "tap_plan", NULL};

// The function of a segment: test_a, check of check:31 and of check#2.
static size_t function_length(const char *test) {
  size_t n = strcspn(test, ":#");
  return test[n] && strspn(test + n + 1, "0123456789#") == strlen(test + n + 1)
             ? n
             : strlen(test);
}

// The functions that are tests of the session (segments), or of a framework: how
// many tests each source has.
static void count_tests(const Suite *suite, uint32_t *counts) {
  Hashmap tests = {0};
  uint64_t n;
  for (size_t i = 0; framework_functions[i]; i++)
    hashmap_put(&tests, framework_functions[i], strlen(framework_functions[i]),
                1);
  for (size_t i = 0; i < suite->nruns; i++) {
    const char *name = path_base(suite->runs[i].test);
    size_t length = function_length(name);
    if (!hashmap_get(&tests, name, length, &n))
      n = 0;
    hashmap_put(&tests, name, length, n + 1);
  }
  for (size_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_FUNCTION && e->name &&
        hashmap_get(&tests, e->name, strlen(e->name), &n))
      counts[e->source] += (uint32_t)n;
  }
  hashmap_release(&tests);
}

void testcode_mark(Suite *suite) {
  enum { TESTS_ENOUGH = 2 };
  size_t above = common_directory(suite), others = 0;
  uint32_t *counts = mem_array(uint32_t, suite->nsources + 1);
  count_tests(suite, counts);
  for (size_t i = 0; i < suite->nsources; i++) {
    Source *s = &suite->sources[i];
    bool system = is_system(s);
    s->test = !system && (testcode_is_named_so(s->path + above) ||
                          counts[i] >= TESTS_ENOUGH);
    others += !system && !s->test;
  }
  free(counts);
  for (size_t i = 0; i < suite->nsources && !others; i++)
    suite->sources[i].test = false;
}
