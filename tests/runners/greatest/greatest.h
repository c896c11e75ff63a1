// A stand-in for greatest: one header; a test returns whether it passed, and
// two functions are called around each.
#include <stdio.h>

enum greatest_test_res {
  GREATEST_TEST_RES_PASS = 0,
  GREATEST_TEST_RES_FAIL = -1,
  GREATEST_TEST_RES_SKIP = 1
};

#define TEST static enum greatest_test_res
#define SUITE(name) void name(void)
#define PASS() return GREATEST_TEST_RES_PASS
#define SKIPm(text) return greatest_says((text), GREATEST_TEST_RES_SKIP)
#define FAILm(text)                                                            \
  return greatest_place(__FILE__, __LINE__),                                   \
         greatest_says((text), GREATEST_TEST_RES_FAIL)
#define ASSERT(condition)                                                      \
  do {                                                                         \
    if (!(condition))                                                          \
      FAILm(#condition);                                                       \
  } while (0)
#define ASSERT_EQ(expected, actual)                                            \
  do {                                                                         \
    if ((expected) != (actual))                                                \
      FAILm(#expected " != " #actual);                                         \
  } while (0)
#define RUN_TEST(test)                                                         \
  do {                                                                         \
    if (greatest_test_pre(#test) == 1) {                                       \
      enum greatest_test_res result = test();                                  \
      greatest_test_post(result);                                              \
    }                                                                          \
  } while (0)
#define RUN_SUITE(suite) suite()

int greatest_test_pre(const char *name);
void greatest_test_post(int result);
void greatest_place(const char *file, unsigned line);
enum greatest_test_res greatest_says(const char *text,
                                     enum greatest_test_res result);

#define GREATEST_MAIN_DEFS()                                                   \
  static struct {                                                              \
    const char *test, *text, *file;                                            \
    unsigned line, passed, failed, skipped;                                    \
  } greatest_info;                                                             \
  int greatest_test_pre(const char *name) {                                    \
    greatest_info.test = name;                                                 \
    return 1;                                                                  \
  }                                                                            \
  void greatest_place(const char *file, unsigned line) {                       \
    greatest_info.file = file;                                                 \
    greatest_info.line = line;                                                 \
  }                                                                            \
  enum greatest_test_res greatest_says(const char *text,                       \
                                       enum greatest_test_res result) {        \
    greatest_info.text = text;                                                 \
    return result;                                                             \
  }                                                                            \
  void greatest_test_post(int result) {                                        \
    if (result == GREATEST_TEST_RES_FAIL) {                                    \
      greatest_info.failed++;                                                  \
      printf("FAIL %s: %s (%s:%u)\n", greatest_info.test, greatest_info.text,  \
             greatest_info.file, greatest_info.line);                          \
    } else if (result == GREATEST_TEST_RES_SKIP) {                             \
      greatest_info.skipped++;                                                 \
      putchar('s');                                                            \
    } else {                                                                   \
      greatest_info.passed++;                                                  \
      putchar('.');                                                            \
    }                                                                          \
  }
#define GREATEST_MAIN_BEGIN()
#define GREATEST_MAIN_END()                                                    \
  do {                                                                         \
    printf("\nPass: %u, fail: %u, skip: %u.\n", greatest_info.passed,          \
           greatest_info.failed, greatest_info.skipped);                       \
    return greatest_info.failed > 0;                                           \
  } while (0)
