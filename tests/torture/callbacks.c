// bsearch and qsort_r act on the sign of what their callbacks return.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
static int by_letter(const void *a, const void *b) {
  return *(const char *)a - *(const char *)b; // less
}
static int descending(const void *a, const void *b, void *sign) {
  return *(int *)sign * by_letter(a, b);
}
int main(void) {
  static const char letters[] = "acegikmoq";
  char text[5] = "", *found;
  int sign = -1;
  if (fread(text, 1, 4, stdin) != 4)
    return 4;
  found = bsearch(&text[0], letters, 9, 1, by_letter); // search
  if (found)
    return 1;
  qsort_r(text, 4, 1, descending, &sign); // order
  if (text[0] == 'z')                     // greatest
    return 2;
  if (text[3] == 'b') // least
    return 3;
  return 0;
}
// stdin: dxfb
// stop: end
// path: LINE(search) libc
// path: LINE(order) libc
// path: LINE(greatest) branch stdin[1] != 'z'
// path: LINE(least) branch stdin[3] == 'b'
// lost: nothing
