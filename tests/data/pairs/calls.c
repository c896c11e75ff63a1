// Calls: arguments, results, recursion, structs by value, callbacks, pointers to
// functions, variadic functions.
#include <stdarg.h>
#include <stdlib.h>

struct big { int a[10]; };
struct small { int a, b; };

static int fact(int n) {
  if (n < 2)                      // <- main1 rec
    return 1;                     // [one]
  return n *                      // [many] <- main1 rec
         fact(n - 1);             // [rec] <- main1 rec one many
}

static struct small twin(int v) {
  struct small s = {v, v};        // [twin] <- main2
  return s;                       // [rtwin] <- twin
}

static int sum(struct big b, struct small s) {
  return b.a[3] + s.b;            // [sum] <- main3
}

static int less(const void *x, const void *y) {
  return *(const int *)x -        // [less] <- sort
         *(const int *)y;         // <- sort
}

static int plus(int a, int b) { return a + b; } // [plus] <- main4

static int total(int n, ...) {
  va_list ap;
  va_start(ap, n);
  int t = 0;                      // [t0]
  while (n--)                     // [dec] <- main5 dec
    t += va_arg(ap, int);         // [t1] <- t0 t1
  va_end(ap);
  return t;                       // [total] <- t1
}

int main(void) {
  int f = fact(3);                // [main1] <- many
  struct small s = twin(f);       // [main2] <- main1 rtwin
  struct big b = {{0}};           // [b]
  b.a[3] = s.a;                   // [b3] <- main2
  int t = sum(b, s);              // [main3] <- b b3 main2 sum
  int list[3] = {3, t, 1};        // [list] <- main3
  qsort(list, 3, 4, less);        // [sort] <- list
  int (*op)(int, int) = plus;     // [op]
  int r = op(list[0], 2);         // [main4] <- op sort plus
  int v = total(2, r, 4);         // [main5] <- main4 total
  return v == 0;                  // <- main5
}
