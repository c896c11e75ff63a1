// Nested conditional expressions, one arm per line.
#include <stdio.h>
#include <stdlib.h>

static int clamp(int v, int lo, int hi) {
  return v < lo   ? lo
         : v > hi ? hi - 1 // BUG
                  : v;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  printf("%d\n", clamp(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])));
  return 0;
}

// run: 5 0 10 -> 5
// run: -5 0 10 -> 0
// run: 15 0 10 -> 10
// run: 11 0 10 -> 10
// run: 0 0 10 -> 0
// run: 10 0 10 -> 10
// fails: 2
// cover: BUG 2 3
// rank: ochiai --entities statement BUG first
