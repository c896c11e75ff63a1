// Structs by value, in registers and in memory, returned and passed on.
#include <stdio.h>
typedef struct {
  int x, y;
} Small;
typedef struct {
  int values[10];
} Large;
static Small swap(Small s) { return (Small){s.y, s.x}; }
static int last(Large l, int by) { return l.values[9] + by; }
static Large fill(int c) {
  Large l = {{0}};
  l.values[9] = c;
  return l;
}
int main(void) {
  int c = getchar();
  Small s = swap((Small){c, 7});
  Large l = fill(c);
  if (s.y == 'q' && s.x == 7) // small
    return 1;
  if (last(l, 1) == 'q') // large
    return 2;
  return 0;
}
// stdin: d
// stop: end
// path: LINE(small) branch stdin[0] != 'q'
// path: LINE(large) branch stdin[0] != 'p'
// lost: nothing
