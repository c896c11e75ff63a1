// A crash: a store through a null pointer.
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int c = getchar();
  int *p = c == 'd' ? NULL : malloc(sizeof *p);
  *p = c; // crash
  return *p == 7;
}
// stdin: d
// stop: crash LINE(crash)
