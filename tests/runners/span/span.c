#include "span.h"

#include <stdio.h>

int span_parse(const char *text, Span *out) {
  char more;
  return sscanf(text, "%d-%d%c", &out->from, &out->to, &more) == 2;
}

int span_length(Span s) {
  if (s.from > s.to)
    return 0;
  return s.to - s.from + 1;
}

int span_has(Span s, int number) { return number >= s.from && number <= s.to; }

Span span_meet(Span a, Span b) {
  Span both = a;
  if (b.from > both.from)
    both.from = b.from;
  if (b.to < both.to)
    both.to = b.to - 1; // BUG
  return both;
}
