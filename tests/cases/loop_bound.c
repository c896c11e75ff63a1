// A loop that stops one short. Every run passes through it: spectra alone
// cannot single it out, but the line that never sees the last element falls.
#include <stdio.h>
#include <stdlib.h>

static int largest(int n, char **words) {
  int best = atoi(words[0]);
  for (int i = 1; i < n - 1; i++) { // BUG
    int v = atoi(words[i]);
    if (v > best)
      best = v; // LARGER
  }
  return best;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  printf("%d\n", largest(argc - 1, argv + 1));
  return 0;
}

// run: 7 -> 7
// run: 7 3 -> 7
// run: 3 7 -> 7
// run: 1 9 2 -> 9
// run: 4 1 2 -> 4
// run: 1 2 3 -> 3
// run: 1 8 3 9 -> 9
// fails: 3
// cover: BUG 3 4
// cover: LARGER 2 1
// rank: ochiai --entities statement LARGER within 6
// rank: ochiai --entities statement BUG within 7
