// A null pointer in the middle of a block without any call.
static int storage;
static int *volatile pointer = &storage;
static volatile int first, second;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    pointer = 0; // BEFORE
  first = 1;     // BEFORE
  *pointer = 2;  // BEFORE
  second = 3;    // AFTER
  return 0;
}

// kind: signal
