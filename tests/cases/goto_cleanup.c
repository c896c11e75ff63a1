// Error handling by goto: one jump leaves to the wrong label.
#include <stdio.h>
#include <stdlib.h>

static int held; // resources not given back

static int use(int a, int b) {
  int rc = -1;
  held++;
  if (a < 0)
    goto first;
  held++;
  if (b < 0)
    goto first; // BUG
  rc = a + b;
  held--;
first:
  held--;
  return rc;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  int rc = use(atoi(argv[1]), atoi(argv[2]));
  printf("%d %d\n", rc, held);
  return 0;
}

// run: 1 2 -> 3 0
// run: -1 2 -> -1 0
// run: 1 -2 -> -1 0
// run: -1 -2 -> -1 0
// run: 5 -2 -> -1 0
// fails: 2
// rank: ochiai --entities statement BUG first
// rank: ochiai --by edge BUG within 3
