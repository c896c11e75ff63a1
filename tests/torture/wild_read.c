// A crash: reading far out of an array, by an index from the input.
#include <stdio.h>
static int table[4];
int main(void) {
  int c = getchar(), d = getchar();
  if (d == 'e')
    return table[c * 100000000]; // crash
  return 0;
}
// stdin: de
// stop: crash LINE(crash)
