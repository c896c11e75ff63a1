#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stack.h"

static Stack stack;

static int fill(void **state) {
  stack = (Stack){{1, 2, 3}, 3};
  *state = &stack;
  return 0;
}

static void pops_what_was_pushed(void **state) {
  Stack *s = *state;
  assert_true(stack_push(s, 7));
  assert_int_equal(stack_pop(s), 7);
  assert_int_equal(stack_pop(s), 3);
}

static void is_empty_in_the_end(void **state) {
  Stack *s = *state;
  for (int i = 0; i < 3; i++)
    stack_pop(s);
  assert_int_equal(stack_pop(s), -1);
}

static void peeks_at_the_top(void **state) {
  assert_int_equal(stack_peek(*state, 0), 3);
}

static void peeks_deeper(void **state) {
  assert_int_equal(stack_peek(*state, 2), 1);
}

static void peeks_no_deeper_than_there_is(void **state) {
  assert_int_equal(stack_peek(*state, 3), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(pops_what_was_pushed, fill),
      cmocka_unit_test_setup(is_empty_in_the_end, fill),
      cmocka_unit_test_setup(peeks_at_the_top, fill),
      cmocka_unit_test_setup(peeks_deeper, fill),
      cmocka_unit_test_setup(peeks_no_deeper_than_there_is, fill),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
