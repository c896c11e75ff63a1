// With a sanitizer the crash is its own: it has taken the signal.
static volatile int storage, first, second;

static void store(volatile int *p) {
  first = 1;  // BEFORE
  *p = 1;     // BEFORE
  second = 1; // AFTER
  if (*p > 1)
    second = 2;
}

int main(int argc, char **argv) {
  (void)argv;
  store(argc > 1 ? 0 : &storage); // BEFORE
  first = 2;                      // AFTER
  return 0;
}

// flags: -fsanitize=undefined
// kind: sanitizer
// imprecise
