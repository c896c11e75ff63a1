// scanf and sscanf.
#include <stdio.h>
int main(void) {
  int n;
  char word[16], c;
  unsigned x;
  if (scanf("%d %15s", &n, word) != 2) // scanf
    return 1;
  if (n == 12 && word[1] == 'q') // both
    return 2;
  if (sscanf(word, "a%c", &c) == 1 && c == 'z') // sscanf
    return 3;
  if (scanf(" %x", &x) == 1 && x == 255) // hex
    return 4;
  return 0;
}
// stdin: 12 ab ff\n
// stop: end
// path: LINE(both) branch
// path: LINE(sscanf) branch stdin[4] != 'z'
// path: LINE(hex) branch
// lost: nothing
