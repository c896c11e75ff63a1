// A stand-in for Unity: the functions that its macros call, which behave like
// those of the framework (a failing assertion jumps out of the test).
#include <setjmp.h>

typedef void (*UnityTestFunction)(void);

void setUp(void);
void tearDown(void);

void UnityBegin(const char *file);
int UnityEnd(void);
void UnityDefaultTestRun(UnityTestFunction test, const char *name, int line);
void UnityAssertEqualNumber(long expected, long actual, const char *message,
                            unsigned line, int style);
void UnityFail(const char *message, unsigned line);
void UnityIgnore(const char *message, unsigned line);

#define UNITY_BEGIN() UnityBegin(__FILE__)
#define UNITY_END() UnityEnd()
#define RUN_TEST(test) UnityDefaultTestRun(test, #test, __LINE__)
#define TEST_ASSERT_EQUAL_INT(expected, actual)                                \
  UnityAssertEqualNumber((expected), (actual), 0, __LINE__, 0)
#define TEST_ASSERT_TRUE(condition)                                            \
  do {                                                                         \
    if (!(condition))                                                          \
      UnityFail(" Expected TRUE Was FALSE", __LINE__);                         \
  } while (0)
#define TEST_IGNORE_MESSAGE(message) UnityIgnore((message), __LINE__)
