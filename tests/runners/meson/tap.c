#include <stdio.h>

#include "ring.h"

static int check(int number, int pushes, int want) {
  Ring ring = {0};
  for (int i = 0; i < pushes; i++)
    ring_push(&ring, i);
  int ok = ring_sum(&ring) == want;
  printf("%sok %d - sum after %d\n", ok ? "" : "not ", number, pushes);
  return ok;
}

int main(void) {
  puts("1..2");
  check(1, 3, 3);
  check(2, 9, 26);
  return 0;
}
