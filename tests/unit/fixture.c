// The program whose map and run files test_cfront.c takes apart. Line numbers
// are named there: keep them.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int count, n, proc, prio, queue;

static void figure1(int block_queue, int found) {
  if (block_queue) {
    count = block_queue + 1;
    n = count * 2;
    proc = found;
    if (proc) {
      queue = n - 1;
      prio = proc + 1;
      n = prio;
    }
  }
  printf("%d\n", n);
}

static int jumps(const char *s) {
  int x = 0;
  for (int i = 0; s[i]; i++) {
    if (s[i] == 'b' &&
        i > 1) {
      break;
    }
    x = 7;
  }
  switch (s[0]) {
  case 'a':
    x += 1;
    break;
  case 'b':
    return 9;
  default:
    x += 2;
  }
  return x;
}

static void die(const char *how) {
  int *volatile nothing = NULL;
  if (!strcmp(how, "segv")) {
    count = 1;
    *nothing = 2;
    count = 3;
  }
  if (!strcmp(how, "abort"))
    abort();
}

int main(int argc, char **argv) {
  figure1(argc, argc > 2);
  n = jumps(argv[1]);
  die(argv[1]);
  n = 0;
  return 0;
}
