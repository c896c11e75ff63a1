// Uses that are recorded together, up to where a process may end.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int sink, *volatile nowhere;
static volatile int zero;

static int sums(int a, int b) {
  int n = a + b; // [n] <- call
  int m = a * n; // [m] <- call n
  int i = m;     // [i] <- m
  while (i > 3)  // <- i step
    i = i / 2;   // [step] <- i step
  int j = i;     // [j] <- step
  int k = i + j; // [k] <- step j
  b = k;         // [b] <- k
  k = a + b;     // [again] <- call b
  return b + k;  // [ret] <- b again
}

static int dies(int *p, int a) {
  int x = a;      // [x] <- die
  int y = x + *p; // <- die x
  int z = x + y + a;
  return z;
}

static void stop(int status) {
  exit(status); // <- stop
}

static int leaves(int a) {
  int x = a; // [left] <- leave
  stop(x);   // [stop] <- left
  int y = x + a;
  return y;
}

static int divides(int a, int b) {
  int x = a;     // [part] <- divide
  int y = x / b; // <- divide part
  int z = x + y + a;
  return z;
}

int main(void) {
  sink = sums(2, 3); // [call] <- ret
  if (!fork())
    sink = leaves(4); // [leave]
  wait(NULL);
  if (!fork())
    sink = divides(4, zero); // [divide]
  wait(NULL);
  sink = dies(nowhere, 5); // [die]
  return sink;
}
