#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roman.h"

// roman N [TEXT]: prints N; with TEXT it must be that.
int main(int argc, char **argv) {
  char text[16];
  int n = argc > 1 ? atoi(argv[1]) : 0;
  if (n < 1 || n > 3999)
    return 77;
  puts(roman(n, text));
  return argc > 2 && strcmp(text, argv[2]) != 0;
}
