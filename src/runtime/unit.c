// Linked into programs that use cmocka or Check, so that `culprit run` can run
// their tests one at a time (culprit-cc adds `--wrap` for the two functions).
//
//   CULPRIT_UNIT_LIST=FILE   write the names of the tests to FILE, run none
//   CULPRIT_UNIT_ONLY=NAME   run the test of that name only
//
// Without either variable the frameworks' own functions run unchanged.
//
// Built twice: with UNIT_CMOCKA and with UNIT_CHECK. The layouts are those that
// cmocka has had since 1.0 and Check since 0.13; an older Check passes another
// second argument, which is seen by its third one being a pointer.
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void list_name(const char *file, const char *name) {
  int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0)
    return;
  if (write(fd, name, strlen(name)) < 0 || write(fd, "\n", 1) < 0)
    unlink(file); // better no list than half a one
  close(fd);
}

// Is this test one of those to run? Lists it if that is what is asked for.
static bool is_wanted(const char *name) {
  const char *list = getenv("CULPRIT_UNIT_LIST");
  const char *only = getenv("CULPRIT_UNIT_ONLY");
  if (list)
    list_name(list, name);
  return !list && (!only || !strcmp(only, name));
}

#ifdef UNIT_CMOCKA

typedef struct {
  const char *name;
  void *functions[3], *state;
} CmockaTest;

// Weak: the library may be another one of a similar name.
__attribute__((weak)) int
__real__cmocka_run_group_tests(const char *group, const CmockaTest *tests,
                               size_t n, void *setup, void *teardown);

int __wrap__cmocka_run_group_tests(const char *group, const CmockaTest *tests,
                                   size_t n, void *setup, void *teardown);
int __wrap__cmocka_run_group_tests(const char *group, const CmockaTest *tests,
                                   size_t n, void *setup, void *teardown) {
  if (!getenv("CULPRIT_UNIT_LIST") && !getenv("CULPRIT_UNIT_ONLY"))
    return __real__cmocka_run_group_tests(group, tests, n, setup, teardown);
  for (size_t i = 0; i < n; i++)
    if (tests[i].name && is_wanted(tests[i].name))
      return __real__cmocka_run_group_tests(group, &tests[i], 1, setup,
                                            teardown);
  return 0;
}

#else

typedef struct {
  const char *name;
} CheckTest;

// Weak: the library may be another one of a similar name.
__attribute__((weak)) void
__real__tcase_add_test(void *tcase, const CheckTest *test, intptr_t signal,
                       intptr_t exit_value, int start, int end);

void __wrap__tcase_add_test(void *tcase, const CheckTest *test, intptr_t signal,
                            intptr_t exit_value, int start, int end);
void __wrap__tcase_add_test(void *tcase, const CheckTest *test, intptr_t signal,
                            intptr_t exit_value, int start, int end) {
  bool old = signal < -4096 || signal > 4096;
  if (old || is_wanted(test->name))
    __real__tcase_add_test(tcase, test, signal, exit_value, start, end);
}

#endif
