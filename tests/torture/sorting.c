// qsort calls back, and moves elements with their expressions.
#include <stdio.h>
#include <stdlib.h>
static int by_value(const void *a, const void *b) {
  return *(const unsigned char *)a - *(const unsigned char *)b;
}
int main(void) {
  unsigned char text[5];
  if (fread(text, 1, 4, stdin) != 4)
    return 2;
  qsort(text, 4, 1, by_value);
  if (text[0] == 'a') // least
    return 1;
  return 0;
}
// stdin: dbca
// stop: end
// path: LINE(least) branch stdin[3] == 'a'
// lost: nothing
