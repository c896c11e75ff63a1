#include <stdio.h>
#include <stdlib.h>

// The number in the middle.
static int mid(int x, int y, int z) {
  int m = z;
  if (y < z) {
    if (x < y)
      m = y;
    else if (x < z)
      m = y; // BUG: m = x
  } else {
    if (x > y)
      m = y;
    else if (x > z)
      m = x;
  }
  return m;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  printf("%d\n", mid(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])));
  return 0;
}
