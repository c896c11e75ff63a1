// switch with holes, ranges and fall-through; ?: and short circuits.
#include <stdio.h>
static int kind(int c) {
  switch (c) { // kind
  case 'a' ... 'c':
    return 1;
  case 'x':
    c++;
  case 'y':
    return c;
  default:
    return 0;
  }
}
int main(void) {
  int c = getchar(), d = getchar();
  int k = kind(c);
  int best = c > d ? c : d;
  if (k == 0 && (best == 'e' || d == 'q')) // both
    return 1;
  return 0;
}
// stdin: de
// stop: end
// path: LINE(kind) switch
// path: LINE(both) branch
// lost: nothing
