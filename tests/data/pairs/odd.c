// What must neither crash nor lie: setjmp, volatile, atomics, inline assembly,
// threads, variable arrays, alloca, bit-fields.
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>

static jmp_buf place;
static _Atomic int ticks;
static int result[2];

static void leave(int n) {
  if (n > 1)                      // <- again
    longjmp(place, 1);
}

static void *work(void *p) {
  int *cell = p;                  // [cell]
  *cell = 4;                      // [work] <- cell
  ticks++;                        // an atomic change is nobody's definition
  return NULL;
}

struct bits { unsigned a : 4, b : 4; };

int main(void) {
  volatile int tries = 0;         // [tries]
  setjmp(place);
  tries++;                        // [try] <- tries try
  if (tries < 2)                  // <- try
    leave(2);                     // [again]
  int hidden = 5;
  __asm__ volatile("incl %0" : "+m"(hidden)); // unknown from here on
  int h = hidden;                 // [h]
  int n = tries + 1;              // [n] <- try
  int list[n];                    // <- n
  list[0] = h;                    // [list0] <- h
  char *more = alloca(8);         // [more]
  memset(more, 0, 8);             // [set] <- more
  struct bits b;
  b.a = 1;                        // [ba]
  b.b = 2;                        // [bb] <- ba
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, &result[1])) // [create]
    return 3;
  pthread_join(thread, NULL);     // <- create
  return list[0] + more[3] +      // <- list0 more set
         (int)b.a +               // <- bb
         result[1] + ticks == 0;  // <- work
}
