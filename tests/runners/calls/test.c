// A table of calls: each is a check, and none ends the program.
#include <stdio.h>

#include "span.h"

static int wrong;

static void expectMeeting(const char *one, const char *other, int from, int to) {
  Span a, b, both;
  if (!span_parse(one, &a) || !span_parse(other, &b))
    return;
  both = span_meet(a, b);
  if (both.from == from && both.to == to)
    return;
  fprintf(stderr, "(x) %s and %s: expected %d-%d, got %d-%d\n", one, other, from,
          to, both.from, both.to);
  wrong++;
}

int main(void) {
  expectMeeting("1-5", "1-5", 1, 5);
  expectMeeting("1-5", "1-4", 1, 4);
  expectMeeting("1-5", "3-5", 3, 5);
  expectMeeting("2-5", "2-9", 2, 5);
  expectMeeting("4-9", "4-9", 4, 9);
  expectMeeting("4-9", "6-7", 6, 7);
  return wrong != 0;
}
