// A stand-in for munit: a table of tests, each run in a child process; a failing
// assertion ends the child by abort().
#include <stddef.h>

typedef enum { MUNIT_OK, MUNIT_FAIL, MUNIT_SKIP, MUNIT_ERROR } MunitResult;

typedef struct MunitParameter_ {
  char *name, *value;
} MunitParameter;

typedef struct MunitTest_ {
  char *name;
  MunitResult (*test)(const MunitParameter *parameters, void *user_data);
  void *(*setup)(const MunitParameter *parameters, void *user_data);
  void (*tear_down)(void *fixture);
  int options;
  void *parameters;
} MunitTest;

typedef struct MunitSuite_ {
  char *prefix;
  MunitTest *tests;
  struct MunitSuite_ *suites;
  unsigned iterations;
  int options;
} MunitSuite;

int munit_suite_main(const MunitSuite *suite, void *user_data, int argc,
                     char *const *argv);
void munit_errorf_ex(const char *file, int line, const char *format, ...);

#define munit_assert_int(a, op, b)                                             \
  do {                                                                         \
    int a_ = (a), b_ = (b);                                                    \
    if (!(a_ op b_))                                                           \
      munit_errorf_ex(__FILE__, __LINE__,                                      \
                      "assertion failed: %s %s %s (%d %s %d)", #a, #op, #b,    \
                      a_, #op, b_);                                            \
  } while (0)
