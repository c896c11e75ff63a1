#include "unity.h"

#include <stdio.h>

static struct {
  const char *file, *test;
  int tests, failures, ignored;
  int failed, left_out;
  jmp_buf out;
} state;

void UnityBegin(const char *file) {
  state.file = file;
  state.tests = state.failures = state.ignored = 0;
}

static void place(unsigned line, const char *word) {
  printf("%s:%u:%s:%s", state.file, line, state.test, word);
}

void UnityFail(const char *message, unsigned line) {
  place(line, "FAIL");
  printf(":%s", message);
  state.failed = 1;
  longjmp(state.out, 1);
}

void UnityIgnore(const char *message, unsigned line) {
  place(line, "IGNORE");
  printf(": %s", message);
  state.left_out = 1;
  longjmp(state.out, 1);
}

void UnityAssertEqualNumber(long expected, long actual, const char *message,
                            unsigned line, int style) {
  char text[80];
  (void)message, (void)style;
  if (expected == actual)
    return;
  snprintf(text, sizeof text, " Expected %ld Was %ld", expected, actual);
  UnityFail(text, line);
}

void UnityDefaultTestRun(UnityTestFunction test, const char *name, int line) {
  state.test = name;
  state.tests++;
  state.failed = state.left_out = 0;
  if (!setjmp(state.out)) {
    setUp();
    test();
  }
  if (!setjmp(state.out))
    tearDown();
  if (state.left_out)
    state.ignored++;
  else if (state.failed)
    state.failures++;
  else
    place((unsigned)line, "PASS");
  putchar('\n');
}

int UnityEnd(void) {
  printf("\n-----------------------\n%d Tests %d Failures %d Ignored \n%s\n",
         state.tests, state.failures, state.ignored,
         state.failures ? "FAIL" : "OK");
  return state.failures;
}
