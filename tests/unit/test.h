// Unit tests over cmocka. A test is a function whose name is a sentence:
//
//   #include "test.h"
//   TEST(an_empty_set_has_no_members) { assert_int_equal(...); }
//
// This header registers every TEST of the file and brings main(). The output
// is TAP if CMOCKA_MESSAGE_OUTPUT=TAP is set; a name as argument runs only the
// tests that contain it.
#ifndef CULPRIT_TESTS_UNIT_TEST_H
#define CULPRIT_TESTS_UNIT_TEST_H

// cmocka.h wants these first.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct {
  struct CMUnitTest all[500];
  size_t n;
} tests_;

static void test_register(const char *name, CMUnitTestFunction f) {
  size_t max = sizeof tests_.all / sizeof *tests_.all;
  if (tests_.n == max) {
    fprintf(stderr, "more than %zu tests: raise the limit in test.h\n", max);
    abort();
  }
  tests_.all[tests_.n++] = (struct CMUnitTest){.name = name, .test_func = f};
}

#define TEST(name)                                                             \
  static void name(void **);                                                   \
  __attribute__((constructor)) static void register_##name(void) {             \
    test_register(#name, name);                                                \
  }                                                                            \
  static void name(__attribute__((unused)) void **state_)

// What a file has set up for several tests is taken down after the last of
// them, whichever ran:
//
//   TEARDOWN { fs_remove_tree(dir); return fs_exists(dir); }
//
// Anything but 0 is a failure of the file.
static CMFixtureFunction teardown_;

#define TEARDOWN                                                               \
  static int tear_down(void **);                                               \
  __attribute__((constructor)) static void register_teardown(void) {           \
    teardown_ = tear_down;                                                     \
  }                                                                            \
  static int tear_down(__attribute__((unused)) void **state_)

int main(int argc, char **argv) {
  const char *wanted = argc > 1 ? argv[1] : "";
  size_t kept = 0;
  for (size_t i = 0; i < tests_.n; i++)
    if (strstr(tests_.all[i].name, wanted))
      tests_.all[kept++] = tests_.all[i];
  return _cmocka_run_group_tests(__FILE__, tests_.all, kept, NULL, teardown_) !=
         0;
}

#endif
