// A crash deep in a recursion: the outermost callers are far away.
static volatile int storage, first, second;

static int descend(volatile int *p, int n) {
  volatile char frame[500];
  frame[0] = (char)n; // BEFORE
  if (n == 0)
    *p = 1; // BEFORE
  else
    descend(p, n - 1); // BEFORE
  if (frame[0])
    second++; // AFTER
  return frame[0];
}

int main(int argc, char **argv) {
  (void)argv;
  first = 1;                                     // BEFORE
  first = descend(argc > 1 ? 0 : &storage, 600); // BEFORE
  second = 2;                                    // AFTER
  return 0;
}

// kind: signal
// imprecise
