// The crash is in a block that returns, of a function that may have returned
// from there before: without a count it cannot be told which lines behind the
// crash were executed by an earlier call.
static volatile int storage, first, second;

__attribute__((noinline)) static void work(volatile int *p) {
  first = 1;  // BEFORE
  *p = 1;     // BEFORE
  second = 2; // AFTER
}

int main(int argc, char **argv) {
  (void)argv;
  work(argc > 1 ? 0 : &storage); // BEFORE
  second = 3;                    // AFTER
  return 0;
}

// kind: signal
// imprecise
