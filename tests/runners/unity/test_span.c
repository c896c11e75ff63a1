#include "span.h"
#include "unity.h"

static Span ten;

void setUp(void) { ten = (Span){1, 10}; }
void tearDown(void) {}

static void test_parse(void) {
  Span s;
  TEST_ASSERT_TRUE(span_parse("3-7", &s));
  TEST_ASSERT_EQUAL_INT(3, s.from);
}

static void test_parse_nothing(void) {
  Span s;
  TEST_ASSERT_EQUAL_INT(0, span_parse("", &s));
}

static void test_length(void) { TEST_ASSERT_EQUAL_INT(10, span_length(ten)); }

static void test_has(void) { TEST_ASSERT_TRUE(span_has(ten, 10)); }

static void test_later(void) { TEST_IGNORE_MESSAGE("not written yet"); }

static void test_meets_itself(void) {
  TEST_ASSERT_EQUAL_INT(10, span_length(span_meet(ten, ten)));
}

static void test_meets_its_beginning(void) {
  Span s = span_meet(ten, (Span){1, 4});
  TEST_ASSERT_EQUAL_INT(4, span_length(s));
}

static void test_meets_its_end(void) {
  Span s = span_meet(ten, (Span){8, 12});
  TEST_ASSERT_EQUAL_INT(3, span_length(s));
}

int main(void) {
  UNITY_BEGIN();
  RUN_TEST(test_parse);
  RUN_TEST(test_parse_nothing);
  RUN_TEST(test_length);
  RUN_TEST(test_has);
  RUN_TEST(test_later);
  RUN_TEST(test_meets_itself);
  RUN_TEST(test_meets_its_beginning);
  RUN_TEST(test_meets_its_end);
  return UNITY_END();
}
