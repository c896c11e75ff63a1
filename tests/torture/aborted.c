// The run ends inside the library: assert, and a bad argument.
#include <assert.h>
#include <stdio.h>
int main(void) {
  int c = getchar();
  assert(c != 'd'); // assertion
  return 0;
}
// stdin: d
// stop: call LINE(assertion) __assert_fail
// path: LINE(assertion) branch stdin[0] == 'd'
