// A thread ends the whole program while the main one waits for it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *work(void *arg) {
  if (arg) {
    puts("leaving"); // BEFORE
    exit(3);         // BEFORE
  }
  return arg; // AFTER
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t thread;
  pthread_create(&thread, 0, work, argc > 1 ? &argc : 0); // BEFORE
  pthread_join(thread, 0);                                // BEFORE
  puts("done");                                           // AFTER
  return 0;
}

// flags: -pthread
// kind: exit
