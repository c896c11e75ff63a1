#include <stdio.h>

#include "span.h"

static const Span five = {1, 5};

static void verify(int condition, const char *what) {
  if (!condition)
    printf("*** %s is off\n", what);
}

static void case_reading(void) {
  Span s;
  verify(span_parse("3-7", &s), "3-7");
}
static void case_length(void) { verify(span_length(five) == 5, "1-5"); }
static void case_having(void) { verify(span_has(five, 5), "5 in 1-5"); }
static void case_meeting(void) { verify(span_meet(five, five).to == 5, "same"); }
static void case_less(void) {
  verify(span_meet(five, (Span){1, 4}).to == 4, "1-4");
}
static void case_rest(void) {
  verify(span_meet(five, (Span){4, 9}).to == 5, "4-9");
}

int main(void) {
  case_reading();
  case_length();
  case_having();
  case_meeting();
  case_less();
  case_rest();
  return span_meet(five, (Span){1, 4}).to != 4;
}
