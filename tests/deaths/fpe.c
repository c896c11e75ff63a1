// A division by zero.
static volatile int divisor = 1, result, second;

int main(int argc, char **argv) {
  (void)argv;
  divisor = argc == 1;    // BEFORE
  result = 100 / divisor; // BEFORE
  second = result + argc; // AFTER
  return 0;
}

// kind: signal
