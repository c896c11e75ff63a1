#include <stdlib.h>

#include "ring.h"

// sum WANT N...: the last four sum up to WANT.
int main(int argc, char **argv) {
  Ring ring = {0};
  if (argc < 3)
    return 77;
  for (int i = 2; i < argc; i++)
    ring_push(&ring, atoi(argv[i]));
  return ring_sum(&ring) != atoi(argv[1]);
}
