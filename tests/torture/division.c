// A crash: division by zero.
#include <stdio.h>
int main(void) {
  int c = getchar();
  return 1000 / (c - 'd'); // crash
}
// stdin: d
// stop: crash LINE(crash)
