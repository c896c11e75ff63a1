// A store that was skipped: the value depends on the condition, though nothing
// was written; in a function that was not called, too.
#include <stdio.h>

typedef struct {
  int first, second;
} Pair;

static void set(Pair *p, int v) { p->second = v; }

int main(int argc, char **argv) {
  Pair pair = {1, 2};    // in
  int wanted = argc + 1; // in
  int other = 3;
  int quiet = argc > 9;
  if (wanted == 7) // in
    set(&pair, 20);
  if (quiet)
    other = 4;
  if (quiet)
    pair.first = 9;
  printf("%d %d\n", pair.second, other + pair.first); // in
  return !argv;
}
// expect: 20 4\n
// at: 1 printf
