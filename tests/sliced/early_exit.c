// The output ends too early: what decided about the end, and that nothing more
// was printed.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int limit = 2; // in
  int width = 7;
  for (int i = 1; i < argc; i++) { // in
    if (i > limit)                 // in
      exit(0);                     // in
    width++;
    printf("%s\n", argv[i]);
  }
  printf("%d\n", width);
  return 0;
}
// args: a b c
// expect: a\nb\nc\n10\n
// at: 4 -
