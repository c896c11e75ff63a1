#include <stdio.h>

#include "minunit.h"
#include "span.h"

int tests_run;

static char *test_parse(void) {
  Span s;
  mu_assert("3-7 is a span", span_parse("3-7", &s));
  return 0;
}

static char *test_length(void) {
  mu_assert("1-3 has three", span_length((Span){1, 3}) == 3);
  return 0;
}

static char *test_has(void) {
  mu_assert("3 is in 1-3", span_has((Span){1, 3}, 3));
  return 0;
}

static char *test_meet_same(void) {
  mu_assert("1-3 in 1-3", span_meet((Span){1, 3}, (Span){1, 3}).to == 3);
  return 0;
}

static char *test_meet_less(void) {
  mu_assert("1-2 in 1-3", span_meet((Span){1, 3}, (Span){1, 2}).to == 2);
  return 0;
}

static char *test_meet_more(void) {
  mu_assert("2-3 in 1-3", span_meet((Span){1, 3}, (Span){2, 4}).from == 2);
  return 0;
}

static char *all_tests(void) {
  mu_run_test(test_parse);
  mu_run_test(test_length);
  mu_run_test(test_has);
  mu_run_test(test_meet_same);
  mu_run_test(test_meet_less);
  mu_run_test(test_meet_more);
  return 0;
}

int main(void) {
  char *result = all_tests();
  printf("%s\n", result ? result : "ALL TESTS PASSED");
  printf("Tests run: %d\n", tests_run);
  return result != 0;
}
