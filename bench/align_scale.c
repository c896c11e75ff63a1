// Times the alignment of two long runs.
//
//   bench_align_scale [MILLIONS]   CPU seconds, largest resident set in MB,
//                                  events, differences
//
// A loop whose body has a branch, and a call with two more. The two runs differ
// in every sixth event, and the second run has a few more iterations. Building
// the events is timed, too: it is the cost of following a replay.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "near/align.h"

enum { LOOP = 1, IF, CALLED, DEEP };

// What branch `number` does the i-th time; `seed` distinguishes the two runs.
static uint32_t edge(uint32_t number, uint32_t i, uint32_t seed) {
  uint32_t mix = (i + 1) * 2654435761u ^ number * 40503u;
  bool differs = number != LOOP && mix % 9 < 2;
  return number * 2 + ((mix >> 8 & 1) ^ (differs & seed));
}

static void run(Events *e, uint32_t iterations, uint32_t seed) {
  events_init(e);
  uint32_t head = 0;
  for (uint32_t i = 0; i < iterations; i++) {
    head = events_add(e, e->items.items[head].key, head, LOOP, LOOP * 2);
    uint64_t key = e->items.items[head].key;
    events_add(e, key, head, IF, edge(IF, i, seed));
    uint32_t call = events_add(e, key, head, CALLED, edge(CALLED, i, seed));
    events_add(e, e->items.items[call].key, call, DEEP, edge(DEEP, i, seed));
  }
  events_add(e, e->items.items[head].key, head, LOOP, LOOP * 2 + 1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  uint32_t millions = argc > 1 ? (uint32_t)atoi(argv[1]) : 20;
  uint32_t iterations = millions * 250000;
  Events f, p;
  Distance d = {0};
  struct rusage used;
  double start = now();
  run(&f, iterations, 0);
  run(&p, iterations + 7, 1);
  align_distance(&f, &p, &d);
  double seconds = now() - start;
  getrusage(RUSAGE_SELF, &used);
  printf("%.2f %ld %zu %zu\n", seconds, used.ru_maxrss / 1024, f.items.len - 1,
         d.len);
  array_release(&d);
  events_release(&f);
  events_release(&p);
  return 0;
}
