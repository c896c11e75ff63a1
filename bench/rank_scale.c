// Writes a large made-up session, for timing `culprit rank`.
//
//   bench_rank_scale STORE RUNS STATEMENTS
//
// Files of 1000 lines, a function to every 50 of them. Each run executes a
// tenth of the statements, chosen at random: the bitsets of the store compress
// nothing of that, so this is its worst case. Every twentieth run fails, and
// each failing run executes the statement in the middle.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "util/mem.h"

enum { LINES = 1000, FUNCTION_LINES = 50, FAILING = 20, DENSITY = 10 };

typedef struct {
  Store *store;
  int64_t session;
  uint32_t *statements; // ids
  size_t nstatements;
  uint64_t random;
} World;

// splitmix64
static uint64_t draw(World *w) {
  uint64_t z = w->random += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// A unit of `lines` statements and their functions; adds their ids.
static int add_file(World *w, uint32_t number, size_t lines, Err *err) {
  char path[64];
  snprintf(path, sizeof path, "/made-up/file%03u.c", number);
  Source source = {.path = path};
  Entity entities[LINES + LINES / FUNCTION_LINES];
  uint32_t ids[LINES + LINES / FUNCTION_LINES];
  size_t n = 0, function = 0;
  for (uint32_t i = 0; i < lines; i++) {
    if (i % FUNCTION_LINES == 0) {
      function = n;
      entities[n++] = (Entity){.kind = ENTITY_FUNCTION,
                               .line = i + 1,
                               .function = (uint32_t)function,
                               .from = ENTITY_NONE,
                               .to = ENTITY_NONE,
                               .name = "f"};
    }
    entities[n++] = (Entity){.kind = ENTITY_STATEMENT,
                             .line = i + 1,
                             .function = (uint32_t)function,
                             .from = ENTITY_NONE,
                             .to = ENTITY_NONE};
  }
  Unit unit = {.name = path,
               .sources = &source,
               .nsources = 1,
               .entities = entities,
               .nentities = n};
  memcpy(unit.id.bytes, &number, sizeof number);
  if (store_add_unit(w->store, w->session, &unit, ids, err))
    return -1;
  for (size_t i = 0; i < n; i++)
    if (entities[i].kind == ENTITY_STATEMENT)
      w->statements[w->nstatements++] = ids[i];
  return 0;
}

static int add_run(World *w, size_t number, Err *err) {
  char test[32];
  snprintf(test, sizeof test, "%zu", number + 1);
  bool fails = number % FAILING == 0;
  Run run = {.test = test,
             .command = test,
             .verdict = fails ? VERDICT_FAIL : VERDICT_PASS,
             .status = fails,
             .processes = 1};
  Failure failure = {"exit", "exit status 1", "", "exit:1"};
  if (fails)
    array_push(&run.failures, failure);
  Bitset *hits = &run.hits[ENTITY_STATEMENT];
  if (fails)
    bitset_add(hits, w->statements[w->nstatements / 2]);
  for (size_t n = fails; n < w->nstatements / DENSITY;) {
    uint32_t id = w->statements[draw(w) % w->nstatements];
    n += !bitset_has(hits, id);
    bitset_add(hits, id);
  }
  int status = store_add_run(w->store, w->session, &run, err);
  bitset_release(hits);
  array_release(&run.failures);
  return status;
}

static int make_session(World *w, size_t runs, size_t statements, Err *err) {
  bool continued;
  if (session_begin(w->store, "rank_scale", "bench", "/made-up", &w->session,
                    &continued, err))
    return -1;
  for (uint32_t i = 0; w->nstatements < statements; i++) {
    size_t rest = statements - w->nstatements;
    if (add_file(w, i, rest < LINES ? rest : LINES, err))
      return -1;
  }
  for (size_t i = 0; i < runs; i++)
    if (add_run(w, i, err))
      return -1;
  return session_finish(w->store, w->session, err);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fputs("usage: bench_rank_scale STORE RUNS STATEMENTS\n", stderr);
    return 2;
  }
  size_t runs = strtoul(argv[2], NULL, 10);
  size_t statements = strtoul(argv[3], NULL, 10);
  World w = {.statements = mem_array(uint32_t, statements)};
  Err err;
  int status = store_open(&w.store, argv[1], STORE_CREATE, &err);
  if (!status) {
    status = make_session(&w, runs, statements, &err);
    store_close(w.store);
  }
  free(w.statements);
  if (status)
    fprintf(stderr, "rank_scale: %s\n", err.text);
  return status ? 1 : 0;
}
