#include "tests.h"

static const Span five = {1, 5};

void meet_itself_test(void) { CHECK(span_meet(five, five).to == 5); }

void meet_less_test(void) { CHECK(span_meet(five, (Span){1, 4}).to == 4); }

void meet_none_test(void) {
  CHECK(span_length(span_meet(five, (Span){7, 9})) == 0);
}

void meet_rest_test(void) { CHECK(span_meet(five, (Span){4, 9}).from == 4); }
