// A thread ends the whole program while the main one waits for it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int waited_for;

static void *work(void *arg) {
  if (arg) {
    while (!waited_for)
      sched_yield();
    puts("leaving"); // BEFORE
    exit(3);         // BEFORE
  }
  return arg; // AFTER
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t thread;
  pthread_create(&thread, 0, work, argc > 1 ? &argc : 0); // BEFORE
  waited_for = 1;                                         // BEFORE
  pthread_join(thread, 0); // reached or not: the thread does not wait for it
  puts("done");            // AFTER
  return 0;
}

// flags: -pthread
// kind: exit
