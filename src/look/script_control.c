// What decides whether a statement is executed: see script_control.h.
#include "look/script_control.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/bitset.h"
#include "util/mem.h"

enum { BLOCKS_MOST = 4096 }; // of a function; larger ones have no guards

typedef ARRAY(uint32_t) GuardList;

struct ScriptControl {
  const Unit *unit;
  uint32_t *deciders; // by block: the statement that it ends with, if that is
                      // a condition; ENTITY_NONE: it decides nothing
  GuardList *guards;  // by statement; lists of others are empty
};

// One function: its blocks are the entities from `first` on.
typedef struct {
  ScriptControl *control;
  uint32_t first, n;
  GuardList *behind; // by block: the blocks that come next
  bool *ends;        // by block: it leaves the function
  Bitset *after;     // by block: the blocks that all ways behind it come by
} BlockFlow;

// --- the flow ---------------------------------------------------------------

static uint32_t number_of(const BlockFlow *f, uint32_t block) {
  return block >= f->first && block - f->first < f->n ? block - f->first
                                                      : ENTITY_NONE;
}

static bool has_number(const GuardList *list, uint32_t number) {
  for (size_t i = 0; i < list->len; i++)
    if (list->items[i] == number)
      return true;
  return false;
}

static void read_flow(BlockFlow *f, uint32_t function) {
  const Unit *u = f->control->unit;
  for (uint32_t i = f->first + f->n; i < u->nentities; i++) {
    const Entity *e = &u->entities[i];
    if (e->kind != ENTITY_EDGE || e->function != function)
      break;
    uint32_t from = number_of(f, e->from), to = number_of(f, e->to);
    if (from != ENTITY_NONE && to != ENTITY_NONE &&
        !has_number(&f->behind[from], to))
      array_push(&f->behind[from], to);
  }
  for (uint32_t b = 0; b < f->n; b++) {
    bool decides = f->control->deciders[f->first + b] != ENTITY_NONE;
    f->ends[b] = !f->behind[b].len || (decides && f->behind[b].len == 1);
  }
}

// --- which blocks come anyway -----------------------------------------------

static void fill(Bitset *b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    bitset_add(b, i);
}

static bool keep_common(Bitset *b, const Bitset *other) {
  bool changed = false;
  for (size_t i = 0; i < b->nwords; i++) {
    uint64_t word = i < other->nwords ? other->words[i] : 0;
    changed |= (b->words[i] & ~word) != 0;
    b->words[i] &= word;
  }
  return changed;
}

// One block: what all blocks behind it have in common, and itself.
static bool narrow(BlockFlow *f, uint32_t b) {
  Bitset all = {0};
  if (!f->ends[b] && f->behind[b].len) {
    bitset_union(&all, &f->after[f->behind[b].items[0]]);
    for (size_t i = 1; i < f->behind[b].len; i++)
      keep_common(&all, &f->after[f->behind[b].items[i]]);
  }
  bitset_add(&all, b);
  bool changed = keep_common(&f->after[b], &all);
  bitset_release(&all);
  return changed;
}

static void find_after(BlockFlow *f) {
  for (uint32_t b = 0; b < f->n; b++)
    fill(&f->after[b], f->n);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = f->n; b-- > 0;)
      changed |= narrow(f, b);
  }
}

// --- guards -----------------------------------------------------------------

// Block `a` decides about `b`: behind one of its ways b comes anyway, but not
// behind a itself.
static bool decides(const BlockFlow *f, uint32_t a, uint32_t b) {
  if (a != b && bitset_has(&f->after[a], b))
    return false;
  for (size_t i = 0; i < f->behind[a].len; i++)
    if (bitset_has(&f->after[f->behind[a].items[i]], b))
      return true;
  return false;
}

static void add_guards(const BlockFlow *f, uint32_t statement, uint32_t block) {
  GuardList *list = &f->control->guards[statement];
  for (uint32_t a = 0; a < f->n; a++) {
    uint32_t by = f->control->deciders[f->first + a];
    if (by != ENTITY_NONE && decides(f, a, block) && !has_number(list, by))
      array_push(list, by);
  }
}

static void flow_release(BlockFlow *f) {
  for (uint32_t b = 0; b < f->n; b++) {
    array_release(&f->behind[b]);
    bitset_release(&f->after[b]);
  }
  free(f->behind);
  free(f->ends);
  free(f->after);
}

static void read_function(ScriptControl *c, uint32_t function) {
  const Unit *u = c->unit;
  BlockFlow f = {.control = c, .first = function + 1};
  while (f.first + f.n < u->nentities &&
         u->entities[f.first + f.n].kind == ENTITY_BLOCK)
    f.n++;
  if (!f.n || f.n > BLOCKS_MOST)
    return;
  f.behind = mem_array(GuardList, f.n);
  f.ends = mem_array(bool, f.n);
  f.after = mem_array(Bitset, f.n);
  read_flow(&f, function);
  find_after(&f);
  for (size_t i = 0; i < u->nstandings; i++) {
    uint32_t b = number_of(&f, u->standings[i].block);
    if (b != ENTITY_NONE)
      add_guards(&f, u->standings[i].statement, b);
  }
  flow_release(&f);
}

// --- conditions -------------------------------------------------------------

static uint32_t statement_at(const Unit *u, uint32_t line) {
  for (uint32_t i = (uint32_t)u->nentities; i-- > 0;)
    if (u->entities[i].kind == ENTITY_STATEMENT && u->entities[i].line == line)
      return i;
  return ENTITY_NONE;
}

// A block ends with the last of its conditions.
static void find_deciders(ScriptControl *c) {
  const Unit *u = c->unit;
  for (uint32_t i = 0; i < u->nentities; i++)
    c->deciders[i] = ENTITY_NONE;
  for (uint32_t i = 0; i < u->nentities; i++) {
    const Entity *e = &u->entities[i];
    if (e->kind != ENTITY_CONDITION || e->to >= u->nentities)
      continue;
    uint32_t by = statement_at(u, e->line), now = c->deciders[e->to];
    if (by != ENTITY_NONE &&
        (now == ENTITY_NONE || u->entities[now].line <= e->line))
      c->deciders[e->to] = by;
  }
}

ScriptControl *script_control_new(const Unit *unit) {
  ScriptControl *c = mem_new(ScriptControl);
  c->unit = unit;
  c->deciders = mem_array(uint32_t, unit->nentities + 1);
  c->guards = mem_array(GuardList, unit->nentities + 1);
  find_deciders(c);
  for (uint32_t i = 0; i < unit->nentities; i++)
    if (unit->entities[i].kind == ENTITY_FUNCTION)
      read_function(c, i);
  return c;
}

void script_control_free(ScriptControl *c) {
  if (!c)
    return;
  for (size_t i = 0; i < c->unit->nentities; i++)
    array_release(&c->guards[i]);
  free(c->guards);
  free(c->deciders);
  free(c);
}

const uint32_t *script_control_of(const ScriptControl *c, uint32_t statement,
                                  size_t *n) {
  *n = statement < c->unit->nentities ? c->guards[statement].len : 0;
  return *n ? c->guards[statement].items : NULL;
}
