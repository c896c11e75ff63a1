// Computed goto.
#include <stdio.h>
int main(void) {
  static const void *const labels[] = {&&zero, &&one, &&two};
  int steps = 0, c;
next:
  c = getchar();
  if (c < '0' || c > '2') // end
    return steps;
  goto *labels[c - '0'];
zero:
  steps += 1;
  goto next;
one:
  steps += 10;
  goto next;
two:
  steps += 100;
  goto next;
}
// stdin: 2101\n
// stop: end
// path: LINE(end) branch
