// Functions of our own with variable arguments: in registers, on the stack, as
// floats.
#include <stdarg.h>
#include <stdio.h>
static int sum(int n, ...) {
  va_list args, copy;
  int total = 0;
  va_start(args, n);
  va_copy(copy, args);
  for (int i = 0; i < n; i++)
    total += va_arg(args, int);
  total += va_arg(copy, int);
  va_end(args);
  va_end(copy);
  return total;
}
static double mixed(const char *kinds, ...) {
  va_list args;
  double total = 0;
  va_start(args, kinds);
  for (; *kinds; kinds++)
    total += *kinds == 'd' ? va_arg(args, double) : va_arg(args, int);
  va_end(args);
  return total;
}
int main(void) {
  int c = getchar();
  if (sum(9, 1, 2, 3, 4, 5, 6, 7, 8, c) == 137) // nine
    return 1;
  return mixed("idid", 1, 2.5, c, 0.5) > 200.0; // mixed
}
// stdin: d
// stop: end
// path: LINE(nine) branch stdin[0] == 'd'
// lost: nothing
