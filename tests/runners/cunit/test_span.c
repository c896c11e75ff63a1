#include <CUnit/Basic.h>

#include "span.h"

static void reading(void) {
  Span s;
  CU_ASSERT(span_parse("3-7", &s));
  CU_ASSERT_EQUAL(s.to, 7);
}

static void length(void) {
  CU_ASSERT_EQUAL(span_length((Span){2, 1}), 0);
  CU_ASSERT_EQUAL(span_length((Span){2, 2}), 1);
}

static void having(void) { CU_ASSERT_FALSE(span_has((Span){2, 5}, 6)); }

static void meeting_itself(void) {
  CU_ASSERT_EQUAL(span_meet((Span){2, 5}, (Span){2, 5}).to, 5);
}

static void meeting_less(void) {
  CU_ASSERT_EQUAL(span_meet((Span){2, 5}, (Span){2, 4}).to, 4);
}

static void meeting_the_rest(void) {
  CU_ASSERT_EQUAL_FATAL(span_meet((Span){2, 5}, (Span){4, 9}).from, 4);
}

static void meeting_none(void) {
  CU_ASSERT_EQUAL_FATAL(span_meet((Span){2, 5}, (Span){0, 2}).to, 2);
}

int main(void) {
  if (CU_initialize_registry() != CUE_SUCCESS)
    return 2;
  CU_pSuite one = CU_add_suite("one", NULL, NULL);
  CU_pSuite two = CU_add_suite("two", NULL, NULL);
  CU_add_test(one, "reading", reading);
  CU_add_test(one, "length", length);
  CU_add_test(one, "having", having);
  CU_add_test(two, "meeting itself", meeting_itself);
  CU_add_test(two, "meeting less", meeting_less);
  CU_add_test(two, "meeting the rest", meeting_the_rest);
  CU_add_test(two, "meeting none", meeting_none);
  CU_basic_set_mode(CU_BRM_NORMAL);
  CU_basic_run_tests();
  unsigned failed = CU_get_number_of_failures();
  CU_cleanup_registry();
  return failed != 0;
}
