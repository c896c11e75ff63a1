// A thread crashes.
#include <pthread.h>
#include <stdio.h>

static volatile int first, second;

static void *work(void *arg) {
  first = 1;                // BEFORE
  *(volatile int *)arg = 1; // BEFORE
  second = 1;               // AFTER
  if (first > 1)
    second = 2;
  return arg;
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t thread;
  pthread_create(&thread, 0, work, argc > 1 ? 0 : &argc); // BEFORE
  pthread_join(thread, 0); // reached or not: the thread does not wait for it
  puts("done");            // AFTER
  return 0;
}

// flags: -pthread
// kind: signal
