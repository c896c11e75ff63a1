#include "munit.h"
#include "span.h"

#define TEST(name)                                                             \
  static MunitResult name(const MunitParameter *parameters, void *data)
#define UNUSED (void)parameters, (void)data

TEST(reading) {
  Span s = {0};
  UNUSED;
  munit_assert_int(span_parse("3-7", &s), ==, 1);
  munit_assert_int(s.to, ==, 7);
  return MUNIT_OK;
}

TEST(length) {
  UNUSED;
  munit_assert_int(span_length((Span){2, 1}), ==, 0);
  munit_assert_int(span_length((Span){2, 2}), ==, 1);
  return MUNIT_OK;
}

TEST(later) {
  UNUSED;
  return MUNIT_SKIP;
}

TEST(meeting_itself) {
  UNUSED;
  munit_assert_int(span_meet((Span){2, 5}, (Span){2, 5}).to, ==, 5);
  return MUNIT_OK;
}

TEST(meeting_less) {
  UNUSED;
  munit_assert_int(span_meet((Span){2, 5}, (Span){2, 4}).to, ==, 4);
  return MUNIT_OK;
}

TEST(meeting_the_rest) {
  UNUSED;
  munit_assert_int(span_meet((Span){2, 5}, (Span){4, 9}).from, ==, 4);
  return MUNIT_OK;
}

TEST(having) {
  UNUSED;
  return span_has((Span){2, 5}, 5) ? MUNIT_OK : MUNIT_FAIL;
}

static MunitTest tests[] = {
    {"/reading", reading, NULL, NULL, 0, NULL},
    {"/length", length, NULL, NULL, 0, NULL},
    {"/later", later, NULL, NULL, 0, NULL},
    {"/meeting_itself", meeting_itself, NULL, NULL, 0, NULL},
    {"/meeting_less", meeting_less, NULL, NULL, 0, NULL},
    {"/meeting_the_rest", meeting_the_rest, NULL, NULL, 0, NULL},
    {"/having", having, NULL, NULL, 0, NULL},
    {NULL, NULL, NULL, NULL, 0, NULL},
};

static const MunitSuite suite = {"/span", tests, NULL, 1, 0};

int main(int argc, char **argv) {
  return munit_suite_main(&suite, NULL, argc, argv);
}
