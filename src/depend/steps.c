// Dependences between statements, and how many of them lead to where a failure
// showed: see steps.h.
#include "depend/steps.h"

#include <stdlib.h>

#include "util/hashmap.h"
#include "util/mem.h"

// --- what all failures have in common ----------------------------------------

static void index_pairs(Dependences *d) {
  const Suite *suite = d->suite;
  uint32_t *start = d->first_pair = mem_array(uint32_t, suite->nentities + 2);
  size_t n = 0;
  for (size_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_PAIR) {
      start[suite->entities[i].to + 2]++;
      n++;
    }
  for (size_t i = 0; i < suite->nentities; i++)
    start[i + 2] += start[i + 1];
  d->pairs = mem_array(uint32_t, n + 1);
  // start[s + 1] now moves from the begin of statement s to its end.
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_PAIR)
      d->pairs[start[suite->entities[i].to + 1]++] = i;
}

static void note_block(void *ctx, uint32_t statement, uint32_t block) {
  Dependences *d = ctx;
  array_push(&d->blocks[statement], d->deciders.cfg.number[block]);
}

typedef struct {
  uint32_t source, line;
} StatementPlace;

static void index_conditions(Dependences *d) {
  const Suite *suite = d->suite;
  const Cfg *c = &d->deciders.cfg;
  Hashmap places = {0};
  for (uint32_t i = 0; i < suite->nentities; i++) {
    StatementPlace at = {suite->entities[i].source, suite->entities[i].line};
    if (suite->entities[i].kind == ENTITY_STATEMENT)
      hashmap_put(&places, &at, sizeof at, i);
  }
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    StatementPlace at = {e->source, e->line};
    uint64_t statement;
    if (e->kind == ENTITY_CONDITION && e->to < suite->nentities &&
        c->number[e->to] != ENTITY_NONE &&
        hashmap_get(&places, &at, sizeof at, &statement))
      array_push(&d->conditions[c->number[e->to]], (uint32_t)statement);
  }
  hashmap_release(&places);
}

void dependences_find(Dependences *d, const Suite *suite) {
  *d = (Dependences){.suite = suite};
  deciders_find(&d->deciders, suite);
  index_pairs(d);
  d->blocks = mem_array(NumberList, suite->nentities + 1);
  cfg_each_standing(&d->deciders.cfg, note_block, d);
  d->conditions = mem_array(NumberList, d->deciders.cfg.nblocks + 1);
  index_conditions(d);
}

void dependences_release(Dependences *d) {
  if (!d->suite)
    return;
  for (size_t i = 0; i < d->suite->nentities; i++)
    array_release(&d->blocks[i]);
  for (uint32_t b = 0; b < d->deciders.cfg.nblocks; b++)
    array_release(&d->conditions[b]);
  free(d->blocks);
  free(d->conditions);
  free(d->first_pair);
  free(d->pairs);
  deciders_release(&d->deciders);
  *d = (Dependences){0};
}

// --- from the checks backwards -----------------------------------------------

typedef struct {
  Steps *steps;
  const Dependences *dependences;
  const uint32_t *ef;
  NumberList queue;
} StepSearch;

static void reach(StepSearch *w, uint32_t statement, uint32_t from,
                  uint32_t pair) {
  Steps *s = w->steps;
  if (s->count[statement] != STEPS_NONE || !w->ef[statement])
    return;
  s->count[statement] = s->count[from] + 1;
  s->next[statement] = from;
  s->pair[statement] = pair;
  array_push(&w->queue, statement);
}

static void follow_pairs(StepSearch *w, uint32_t use) {
  const Dependences *d = w->dependences;
  for (uint32_t i = d->first_pair[use]; i < d->first_pair[use + 1]; i++)
    if (w->ef[d->pairs[i]])
      reach(w, d->suite->entities[d->pairs[i]].from, use, d->pairs[i]);
}

static void follow_block(StepSearch *w, uint32_t statement, uint32_t block) {
  const Dependences *d = w->dependences;
  const NumberList *by = &d->deciders.of[block];
  for (size_t i = 0; i < by->len; i++) {
    const NumberList *conditions = &d->conditions[by->items[i]];
    for (size_t k = 0; k < conditions->len; k++)
      reach(w, conditions->items[k], statement, ENTITY_NONE);
  }
}

static void follow_blocks(StepSearch *w, uint32_t statement) {
  const NumberList *blocks = &w->dependences->blocks[statement];
  for (size_t i = 0; i < blocks->len; i++)
    follow_block(w, statement, blocks->items[i]);
}

static void begin_at(StepSearch *w, uint32_t check) {
  if (w->steps->count[check] == 0)
    return;
  w->steps->count[check] = 0;
  w->steps->next[check] = check;
  array_push(&w->queue, check);
}

void steps_find(Steps *s, const Dependences *d, const uint32_t *ef,
                const NumberList *checks) {
  size_t n = d->suite->nentities;
  *s = (Steps){mem_array(uint32_t, n + 1), mem_array(uint32_t, n + 1),
               mem_array(uint32_t, n + 1)};
  for (size_t i = 0; i < n; i++)
    s->count[i] = STEPS_NONE;
  StepSearch w = {.steps = s, .dependences = d, .ef = ef};
  for (size_t i = 0; i < checks->len; i++)
    begin_at(&w, checks->items[i]);
  for (size_t at = 0; at < w.queue.len; at++) {
    follow_pairs(&w, w.queue.items[at]);
    follow_blocks(&w, w.queue.items[at]);
  }
  array_release(&w.queue);
}

void steps_release(Steps *s) {
  free(s->count);
  free(s->next);
  free(s->pair);
  *s = (Steps){0};
}
