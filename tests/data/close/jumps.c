// For tests/e2e/close-records: setjmp and longjmp, which llvm-cov counts wrong.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf place;
static int depth, last;

static void jump(int n) {
  depth++;
  if (n > 2)
    longjmp(place, n);
  last = n;
}

static void jumping(int n) {
  volatile int tries = 0;
  int code = setjmp(place);
  if (code == 0) {
    tries = 1;
    jump(n);
    tries = 2;
  } else {
    tries += 10;
  }
  printf("%d %d %d %d\n", code, tries, depth, last);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  jumping(n);
  jumping(n - 1);
  printf("%d\n", depth + last);
  return 0;
}
