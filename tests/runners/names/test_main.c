#include "tests.h"

int failures;

int main(void) {
  parse_test();
  parse_nothing_test();
  length_test();
  meet_itself_test();
  meet_less_test();
  meet_none_test();
  meet_rest_test();
  printf("%d checks failed\n", failures);
  return failures != 0;
}
