#include <stdio.h>

#include "span.h"

static const Span five = {1, 5};

static int test_parse(void) {
  Span s;
  return !span_parse("3-7", &s) || s.to != 7;
}
static int test_length(void) { return span_length(five) != 5; }
static int test_has(void) { return !span_has(five, 5) || span_has(five, 6); }
static int test_meet(void) { return span_meet(five, five).to != 5; }
static int test_less(void) { return span_meet(five, (Span){1, 4}).to != 4; }
static int test_rest(void) { return span_meet(five, (Span){4, 9}).to != 5; }

static const struct {
  const char *title;
  int (*run)(void);
} tests[] = {
    {"reading", test_parse}, {"length", test_length}, {"having", test_has},
    {"meeting", test_meet},  {"less", test_less},     {"rest", test_rest},
};

int main(void) {
  int bad = 0;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    bad += tests[i].run();
  return bad;
}
