// Of the arguments of one call only that which the byte came from matters; one
// that is too short is why the next byte comes too early.
#include <stdio.h>

int main(int argc, char **argv) {
  int first = argc + 10;
  int second = argc;   // in
  second = second + 2; // in
  double third = 1.5;
  const char *text = "text";
  char letter = 'x';
  printf("%5d|%d/%.2f %s%c\n", first, second, third, text, letter); // in
  return !argv;
}
// expect:    11|33/1.50 textx\n
// at: 7 printf
