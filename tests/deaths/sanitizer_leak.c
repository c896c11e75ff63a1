// A leak is reported when all is over: everything was executed.
#include <stdlib.h>

static void *volatile kept;

int main(int argc, char **argv) {
  (void)argv;
  kept = malloc(10); // BEFORE
  if (argc < 2)
    free(kept); // AFTER
  kept = 0;     // BEFORE
  return 0;     // BEFORE
}

// flags: -fsanitize=address
// kind: sanitizer
