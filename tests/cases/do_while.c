// A do-while that counts digits: wrong for a negative number's sign.
#include <stdio.h>
#include <stdlib.h>

static int width(int n) {
  int w = 0;
  if (n < 0) {
    n = -n;
    w = 0; // BUG
  }
  do {
    w++; // BODY
    n /= 10;
  } while (n);
  return w;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  printf("%d\n", width(atoi(argv[1])));
  return 0;
}

// run: 0 -> 1
// run: 7 -> 1
// run: 1234 -> 4
// run: -5 -> 2
// run: -123 -> 4
// fails: 2
// cover: BODY 2 3
// cover: BUG 2 0
// rank: ochiai --entities statement BUG rank 2
