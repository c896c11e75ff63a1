// What exec_instrumented.c and others start: ends with the given status.
#include <stdlib.h>

int main(int argc, char **argv) {
  int status = argc > 1 ? atoi(argv[1]) : 0; // BEFORE
  if (status)
    exit(status); // BEFORE
  return 0;
}

// part
