// Floating point from the input and back.
#include <math.h>
#include <stdio.h>
int main(void) {
  int c = getchar();
  double d = c / 4.0;
  float f = (float)d * 1.5f;
  if (d > 24.9) // double
    c++;
  if (f == 37.5f) // single
    c++;
  if ((int)d == 25) // back
    c++;
  return sqrt(d) < 5.5 ? c : 0; // root
}
// stdin: d
// stop: end
// path: LINE(double) branch
// path: LINE(single) branch
// path: LINE(back) branch
// lost: nothing
