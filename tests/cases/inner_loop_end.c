// The jump behind an inner loop has the place of the loop's last word: it does
// not execute that line.
#include <stdio.h>
#include <stdlib.h>

#define NEXT continue

static int last(int rows, int columns, int wrong) {
  int kept[4] = {0}, sum = 0;
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < columns; k++)
      kept[k & 3] = i; // INNER
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < columns; k++)
      kept[k & 3] += (int)wrong; // BUG
  for (int i = 0; i < 4; i++) {
    if (!kept[i])
      NEXT; // JUMP
    sum += kept[i];
  }
  return sum;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  printf("%d\n", last(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])));
  return 0;
}

// run: 0 3 1 -> 0
// run: 3 0 1 -> 0
// run: 3 1 0 -> 2
// run: 2 1 1 -> 1
// run: 3 0 5 -> 0
// fails: 1
// cover: BUG 1 1
// cover: INNER 1 1
// cover: JUMP 1 4
// rank: ochiai BUG within 20
