// Errors by longjmp: the handler loses one of them.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf failed;

static int divide(int a, int b) {
  if (!b)
    longjmp(failed, 1); // JUMP
  if (a % b)
    longjmp(failed, 2);
  return a / b;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  switch (setjmp(failed)) {
  case 0:
    printf("%d\n", divide(atoi(argv[1]), atoi(argv[2])));
    break;
  case 1:
    puts("division by zero"); // ZERO
    break;
  default:
    puts("exact"); // BUG
  }
  return 0;
}

// run: 6 3 -> 2
// run: 6 0 -> division by zero
// run: 0 5 -> 0
// run: 7 2 -> inexact
// run: 9 2 -> inexact
// fails: 2
// cover: JUMP 0 1
// cover: ZERO 0 1
// cover: BUG 2 0
// rank: ochiai --entities statement BUG within 2
