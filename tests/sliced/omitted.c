// Something is left out: the branch that decided so is in the slice, though
// what was printed instead does not depend on it.
#include <stdio.h>

int main(int argc, char **argv) {
  int verbose = argc > 5; // in
  int count = 3;
  printf("a");
  if (verbose) // in
    printf("b");
  count++;
  if (count > 100)
    count = 0;
  printf("c"); // in
  printf("%d\n", count);
  return !argv;
}
// expect: abc4\n
// at: 1 printf
