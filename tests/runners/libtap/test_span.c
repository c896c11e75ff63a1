#include "span.h"
#include "tap.h"

int main(void) {
  Span s = {0, 0}, five = {1, 5};
  plan(7);
  ok(span_parse("3-7", &s), "two numbers are a span");
  ok(!span_parse("3-", &s), "one number is none");
  cmp_ok(span_length(five), "==", 5, "both ends count");
  cmp_ok(span_meet(five, five).to, "==", 5, "a span meets itself");
  cmp_ok(span_meet(five, (Span){1, 4}).to, "==", 4, "a part of it");
  cmp_ok(span_meet(five, (Span){3, 9}).from, "==", 3, "the rest of it");
  ok(!span_has(five, 6), "nothing else is in it");
  done_testing();
}
