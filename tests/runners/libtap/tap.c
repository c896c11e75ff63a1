#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int planned, current, failed;

void tap_plan(int tests, const char *format, ...) {
  (void)format;
  planned = tests;
  printf("1..%d\n", tests);
}

static int vok_at_loc(const char *file, int line, int passed, const char *format,
                  va_list words) {
  printf("%sok %d - ", passed ? "" : "not ", ++current);
  vprintf(format, words);
  putchar('\n');
  if (!passed) {
    fflush(stdout);
    fprintf(stderr, "#   Failed test at %s line %d.\n", file, line);
    failed++;
  }
  return passed;
}

int ok_at_loc(const char *file, int line, int test, const char *format, ...) {
  va_list words;
  va_start(words, format);
  int passed = vok_at_loc(file, line, test, format, words);
  va_end(words);
  return passed;
}

int is_at_loc(const char *file, int line, const char *got, const char *expected,
              const char *format, ...) {
  va_list words;
  va_start(words, format);
  int passed = vok_at_loc(file, line, !strcmp(got, expected), format, words);
  va_end(words);
  if (!passed)
    fprintf(stderr, "#          got: '%s'\n#     expected: '%s'\n", got,
            expected);
  return passed;
}

int cmp_ok_at_loc(const char *file, int line, int a, const char *op, int b,
                  const char *format, ...) {
  va_list words;
  va_start(words, format);
  int same = a == b;
  int passed = vok_at_loc(file, line, !strcmp(op, "==") ? same : !same, format,
                      words);
  va_end(words);
  if (!passed)
    fprintf(stderr, "#     %d\n#         %s\n#     %d\n", a, op, b);
  return passed;
}

int exit_status(void) {
  if (failed)
    fprintf(stderr, "# Looks like you failed %d tests of %d run.\n", failed,
            current);
  return failed || planned != current;
}
