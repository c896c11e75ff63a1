// Globals, static and not, initialised tables among them.
#include <stdio.h>
static const unsigned short squares[16] = {0,  1,  4,  9,   16,  25,  36,  49,
                                           64, 81, 100, 121, 144, 169, 196, 225};
static int counter = 3;
int shared;
int main(void) {
  int c = getchar() & 15;
  counter += c;
  shared = counter * 2;
  if (squares[c] == 81) // table
    return 1;
  return shared == 14; // sum
}
// stdin: d
// stop: end
// path: LINE(table) branch
// not: address
// lost: nothing
