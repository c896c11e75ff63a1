// Functions that their author calls pure record all the same.
#include <stdio.h>
__attribute__((pure, noinline)) static int first(const char *s) {
  return s[0] == 'd' ? s[1] : 0; // first
}
__attribute__((const, noinline)) static int square(int x) {
  return x > 3 ? x * x : x; // square
}
int main(void) {
  char line[8];
  int n = 0;
  if (!fgets(line, sizeof line, stdin))
    return 1;
  for (int i = 0; i < 3; i++)
    n += first(line) + square(line[1]) + first(line);
  return n == 7;
}
// stdin: de\n
// stop: end
// path: LINE(first) branch stdin[0] == 'd'
// lost: nothing
