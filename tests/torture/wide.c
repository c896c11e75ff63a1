// What has no opcode: long double, __int128, vectors, inline assembly. Results
// come from the trace; what depended on the input is made concrete and counted.
#include <stdio.h>
typedef int Four __attribute__((vector_size(16)));
int main(void) {
  int c = getchar(), e = getchar();
  long double d = c * 1.5L;
  __int128 big = (__int128)c << 70;
  Four v = {c, 1, 2, 3};
  int same;
  __asm__("movl %1, %0" : "=r"(same) : "r"(c));
  if (d > 100.0L && (int)(big >> 70) == c && v[1] == 1 && same == c)
    puts("wide");
  return e == 'e'; // plain
}
// stdin: de
// stop: end
// lost: inline assembly, once|an operation
