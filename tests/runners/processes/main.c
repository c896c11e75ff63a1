// span A-B C-D: where they meet; span A-B: how long it is.
#include "span.h"

#include <stdio.h>

int main(int argc, char **argv) {
  Span a, b;
  if (argc < 2 || !span_parse(argv[1], &a))
    return 2;
  if (argc == 2) {
    printf("%d\n", span_length(a));
    return 0;
  }
  if (!span_parse(argv[2], &b))
    return 2;
  a = span_meet(a, b);
  printf("%d-%d\n", a.from, a.to);
  return 0;
}
