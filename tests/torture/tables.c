// A table indexed by input, with input in it; a store to a place that the input
// chooses.
#include <stdio.h>
int main(void) {
  unsigned char text[9] = "", map[16] = "";
  if (fread(text, 1, 8, stdin) != 8)
    return 1;
  if (text[text[0] & 7] == 'w') // chosen
    return 2;
  map[text[1] & 15] = 7;      // store
  if (map[text[2] & 15] == 7) // stored
    return 3;
  return 0;
}
// stdin: abcdefgh
// stop: end
// path: LINE(chosen) branch
// path: LINE(store) address
// path: LINE(stored) branch
