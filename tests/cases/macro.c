// A macro without parentheses: the fault shows where it is used.
#include <stdio.h>
#include <stdlib.h>

#define SQUARE(x) x * x

static int area(int side, int border, int framed) {
  if (!framed)
    return SQUARE(side);
  return SQUARE(side + border); // BUG
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  printf("%d\n", area(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])));
  return 0;
}

// run: 3 1 0 -> 9
// run: 3 1 1 -> 16
// run: 1 0 1 -> 1
// run: 5 2 0 -> 25
// run: 5 2 1 -> 49
// fails: 2
// cover: BUG 2 1
// rank: ochiai --entities statement BUG first
// rank: sbi --entities statement BUG first
