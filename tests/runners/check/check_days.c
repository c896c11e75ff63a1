#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "days.h"

START_TEST(january) { ck_assert_int_eq(days_in(1, 2023), 31); }
END_TEST

START_TEST(february) { ck_assert_int_eq(days_in(2, 2024), 29); }
END_TEST

START_TEST(turn_of_a_century) { ck_assert_int_eq(days_in(2, 1900), 28); }
END_TEST

START_TEST(turn_of_the_millennium) { ck_assert_int_eq(days_in(2, 2000), 29); }
END_TEST

START_TEST(no_such_month) { days_in(13, 2000); }
END_TEST

START_TEST(leap_centuries) { ck_assert_int_eq(is_leap(2100), 0); }
END_TEST

int main(void) {
  Suite *suite = suite_create("days");
  TCase *days = tcase_create("days"), *leap = tcase_create("leap");
  tcase_add_test(days, january);
  tcase_add_test(days, february);
  tcase_add_test(days, turn_of_a_century);
  tcase_add_test(days, turn_of_the_millennium);
  tcase_add_test_raise_signal(days, no_such_month, SIGILL);
  tcase_add_test(leap, leap_centuries);
  suite_add_tcase(suite, days);
  suite_add_tcase(suite, leap);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
