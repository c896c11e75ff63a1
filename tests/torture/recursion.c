// Recursion, and results that depend on the input through many frames.
#include <stdlib.h>
static int fibonacci(int n) {
  if (n < 2) // base
    return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}
int main(int argc, char **argv) {
  return argc > 1 && fibonacci(atoi(argv[1])) == 8;
}
// args: 6
// stop: end
// path: LINE(base) branch argv[1][0] - '0' >= 2
// lost: nothing
