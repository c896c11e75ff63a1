// Functions called through pointers, of ours and of others.
#include <ctype.h>
#include <stdio.h>
static int plus(int a, int b) { return a + b; }
static int minus(int a, int b) { return a > b ? a - b : 0; } // minus
int main(void) {
  int (*const table[])(int, int) = {plus, minus};
  int (*volatile upper)(int) = toupper;
  int (*volatile op)(int, int) = table[1];
  int c = getchar();
  if (op(c, 'a') == 2) // two
    return 1;
  return upper(c) == 'X';
}
// stdin: d
// stop: end
// path: LINE(minus) branch stdin[0] > 'a'
// path: LINE(two) branch stdin[0] != 'c'
