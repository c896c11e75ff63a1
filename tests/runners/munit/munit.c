#include "munit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void munit_errorf_ex(const char *file, int line, const char *format, ...) {
  va_list words;
  fprintf(stderr, "Error: %s:%d: ", file, line);
  va_start(words, format);
  vfprintf(stderr, format, words);
  va_end(words);
  fputc('\n', stderr);
  abort();
}

static MunitResult run(const MunitTest *t, void *user_data) {
  int status;
  pid_t child = fork();
  if (!child) {
    MunitResult result = t->test(NULL, user_data);
    fflush(NULL);
    _exit((int)result);
  }
  if (child < 0 || waitpid(child, &status, 0) < 0)
    return MUNIT_ERROR;
  return WIFEXITED(status) ? (MunitResult)WEXITSTATUS(status) : MUNIT_ERROR;
}

int munit_suite_main(const MunitSuite *suite, void *user_data, int argc,
                     char *const *argv) {
  static const char *const words[] = {"OK   ", "FAIL ", "SKIP ", "ERROR"};
  int counts[4] = {0};
  (void)argc, (void)argv;
  for (const MunitTest *t = suite->tests; t->test; t++) {
    fprintf(stderr, "%s%-30s", suite->prefix, t->name);
    MunitResult r = run(t, user_data);
    counts[r]++;
    fprintf(stderr, "[ %s ]\n", words[r]);
  }
  fprintf(stderr, "%d of %d tests successful, %d test skipped.\n", counts[0],
          counts[0] + counts[1] + counts[3], counts[2]);
  return counts[1] + counts[3] ? EXIT_FAILURE : EXIT_SUCCESS;
}
