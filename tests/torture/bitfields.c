// Bit-fields and unions.
#include <stdio.h>
typedef struct {
  unsigned low : 3, high : 5;
  int sign : 4;
} Bits;
typedef union {
  unsigned whole;
  unsigned char bytes[4];
} Pieces;
int main(void) {
  int c = getchar();
  Bits b = {0};
  Pieces p = {.whole = 0};
  b.low = (unsigned)c;
  b.sign = c;
  if (b.low == 5) // low
    return 1;
  if (b.sign < 0) // sign
    return 2;
  p.bytes[1] = (unsigned char)c;
  if (p.whole == 0x7100) // union
    return 3;
  return 0;
}
// stdin: d
// stop: end
// path: LINE(union) branch stdin[0] != 'q'
// lost: nothing
