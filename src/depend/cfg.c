// The control flow of all functions of a suite: see cfg.h.
#include "depend/cfg.h"

#include <stdlib.h>

#include "util/mem.h"

static void number_blocks(Cfg *c) {
  const Suite *suite = c->suite;
  c->number = mem_array(uint32_t, suite->nentities);
  c->block = mem_array(uint32_t, suite->nentities);
  for (uint32_t i = 0; i < suite->nentities; i++) {
    c->number[i] = ENTITY_NONE;
    c->nedges += suite->entities[i].kind == ENTITY_EDGE;
    if (suite->entities[i].kind != ENTITY_BLOCK)
      continue;
    c->number[i] = c->nblocks;
    c->block[c->nblocks++] = i;
  }
}

// The number of the block at one end of an edge, ENTITY_NONE if it has none.
static uint32_t end_of(const Cfg *c, const Entity *edge, bool from) {
  uint32_t e = from ? edge->from : edge->to;
  return e < c->suite->nentities ? c->number[e] : ENTITY_NONE;
}

// Sorts the edges by the block at one of their ends.
static void sort_edges(const Cfg *c, bool from, uint32_t **first,
                       uint32_t **edges) {
  const Suite *suite = c->suite;
  uint32_t *start = *first = mem_array(uint32_t, (size_t)c->nblocks + 2);
  *edges = mem_array(uint32_t, c->nedges);
  for (size_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_EDGE && end_of(c, e, from) != ENTITY_NONE)
      start[end_of(c, e, from) + 2]++;
  }
  for (uint32_t b = 0; b < c->nblocks; b++)
    start[b + 2] += start[b + 1];
  // start[b + 1] now moves from the begin of block b to its end.
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_EDGE && end_of(c, e, from) != ENTITY_NONE)
      (*edges)[start[end_of(c, e, from) + 1]++] = i;
  }
}

void cfg_init(Cfg *c, const Suite *suite) {
  *c = (Cfg){.suite = suite};
  number_blocks(c);
  sort_edges(c, true, &c->first_out, &c->out);
  sort_edges(c, false, &c->first_in, &c->in);
}

void cfg_release(Cfg *c) {
  free(c->block);
  free(c->number);
  free(c->first_out);
  free(c->out);
  free(c->first_in);
  free(c->in);
  *c = (Cfg){0};
}

void cfg_each_standing(const Cfg *c, EachStanding *each, void *ctx) {
  const Suite *suite = c->suite;
  for (size_t i = 0; i < suite->nstandings; i++)
    each(ctx, suite->standings[i].statement, suite->standings[i].block);
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_STATEMENT && e->to < suite->nentities &&
        c->number[e->to] != ENTITY_NONE)
      each(ctx, i, e->to);
  }
}
