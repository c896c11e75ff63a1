// The crash is in a function called in the middle of the caller's block; nothing
// that follows in any of the callers was executed.
static volatile int storage, first, second, third;

static void innermost(volatile int *p) {
  first = 1; // BEFORE
  *p = 1;    // BEFORE
  first = 2; // AFTER
  if (*p > 1)
    first = 3;
}

static void middle(volatile int *p) {
  second = 1;   // BEFORE
  innermost(p); // BEFORE
  second = 2;   // AFTER
  if (*p > 1)
    second = 3;
}

int main(int argc, char **argv) {
  (void)argv;
  volatile int *p = argc > 1 ? 0 : &storage;
  third = 1; // BEFORE
  middle(p); // BEFORE
  third = 2; // AFTER
  return 0;
}

// kind: signal
