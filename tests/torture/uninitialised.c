// Undefined behaviour must not make trace and replay disagree.
#include <limits.h>
#include <stdio.h>
static int grows(int x) { return x + 1 > x; } // grows
int main(void) {
  int c = getchar(), garbage, shift = c;
  if (c == 'x')
    garbage = 1;
  if (garbage == 2)
    puts("two");
  if (!grows(INT_MAX - 'd' + c)) // wraps
    puts("wraps");
  return 1 << shift;
}
// stdin: d
// stop: end
