// An interpreter with computed goto that leaves in the middle of its program.
#include <stdio.h>
#include <stdlib.h>

static int run(const char *p) {
  static const void *const table[] = {&&stop, &&step, &&leave};
  int n = 0;
  goto *table[*p - '0']; // BEFORE
step:
  n++; // BEFORE
  p++;
  goto *table[*p - '0']; // BEFORE
leave:
  puts("leaving"); // BEFORE
  exit(n);         // BEFORE
stop:
  n = 0;    // AFTER
  return n; // AFTER
}

int main(int argc, char **argv) {
  (void)argv;
  int result = run(argc > 1 ? "1112" : "1110"); // BEFORE
  puts("done");                                 // AFTER
  return result;
}

// kind: exit
