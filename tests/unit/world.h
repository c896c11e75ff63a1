// A small suite for tests of locate/ and report/, built by hand:
//
//   World w;
//   world_init(&w, "PPAPPAP");       // seven runs, the third and sixth fail
//   world_statements(&w, "a.c", "main", 1, 9);
//   world_covers(&w, 2, 0, 8);       // run 2 executes entities 0 to 8
//   world_close(&w);                 // tally and suite are ready
//
// Verdicts: P passes; a capital A to E fails with that signature, F fails with
// A and B; x flaky, s skipped, e error; p passes and q fails (with A) without
// a spectrum; i fails with A and is imprecise.
#ifndef CULPRIT_TESTS_UNIT_WORLD_H
#define CULPRIT_TESTS_UNIT_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
#include "model/suite.h"
#include "tally/tally.h"
#include "util/mem.h"

typedef struct {
  Suite suite;
  Tally tally;
  const char *verdicts;
  Source sources[8];
  Entity entities[256];
  Bitset hits[64];
} World;

static bool world_shows(char verdict, char signature) {
  if (signature == 'A' && strchr("AFqi", verdict))
    return true;
  return verdict == signature || (signature == 'B' && verdict == 'F');
}

static Verdict world_verdict(char c) {
  return strchr("Pp", c) ? VERDICT_PASS
         : c == 'x'      ? VERDICT_FLAKY
         : c == 's'      ? VERDICT_SKIP
         : c == 'e'      ? VERDICT_ERROR
                         : VERDICT_FAIL;
}

static void world_add_failure(Suite *s, char signature, const char *verdicts) {
  FailureGroup *g = &s->failures[s->nfailures];
  g->kind = "exit";
  g->signature = arena_printf(&s->arena, "exit:%c", signature);
  g->message = arena_printf(&s->arena, "exit status %c", signature);
  g->place = g->excerpt = g->output = "";
  g->runs = arena_array(&s->arena, uint32_t, s->nruns);
  for (uint32_t i = 0; i < s->nruns; i++)
    if (world_shows(verdicts[i], signature))
      g->runs[g->nruns++] = i;
  s->nfailures += g->nruns > 0;
}

static void world_init(World *w, const char *verdicts) {
  *w = (World){.verdicts = verdicts};
  Suite *s = &w->suite;
  s->session = 1;
  s->cwd = "/proj";
  s->sources = w->sources;
  s->entities = w->entities;
  s->nruns = strlen(verdicts);
  s->runs = arena_array(&s->arena, RunInfo, s->nruns);
  s->failures = arena_array(&s->arena, FailureGroup, 5);
  for (size_t i = 0; i < s->nruns; i++)
    s->runs[i] = (RunInfo){.test = arena_printf(&s->arena, "t%zu", i + 1),
                           .verdict = world_verdict(verdicts[i]),
                           .has_spectrum = !strchr("pq", verdicts[i]),
                           .imprecise = verdicts[i] == 'i'};
  for (char c = 'A'; c <= 'E'; c++)
    world_add_failure(s, c, verdicts);
}

static uint32_t world_source(World *w, const char *path) {
  Suite *s = &w->suite;
  const char *full =
      *path == '/' ? path : arena_printf(&s->arena, "/proj/%s", path);
  for (uint32_t i = 0; i < s->nsources; i++)
    if (!strcmp(w->sources[i].path, full))
      return i;
  w->sources[s->nsources].path = full;
  return (uint32_t)s->nsources++;
}

static uint32_t world_entity(World *w, Entity e) {
  w->entities[w->suite.nentities] = e;
  return (uint32_t)w->suite.nentities++;
}

// Statements on the lines from..to, in a function that is the entity after
// them.
static void world_statements(World *w, const char *path, const char *function,
                             uint32_t from, uint32_t to) {
  uint32_t source = world_source(w, path);
  uint32_t f = (uint32_t)w->suite.nentities + to - from + 1;
  for (uint32_t line = from; line <= to; line++)
    world_entity(w, (Entity){.kind = ENTITY_STATEMENT,
                             .source = source,
                             .line = line,
                             .function = f,
                             .to = ENTITY_NONE});
  world_entity(w, (Entity){.kind = ENTITY_FUNCTION,
                           .source = source,
                           .line = from,
                           .function = f,
                           .name = function});
}

static void world_covers(World *w, uint32_t run, uint32_t from, uint32_t to) {
  for (uint32_t e = from; e <= to; e++)
    bitset_add(&w->hits[run], e);
}

static void world_close(World *w) {
  tally_init(&w->tally, &w->suite);
  for (size_t i = 0; i < w->suite.nruns; i++)
    tally_add(&w->tally, i, &w->hits[i]);
}

static void world_release(World *w) {
  tally_release(&w->tally);
  for (size_t i = 0; i < w->suite.nruns; i++)
    bitset_release(&w->hits[i]);
  suite_release(&w->suite);
}

// Zhang et al., ESEC/FSE 2009, Figure 1: statement s of it is entity
// s - 1, on line s of fig1.c.
static inline void world_figure1(World *w) {
  static const uint8_t into_b2[] = {0, 2, 4, 5}; // t1 t3 t5 t6
  world_init(w, "PPAPPAP");
  world_statements(w, "fig1.c", "main", 1, 9);
  for (uint32_t run = 0; run < 7; run++) {
    world_covers(w, run, 0, 0);
    world_covers(w, run, 8, 9); // s9 and the function
  }
  for (size_t i = 0; i < sizeof into_b2; i++)
    world_covers(w, into_b2[i], 1, 4);
  world_covers(w, 2, 5, 7); // b3: t3 only
  world_close(w);
}

// Ranks failure 0 by a localizer whose state was made by hand.
static inline int world_rank(const World *w, const char *method, void *state,
                             LocateOptions o, Ranking *out, Err *err) {
  SessionEvidence evidence = {.suite = &w->suite};
  OpenLocalizer l = {.session = &evidence, .state = state, .options = o};
  return localizer_find(method, &l.method) ? localizer_rank(&l, 0, out, err)
                                           : err_set(err, "no %s", method);
}

#endif
