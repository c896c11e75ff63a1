// A condition that is assigned: both sides matter if both were evaluated.
#include <stdio.h>

static int small(int v) { return v < 4; } // in

int main(int argc, char **argv) {
  int a = argc; // in
  int b = 7;    // in
  int c = 9;
  int both = a > 0 && small(b); // in
  int never = a > 100 && small(c);
  const char *word = both ? "yes" : "no"; // in
  c = never;
  printf("%s %d\n", word, c); // in
  return !argv;
}
// expect: yes 0\n
// at: 0 printf
