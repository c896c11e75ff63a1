// The smallest case there is: one branch is wrong.
#include <stdio.h>
#include <stdlib.h>

static int distance(int a, int b) {
  if (a > b)
    return a - b; // RIGHT
  return a + b; // BUG
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  printf("%d\n", distance(atoi(argv[1]), atoi(argv[2])));
  return 0;
}

// run: 5 2 -> 3
// run: 2 5 -> 3
// run: 9 1 -> 8
// fails: 1
// cover: BUG 1 0
// cover: RIGHT 0 2
// rank: ochiai --entities statement BUG first
// rank: ochiai RIGHT within 99
