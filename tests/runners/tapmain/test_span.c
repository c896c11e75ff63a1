#include <stdio.h>

#include "span.h"

static int number, bad;

static void report(int passed, const char *what) {
  printf("%sok %d - %s\n", passed ? "" : "not ", ++number, what);
  bad += !passed;
}

int main(void) {
  Span s = {0, 0}, five = {1, 5};
  printf("1..7\n");
  report(span_parse("3-7", &s), "two numbers");
  report(!span_parse("3-", &s), "one number");
  report(span_length(five) == 5, "both ends count");
  report(span_meet(five, five).to == 5, "itself");
  report(span_meet(five, (Span){1, 4}).to == 4, "a part of it");
  report(span_meet(five, (Span){3, 9}).from == 3, "the rest of it");
  report(!span_has(five, 6), "nothing else");
  return bad != 0;
}
