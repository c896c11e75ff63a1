// Writes a large synthetic session, to time `culprit rank` and `culprit
// report`.
//
//   bench_rank_scale STORE RUNS STATEMENTS [DIRECTORY]
//
// Files have 1000 lines, with a function for every 50. Each run executes a
// random tenth of the statements, which the bit sets of the store cannot
// compress: this is its worst case. Every twentieth run fails, and each failing
// run executes the statement in the middle.
//
// With a directory, the sources are written there, one of them with half of all
// lines, and statements are executed in blocks of five, as in real programs.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  LINES = 1000,
  FUNCTION_LINES = 50,
  FAILING = 20,
  DENSITY = 10,
  BLOCK = 5,
};

typedef struct {
  Store *store;
  int64_t session;
  uint32_t *statements; // ids
  size_t nstatements;
  uint64_t random;
  const char *dir; // where sources are written, or NULL
} World;

// splitmix64
static uint64_t draw(World *w) {
  uint64_t z = w->random += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static int write_source(const char *path, size_t lines, Err *err) {
  Str text = {0};
  for (size_t i = 0; i < lines; i++)
    str_addf(&text, "  if (value[%zu] < limit[%zu]) total += step(%zu);\n", i,
             i % 7, i);
  int rc = fs_write(path, text.data, text.len, err);
  str_release(&text);
  return rc;
}

// A unit of `lines` statements and their functions; adds their ids.
static int add_file(World *w, uint32_t number, size_t lines, Err *err) {
  char path[4096];
  snprintf(path, sizeof path, "%s/part%u", w->dir ? w->dir : "/made-up",
           number % 5);
  if (w->dir && fs_mkdirs(path, err))
    return -1;
  size_t n = strlen(path), function = 0;
  snprintf(path + n, sizeof path - n, "/file%03u.c", number);
  if (w->dir && write_source(path, lines, err))
    return -1;
  Source source = {.path = path};
  size_t most = lines + lines / FUNCTION_LINES + 1;
  Entity *entities = mem_array(Entity, most);
  uint32_t *ids = mem_array(uint32_t, most);
  n = 0;
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
  int rc = store_add_unit(w->store, w->session, &unit, ids, err);
  for (size_t i = 0; !rc && i < n; i++)
    if (entities[i].kind == ENTITY_STATEMENT)
      w->statements[w->nstatements++] = ids[i];
  free(entities);
  free(ids);
  return rc;
}

// Returns how many of them are new.
static size_t hit(World *w, Bitset *hits, size_t first, size_t n) {
  size_t fresh = 0;
  for (size_t i = first; i < first + n && i < w->nstatements; i++) {
    fresh += !bitset_has(hits, w->statements[i]);
    bitset_add(hits, w->statements[i]);
  }
  return fresh;
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
    size_t at = draw(w) % w->nstatements;
    n += w->dir ? hit(w, hits, at - at % BLOCK, BLOCK) : hit(w, hits, at, 1);
  }
  int status = store_add_run(w->store, w->session, &run, err);
  bitset_release(hits);
  array_release(&run.failures);
  return status;
}

static int make_session(World *w, size_t runs, size_t statements, Err *err) {
  bool continued;
  if (session_begin(w->store, "rank_scale", "bench",
                    w->dir ? w->dir : "/made-up", &w->session, &continued, err))
    return -1;
  for (uint32_t i = 0; w->nstatements < statements; i++) {
    size_t rest = statements - w->nstatements;
    size_t lines = w->dir && !i ? statements / 2 : LINES;
    if (add_file(w, i, rest < lines ? rest : lines, err))
      return -1;
  }
  for (size_t i = 0; i < runs; i++)
    if (add_run(w, i, err))
      return -1;
  return session_finish(w->store, w->session, err);
}

int main(int argc, char **argv) {
  if (argc != 4 && argc != 5) {
    fputs("usage: bench_rank_scale STORE RUNS STATEMENTS [DIRECTORY]\n",
          stderr);
    return 2;
  }
  size_t runs = strtoul(argv[2], NULL, 10);
  size_t statements = strtoul(argv[3], NULL, 10);
  World w = {.statements = mem_array(uint32_t, statements),
             .dir = argc == 5 ? argv[4] : NULL};
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
