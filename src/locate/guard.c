// What decides whether a statement is executed: see guard.h.
#include "locate/guard.h"

#include "locate/cfg.h"
#include "util/bitset.h"
#include "util/mem.h"

typedef ARRAY(uint32_t) BlockList;

typedef struct {
  const Suite *suite;
  Cfg cfg;
  uint32_t statement, function;
  Bitset own;     // blocks of the statement, by number
  Bitset avoids;  // blocks from which the function can end without them
  Bitset reaches; // blocks from which they can be reached
  bool elsewhere; // it stands in another function, too
} Work;

static void note_standing(void *ctx, uint32_t statement, uint32_t block) {
  Work *w = ctx;
  if (statement != w->statement)
    return;
  bitset_add(&w->own, w->cfg.number[block]);
  if (w->suite->entities[block].function != w->function)
    w->elsewhere = true;
}

// The block an edge leads to or comes from, by number; ENTITY_NONE: none.
static uint32_t end_of(const Work *w, uint32_t edge, bool to) {
  const Entity *e = &w->suite->entities[edge];
  uint32_t block = to ? e->to : e->from;
  return block < w->suite->nentities ? w->cfg.number[block] : ENTITY_NONE;
}

static bool ends(const Work *w, uint32_t block) {
  const Cfg *c = &w->cfg;
  for (uint32_t i = c->first_out[block]; i < c->first_out[block + 1]; i++)
    if (end_of(w, c->out[i], true) == ENTITY_NONE)
      return true;
  return c->first_out[block] == c->first_out[block + 1];
}

// Adds all blocks from which one of `todo` can be reached, not through `not`.
static void spread(const Work *w, BlockList *todo, const Bitset * not,
                   Bitset *out) {
  const Cfg *c = &w->cfg;
  while (todo->len) {
    uint32_t b = todo->items[--todo->len];
    if (bitset_has(out, b) || (not &&bitset_has(not, b)))
      continue;
    bitset_add(out, b);
    for (uint32_t i = c->first_in[b]; i < c->first_in[b + 1]; i++) {
      uint32_t from = end_of(w, c->in[i], false);
      if (from != ENTITY_NONE)
        array_push(todo, from);
    }
  }
}

static void find_ways(Work *w) {
  const Cfg *c = &w->cfg;
  BlockList todo = {0};
  for (uint32_t b = 0; b < c->nblocks; b++)
    if (w->suite->entities[c->block[b]].function == w->function && ends(w, b))
      array_push(&todo, b);
  spread(w, &todo, &w->own, &w->avoids);
  for (uint32_t b = 0; bitset_next(&w->own, &b); b++)
    array_push(&todo, b);
  spread(w, &todo, NULL, &w->reaches);
  array_release(&todo);
}

// From here it may or may not be executed, behind one of its edges it must be.
static bool decides(const Work *w, uint32_t block) {
  const Cfg *c = &w->cfg;
  if (!bitset_has(&w->avoids, block))
    return false;
  for (uint32_t i = c->first_out[block]; i < c->first_out[block + 1]; i++) {
    uint32_t to = end_of(w, c->out[i], true);
    if (to != ENTITY_NONE && !bitset_has(&w->avoids, to) &&
        bitset_has(&w->reaches, to))
      return true;
  }
  return false;
}

// The condition that a block ends with. Those whose value is only used
// (`c ? a : b`, `x = a && b`) come behind it: cfront/plan.c.
static uint32_t condition_of(const Work *w, uint32_t block) {
  const Suite *suite = w->suite;
  uint32_t best = ENTITY_NONE;
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_CONDITION && e->to == w->cfg.block[block] &&
        (best == ENTITY_NONE || e->index < suite->entities[best].index))
      best = i;
  }
  return best;
}

static void add_outcomes(const Work *w, uint32_t block, Guards *g) {
  const Suite *suite = w->suite;
  uint32_t first = condition_of(w, block);
  if (first == ENTITY_NONE)
    return;
  const Entity *c = &suite->entities[first];
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_CONDITION && e->to == c->to && e->index == c->index)
      array_push(&g->outcomes, i);
  }
}

// Is there no way through the function around it? (A function may have been
// compiled several times.)
static bool is_always(const Work *w) {
  const Suite *suite = w->suite;
  bool always = false;
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind != ENTITY_EDGE || e->function != w->function ||
        e->from != ENTITY_NONE)
      continue;
    uint32_t b = end_of(w, i, true);
    always = b != ENTITY_NONE && !bitset_has(&w->avoids, b) &&
             bitset_has(&w->reaches, b);
    if (!always)
      return false;
  }
  return always;
}

void guards_find(Guards *g, const Suite *suite, uint32_t statement) {
  Work w = {.suite = suite,
            .statement = statement,
            .function = suite->entities[statement].function};
  *g = (Guards){0};
  cfg_init(&w.cfg, suite);
  cfg_each_standing(&w.cfg, note_standing, &w);
  if (w.cfg.nedges && bitset_count(&w.own) && !w.elsewhere) {
    find_ways(&w);
    g->known = true;
    g->always = is_always(&w);
    for (uint32_t b = 0; b < w.cfg.nblocks; b++)
      if (decides(&w, b))
        add_outcomes(&w, b, g);
  }
  cfg_release(&w.cfg);
  bitset_release(&w.own);
  bitset_release(&w.avoids);
  bitset_release(&w.reaches);
}

void guards_release(Guards *g) { array_release(&g->outcomes); }
