// Decimal fractions: strtod, atof, scanf.
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  double d, e = argc > 1 ? atof(argv[1]) : 0;
  char *end;
  if (e > 2.5) // atof
    return 1;
  if (argc > 2 && strtod(argv[2], &end) < -3 && *end == 'x') // strtod
    return 2;
  if (scanf("%lf", &d) == 1 && d * 2 == 25) // scanf
    return 3;
  return 0;
}
// args: 2.25 -3.5y
// stdin: 12.75 \n
// stop: end
// path: LINE(atof) branch
// path: LINE(strtod) branch
// path: LINE(strtod) branch argv[2][4] != 'x'
// path: LINE(scanf) branch
// lost: nothing
