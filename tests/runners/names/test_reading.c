#include "tests.h"

void parse_test(void) {
  Span s;
  CHECK(span_parse("3-7", &s));
  CHECK(s.from == 3 && s.to == 7);
}

void parse_nothing_test(void) {
  Span s;
  CHECK(!span_parse("-", &s));
}

void length_test(void) { CHECK(span_length((Span){4, 4}) == 1); }
