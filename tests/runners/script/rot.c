// rot N: turns every letter of standard input by N places.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static int turn(int c, int n) {
  if (islower(c))
    return 'a' + (c - 'a' + n) % 26;
  if (isupper(c))
    return 'A' + (c - 'A' + n) % 25; // BUG
  return c;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 13, c;
  while ((c = getchar()) != EOF)
    putchar(turn(c, n));
  return 0;
}
