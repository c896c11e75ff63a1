// Every thread's lines are there, also of those that are still running when the
// program ends.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink[4];
static pthread_barrier_t all;

static void *one(void *arg) {
  sink[0] = 1; // BEFORE
  pthread_barrier_wait(&all);
  return arg;
}

static void *two(void *arg) {
  sink[1] = 1; // BEFORE
  pthread_barrier_wait(&all);
  pause();
  return arg; // AFTER
}

static void *three(void *arg) {
  sink[2] = 1; // BEFORE
  pthread_barrier_wait(&all);
  for (;;)
    sink[3]++; // BEFORE
  return arg;
}

int main(int argc, char **argv) {
  (void)argv;
  void *(*const work[])(void *) = {one, two, three};
  pthread_barrier_init(&all, 0, 4);
  for (int i = 0; i < 3 && argc > 1; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, work[i], 0); // BEFORE
  }
  if (argc > 1) {
    pthread_barrier_wait(&all);
    while (!sink[3])
      usleep(1000);
    exit(3); // BEFORE
  }
  return 0; // AFTER
}

// flags: -pthread
// kind: exit
