// For tests of what a closer look saw: worlds with relations, pairs and slices,
// of which some runs tell only.
#ifndef CULPRIT_TESTS_UNIT_CLOSER_WORLD_H
#define CULPRIT_TESTS_UNIT_CLOSER_WORLD_H

#include "locate/localizer.h"
#include "spectra.h"

enum {
  STATEMENTS = 1u << ENTITY_STATEMENT,
  RELATIONS = 1u << ENTITY_RELATION,
  PAIRS = 1u << ENTITY_PAIR,
  SLICES = 1u << ENTITY_SLICE,
};

static uint32_t relation(World *w, uint32_t line, uint32_t index,
                         const char *text) {
  return world_entity(w, (Entity){.kind = ENTITY_RELATION,
                                  .line = line,
                                  .col_lo = 5 + 4 * index,
                                  .index = index,
                                  .from = RELATION_EQUAL,
                                  .to = ENTITY_NONE,
                                  .function = w->entities[0].function,
                                  .name = "compare",
                                  .text = text});
}

static uint32_t pair(World *w, uint32_t from, uint32_t to, const char *name) {
  const Entity *e = &w->entities[from];
  return world_entity(w, (Entity){.kind = ENTITY_PAIR,
                                  .source = e->source,
                                  .line = e->line,
                                  .function = e->function,
                                  .from = from,
                                  .to = to,
                                  .name = name});
}

static uint32_t slice(World *w, uint32_t statement) {
  const Entity *e = &w->entities[statement];
  return world_entity(w, (Entity){.kind = ENTITY_SLICE,
                                  .source = e->source,
                                  .line = e->line,
                                  .function = e->function,
                                  .from = statement,
                                  .to = ENTITY_NONE});
}

// Per run: n near, r random, a apart, anything else not looked at.
static void look(World *w, const char *strata) {
  for (size_t i = 0; i < w->suite.nruns; i++)
    w->suite.runs[i].close = strata[i] == 'n'   ? CLOSE_NEAR
                             : strata[i] == 'r' ? CLOSE_RANDOM
                             : strata[i] == 'a' ? CLOSE_APART
                                                : CLOSE_NONE;
  w->suite.close = "budget";
}

enum { LINE1, LINE2, LINE3, MAIN, RELATION, PAIR, SLICE };

// Every run executes the three lines; two of three failing runs were looked at,
// and of nine passing ones one near and two random ones. `compare` are the runs
// in which the relation of line 2 was seen, `value` those in which line 3 used
// what line 1 set.
static void closer_world(World *w, const char *compare, const char *value) {
  world_init(w, "AAAPPPPPPPPP");
  w->suite.command = "culprit run";
  look(w, "nn.n.r.r....");
  world_statements(w, "a.c", "main", 1, 3);
  relation(w, 2, 0, "`a` equals `b`");
  pair(w, LINE1, LINE3, "x");
  slice(w, LINE3);
  for (uint32_t run = 0; run < w->suite.nruns; run++) {
    world_covers(w, run, LINE1, MAIN);
    if (compare[run] == '+')
      world_covers(w, run, RELATION, RELATION);
    if (value[run] == '+')
      world_covers(w, run, PAIR, PAIR);
  }
  world_covers(w, 1, SLICE, SLICE);
  world_close(w);
}

static void rank_by(World *w, const char *method, unsigned entities,
                    EntityKind by, Ranking *out) {
  SessionEvidence evidence;
  Localizer l;
  OpenLocalizer localizer;
  Err err;
  LocateOptions o = {.by = by, .entities = entities};
  session_evidence_init(&evidence, NULL, &w->suite);
  for (size_t i = 0; i < w->suite.nruns; i++)
    tally_add(&evidence.tally, i, &w->hits[i]);
  assert_true(localizer_find(method, &l));
  if (localizer_open(&localizer, &evidence, &l, &o, &err) ||
      localizer_rank(&localizer, 0, out, &err))
    fail_msg("%s", err.text);
  localizer_close(&localizer);
  session_evidence_release(&evidence);
}

// Ten lines, relations, pairs and slices on them, and thirty runs, drawn. With
// or without what a closer look sees, the rest is the same.
static void random_world(World *w, uint64_t *state, bool closely) {
  static const char kinds[] = "AAPPPPPPB";
  static char verdicts[31], strata[31];
  for (int i = 0; i < 30; i++)
    verdicts[i] = i < 2 ? "AP"[i] : kinds[draw(state, 9)];
  for (int i = 0; i < 30; i++)
    strata[i] =
        verdicts[i] == 'P' ? ".nr"[draw(state, 3)] : ".nnn"[draw(state, 4)];
  strata[0] = strata[1] = 'n';
  world_init(w, verdicts);
  world_statements(w, "a.c", "main", 1, 10);
  for (uint32_t run = 0; run < 30; run++)
    for (uint32_t e = 0; e < 10; e++)
      if (draw(state, 4))
        world_covers(w, run, e, e);
  uint64_t after = *state;
  if (closely) {
    look(w, strata);
    for (uint32_t i = 0; i < 12; i++)
      relation(w, 1 + draw(&after, 10), i, "`a` equals `b`");
    for (uint32_t i = 0; i < 12; i++)
      pair(w, draw(&after, 10), draw(&after, 10), "x");
    for (uint32_t i = 0; i < 5; i++)
      slice(w, i);
    for (uint32_t run = 0; run < 30; run++)
      for (uint32_t e = 11; strata[run] != '.' && e < w->suite.nentities; e++)
        if (draw(&after, 2) && (verdicts[run] != 'P' || e < 35))
          world_covers(w, run, e, e);
  }
  world_close(w);
}

#endif
