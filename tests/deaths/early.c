// A crash in a constructor, before main.
#include <string.h>

static int storage;
static volatile int first, second;

__attribute__((constructor)) static void early(int argc, char **argv) {
  volatile int *p = argc > 1 && !strcmp(argv[1], "die") ? 0 : &storage;
  first = 1;  // BEFORE
  *p = 1;     // BEFORE
  second = 1; // AFTER
  if (*p > 1)
    second = 2;
}

int main(void) {
  return 0; // AFTER
}

// kind: signal
