// Writes a large session into a store, as many writers at once as asked for, and
// prints how many runs they stored a second: bench/store-scale.
//
// usage: store_scale STORE RUNS ENTITIES WRITERS
//
// The session is that of a program of 100 files. A run executes one entity in a
// hundred, in stretches of 20; one run in fifty fails, in one of five ways, and
// executes the entity at fault.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store.h"
#include "util/clock.h"
#include "util/mem.h"

enum { FILES = 100, STRETCH = 20, PERCENT = 1, FAILING = 50, WAYS = 5 };

typedef struct {
  const char *where;
  size_t runs, entities, writers;
  int64_t session;
} Load;

static void check(int rc, const Err *err) {
  if (!rc)
    return;
  fprintf(stderr, "%s\n", err->text);
  exit(1);
}

// --- the program -----------------------------------------------------------

static void add_file(Store *s, const Load *l, size_t n) {
  size_t lines = l->entities / FILES;
  char path[64];
  snprintf(path, sizeof path, "/bench/file%zu.c", n);
  Source source = {.path = path, .hash = n + 1};
  Unit unit = {.name = path,
               .sources = &source,
               .nsources = 1,
               .entities = mem_array(Entity, lines),
               .nentities = lines};
  memset(unit.id.bytes, (int)n, sizeof unit.id.bytes);
  for (size_t i = 0; i < lines; i++)
    unit.entities[i] = (Entity){.kind = ENTITY_STATEMENT,
                                .line = (uint32_t)i + 1,
                                .function = ENTITY_NONE,
                                .from = ENTITY_NONE,
                                .to = ENTITY_NONE};
  uint32_t *ids = mem_array(uint32_t, lines);
  Err err;
  check(store_add_unit(s, l->session, &unit, ids, &err), &err);
  free(ids);
  free(unit.entities);
}

static void begin(Load *l) {
  Store *s;
  Err err;
  bool continued;
  check(store_open(&s, l->where, STORE_CREATE, &err), &err);
  check(session_begin(s, "bench", "culprit run", "/bench", &l->session,
                      &continued, &err),
        &err);
  for (size_t i = 0; i < FILES; i++)
    add_file(s, l, i);
  store_close(s);
}

// --- the runs --------------------------------------------------------------

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static void add_failure(Run *run, size_t way, uint32_t fault) {
  char text[32];
  snprintf(text, sizeof text, "signal %zu", way);
  array_push(&run->failures, (Failure){mem_strdup("signal"), mem_strdup(text),
                                       mem_strdup(""), mem_strdup(text)});
  bitset_add(&run->hits[ENTITY_STATEMENT], fault);
}

static Run make_run(const Load *l, size_t n) {
  char test[32];
  uint64_t state = n * 2654435761u + 1;
  bool fails = n % FAILING == 0;
  snprintf(test, sizeof test, "run%zu", n);
  Run run = {.test = mem_strdup(test),
             .command = mem_strdup("./program input"),
             .verdict = fails ? VERDICT_FAIL : VERDICT_PASS,
             .seconds = 0.01,
             .processes = 1};
  size_t stretches = l->entities * PERCENT / 100 / STRETCH;
  for (size_t i = 0; i < stretches; i++) {
    uint32_t at = (uint32_t)(next_random(&state) % (l->entities - STRETCH));
    for (uint32_t k = 0; k < STRETCH; k++)
      bitset_add(&run.hits[ENTITY_STATEMENT], at + k);
  }
  if (fails) {
    size_t way = n / FAILING % WAYS;
    add_failure(&run, way, (uint32_t)(l->entities / WAYS * way));
  }
  return run;
}

static void write_part(const Load *l, size_t part) {
  Store *s;
  Err err;
  check(store_open(&s, l->where, STORE_EXISTING, &err), &err);
  for (size_t n = part; n < l->runs; n += l->writers) {
    Run run = make_run(l, n);
    check(store_add_run(s, l->session, &run, &err), &err);
    run_release(&run);
  }
  check(store_flush(s, &err), &err);
  store_close(s);
}

static void write_all(const Load *l) {
  for (size_t i = 0; i < l->writers; i++)
    if (fork() == 0) {
      write_part(l, i);
      _exit(0);
    }
  int status, bad = 0;
  while (wait(&status) > 0)
    bad |= status;
  if (bad)
    exit(1);
}

static void finish(const Load *l, int64_t *bytes) {
  Store *s;
  Err err;
  check(store_open(&s, l->where, STORE_EXISTING, &err), &err);
  check(session_finish(s, l->session, &err), &err);
  check(store_size(s, bytes, &err), &err);
  store_close(s);
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  Load l = {argv[1], strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10),
            strtoul(argv[4], NULL, 10), 0};
  int64_t bytes;
  begin(&l);
  double start = clock_now();
  for (size_t n = 0; n < 20000 && n < l.runs; n++) { // what making them costs
    Run run = make_run(&l, n);
    run_release(&run);
  }
  double making =
      (clock_now() - start) / (double)(l.runs < 20000 ? l.runs : 20000);
  start = clock_now();
  write_all(&l);
  double seconds = clock_now() - start;
  finish(&l, &bytes);
  printf("%zu runs, %zu writers: %.1f s, %.0f runs/s, %.0f bytes a run; making"
         " one took %.0f us\n",
         l.runs, l.writers, seconds, (double)l.runs / seconds,
         (double)bytes / (double)l.runs, making * 1e6);
  return 0;
}
