// Undefined behaviour that is not to be survived.
#include <limits.h>

static volatile int number, first, second;

static int twice(int n) {
  first = 1;          // BEFORE
  int result = n + n; // BEFORE
  second = result;    // AFTER
  if (second > 10)
    second = 10;
  return second;
}

int main(int argc, char **argv) {
  (void)argv;
  number = twice(argc > 1 ? INT_MAX : 2); // BEFORE
  first = 2;                              // AFTER
  return 0;
}

// flags: -fsanitize=undefined -fno-sanitize-recover=all
// kind: sanitizer
