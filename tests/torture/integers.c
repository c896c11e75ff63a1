// Widths, signs, shifts, division, overflow.
#include <stdint.h>
#include <stdio.h>
int main(void) {
  int c = getchar();
  int8_t narrow = (int8_t)(c * 3);
  uint64_t wide = (uint64_t)c << 40 | 0x12345;
  int sum;
  if (narrow < 0) // narrow
    c += 0;
  if (wide >> 40 == 100) // wide
    c += 0;
  if (__builtin_add_overflow(c, 0x7fffffff, &sum)) // overflow
    c += 0;
  if (1000 / (c - 99) == 1000) // divide
    c += 0;
  if (-c % 7 == -2) // remainder
    c += 0;
  if (__builtin_bswap32((uint32_t)c) >> 24 == 'd') // swap
    c += 0;
  return 1 << (c & 31);
}
// stdin: d
// stop: end
// path: LINE(divide) divide stdin[0] != 'c'
// path: LINE(swap) branch stdin[0] == 'd'
// path: LINE(wide) branch stdin[0] == 'd'
// lost: nothing
