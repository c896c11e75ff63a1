// The program's own handler takes the crash and jumps out of the block. (Where
// it did cannot be told: the line after the crash is taken for executed.)
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf place;
static int storage;
static volatile int first, second;

static void handler(int sig) {
  siglongjmp(place, sig); // BEFORE
}

static void work(int *volatile p) {
  first = 1; // BEFORE
  *p = 1;    // BEFORE
  second = 1;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc < 2)
    puts("well"); // AFTER
  signal(SIGSEGV, handler);
  if (sigsetjmp(place, 1) == 0) {
    work(argc > 1 ? 0 : &storage); // BEFORE
    puts("done");
    return 0;
  }
  return 7; // BEFORE
}

// kind: exit
