// A switch with many cases, values on both sides of zero.
#include <stdio.h>
static int weigh(int n) {
  switch (n) { // weigh
  case -20: return 1;
  case -7: return 2;
  case 0: return 3;
  case 3: return 4;
  case 9: return 5;
  case 12: return 6;
  case 44: return 7;
  case 45: return 8;
  case 46: return 9;
  case 1000: return 10;
  case 100000: return 11;
  default: return 0;
  }
}
int main(void) {
  int c = getchar(), sum = 0;
  for (int i = -30; i < 50; i++)
    sum += weigh(i);
  return sum + weigh(1000) + weigh(c - 120) == 63; // all
}
// stdin: d
// stop: end
// path: LINE(weigh) switch stdin[0] == 'd'
// lost: nothing
