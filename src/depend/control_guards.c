// What decides whether a statement is executed: see control_guards.h.
#include "depend/control_guards.h"

#include "depend/cfg.h"
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
  Bitset early;   // blocks that can be executed before any of them
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

// Adds the blocks of `todo` and all that lie behind them (or before them), not
// through those in `not`.
static void spread(const Work *w, BlockList *todo, bool behind,
                   const Bitset * not, Bitset *out) {
  const Cfg *c = &w->cfg;
  const uint32_t *first = behind ? c->first_out : c->first_in;
  const uint32_t *edges = behind ? c->out : c->in;
  while (todo->len) {
    uint32_t b = todo->items[--todo->len];
    if (bitset_has(out, b) || (not&&bitset_has(not, b)))
      continue;
    bitset_add(out, b);
    for (uint32_t i = first[b]; i < first[b + 1]; i++) {
      uint32_t next = end_of(w, edges[i], behind);
      if (next != ENTITY_NONE)
        array_push(todo, next);
    }
  }
}

// The blocks that the function begins with. (It may have been compiled several
// times.)
static void list_entries(const Work *w, BlockList *out) {
  const Suite *suite = w->suite;
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_EDGE && e->function == w->function &&
        e->from == ENTITY_NONE && end_of(w, i, true) != ENTITY_NONE)
      array_push(out, end_of(w, i, true));
  }
}

static void find_ways(Work *w) {
  const Cfg *c = &w->cfg;
  BlockList todo = {0};
  for (uint32_t b = 0; b < c->nblocks; b++)
    if (w->suite->entities[c->block[b]].function == w->function && ends(w, b))
      array_push(&todo, b);
  spread(w, &todo, false, &w->own, &w->avoids);
  for (uint32_t b = 0; bitset_next(&w->own, &b); b++)
    array_push(&todo, b);
  spread(w, &todo, false, NULL, &w->reaches);
  list_entries(w, &todo);
  spread(w, &todo, true, &w->own, &w->early);
  array_release(&todo);
}

// From here it may or may not be executed, behind one of its edges it must be.
// Not whether it is executed again: that is decided behind it.
static bool decides(const Work *w, uint32_t block) {
  const Cfg *c = &w->cfg;
  if (!bitset_has(&w->avoids, block) || !bitset_has(&w->early, block))
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
// (`c ? a : b`, `x = a && b`) come behind it: plan/plan.c.
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

// Is there no way through the function around it?
static bool is_always(const Work *w) {
  BlockList entries = {0};
  list_entries(w, &entries);
  bool always = entries.len > 0;
  for (size_t i = 0; i < entries.len; i++)
    always &= !bitset_has(&w->avoids, entries.items[i]) &&
              bitset_has(&w->reaches, entries.items[i]);
  array_release(&entries);
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
  bitset_release(&w.early);
}

void guards_release(Guards *g) { array_release(&g->outcomes); }
