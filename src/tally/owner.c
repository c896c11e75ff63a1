// Which entity is scored by which: see owner.h.
#include "tally/owner.h"

#include <stdlib.h>

#include "util/mem.h"

bool owner_kind(EntityKind kind, EntityKind by) {
  if (kind == by || by == ENTITY_FUNCTION)
    return true;
  return by == ENTITY_STATEMENT && ((TUPLE_KINDS | CLOSE_KINDS) & 1u << kind);
}

// --- statements by place ----------------------------------------------------

// All statements, by function, source and line; those of one block by Standing.
typedef struct {
  const Suite *suite;
  uint32_t *statements;
  size_t n;
  Standing *standings; // by block, then statement
} PlaceIndex;

static int compare(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int by_line(const void *a, const void *b, void *ctx) {
  const Suite *suite = ctx;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const Entity *x = &suite->entities[i], *y = &suite->entities[j];
  int c = compare(x->source, y->source);
  if (!c)
    c = compare(x->line, y->line);
  return c ? c : compare(i, j);
}

static int by_block(const void *a, const void *b) {
  const Standing *x = a, *y = b;
  int c = compare(x->block, y->block);
  return c ? c : compare(x->statement, y->statement);
}

static void places_init(PlaceIndex *p, const Suite *suite) {
  *p = (PlaceIndex){.suite = suite};
  p->statements = mem_array(uint32_t, suite->nentities);
  for (size_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_STATEMENT)
      p->statements[p->n++] = (uint32_t)i;
  if (p->n)
    qsort_r(p->statements, p->n, sizeof *p->statements, by_line, (void *)suite);
  if (suite->nstandings) {
    p->standings =
        mem_dup(suite->standings, suite->nstandings * sizeof *p->standings);
    qsort(p->standings, suite->nstandings, sizeof *p->standings, by_block);
  }
}

static void places_release(PlaceIndex *p) {
  free(p->statements);
  free(p->standings);
}

static const Entity *statement_at(const PlaceIndex *p, size_t i) {
  return &p->suite->entities[p->statements[i]];
}

// The first statement at or behind a place.
static size_t first_from(const PlaceIndex *p, uint32_t source, uint32_t line) {
  size_t lo = 0, hi = p->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    const Entity *e = statement_at(p, mid);
    if (e->source < source || (e->source == source && e->line < line))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static uint32_t distance(const Entity *a, const Entity *b) {
  return a->line < b->line ? b->line - a->line : a->line - b->line;
}

// Is statement `s` nearer to `e` than `best` (ENTITY_NONE: none yet)?
static bool is_nearer(const Suite *suite, const Entity *e, uint32_t s,
                      uint32_t best) {
  if (best == ENTITY_NONE)
    return true;
  const Entity *x = &suite->entities[s], *y = &suite->entities[best];
  if (distance(x, e) != distance(y, e))
    return distance(x, e) < distance(y, e);
  return x->line < y->line;
}

static uint32_t nearest_in_block(const PlaceIndex *p, const Entity *e) {
  const Suite *suite = p->suite;
  size_t lo = 0, hi = suite->nstandings;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (p->standings[mid].block < e->to)
      lo = mid + 1;
    else
      hi = mid;
  }
  uint32_t best = ENTITY_NONE;
  for (; lo < suite->nstandings && p->standings[lo].block == e->to; lo++) {
    uint32_t s = p->standings[lo].statement;
    if (s < suite->nentities && suite->entities[s].source == e->source &&
        is_nearer(suite, e, s, best))
      best = s;
  }
  return best;
}

// Going up and down from the tuple's line until the function answers.
static uint32_t nearest_in_function(const PlaceIndex *p, const Entity *e) {
  size_t at = first_from(p, e->source, e->line);
  uint32_t best = ENTITY_NONE;
  for (size_t i = at; i-- > 0 && statement_at(p, i)->source == e->source;)
    if (statement_at(p, i)->function == e->function) {
      best = p->statements[i];
      break;
    }
  for (size_t i = at; i < p->n && statement_at(p, i)->source == e->source; i++)
    if (statement_at(p, i)->function == e->function) {
      if (is_nearer(p->suite, e, p->statements[i], best))
        best = p->statements[i];
      break;
    }
  return best;
}

static uint32_t statement_of(const PlaceIndex *p, const Entity *e) {
  size_t at = first_from(p, e->source, e->line);
  if (at < p->n && statement_at(p, at)->source == e->source &&
      statement_at(p, at)->line == e->line)
    return p->statements[at];
  uint32_t s = nearest_in_block(p, e);
  return s != ENTITY_NONE ? s : nearest_in_function(p, e);
}

uint32_t *owners_find(const Suite *suite, EntityKind by, unsigned kinds) {
  bool tuples =
      by == ENTITY_STATEMENT && (kinds & (TUPLE_KINDS | 1u << ENTITY_RELATION));
  PlaceIndex places = {0};
  if (tuples)
    places_init(&places, suite);
  uint32_t *owner = mem_array(uint32_t, suite->nentities);
  for (size_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    owner[i] = ENTITY_NONE;
    if (e->kind >= ENTITY_KINDS || !(kinds & 1u << e->kind) ||
        !owner_kind(e->kind, by))
      continue;
    if (e->kind == by)
      owner[i] = (uint32_t)i;
    else if (by == ENTITY_FUNCTION)
      owner[i] = e->function;
    else if (e->kind == ENTITY_PAIR || e->kind == ENTITY_SLICE)
      owner[i] = e->from;
    else
      owner[i] = statement_of(&places, e);
  }
  places_release(&places);
  return owner;
}
