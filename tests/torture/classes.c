// Fractions that are compared, rounded, and asked what they are.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  double x, y = argc > 1 ? strtod(argv[1], NULL) : 0;
  if (scanf("%lf", &x) != 1)
    return 1;
  if (isnan(x - y)) // nan
    return 2;
  if (isinf(x * 4)) // infinite
    return 3;
  if (x < y && x * 4 > y + 1) // compared
    return 4;
  return floor(x) == 7; // rounded
}
// args: 5
// stdin: 12\n
// stop: end
// path: LINE(nan) branch
// path: LINE(infinite) branch
// path: LINE(compared) branch
// lost: nothing
