// What lines of output depend on: see script_slice.h.
#include "look/script_slice.h"

#include <stdlib.h>
#include <string.h>

#include "php/record/record_format.h"
#include "util/hashmap.h"
#include "util/mem.h"

// A statement is reached in one of two ways: in full, or for the value that its
// function returned to a statement that is there already. Of the latter, who
// called the function and with what is known: that statement.
typedef enum { NOT_REACHED, FOR_VALUE, IN_FULL } Reach;

typedef struct {
  uint32_t caller[2], function[2]; // spots
} CallKey;

typedef struct {
  const SliceScript *scripts;
  const PhpPair *pairs; // by use
  size_t npairs;
  Spots *spots;
  Hashmap seen;  // spot -> Reach
  Hashmap calls; // CallKey
  Spots todo;
} Slicer;

static int compare(PhpSpot a, PhpSpot b) {
  if (a.script != b.script)
    return a.script < b.script ? -1 : 1;
  return a.entity < b.entity ? -1 : a.entity > b.entity;
}

static int by_use(const void *a, const void *b) {
  const PhpPair *x = a, *y = b;
  int order = compare(x->use, y->use);
  return order ? order : compare(x->def, y->def);
}

static const Entity *statement_at(const Slicer *s, PhpSpot spot) {
  const Unit *u = s->scripts[spot.script].unit;
  return u && spot.entity < u->nentities &&
                 u->entities[spot.entity].kind == ENTITY_STATEMENT
             ? &u->entities[spot.entity]
             : NULL;
}

static void reach(Slicer *s, PhpSpot spot, Reach how) {
  uint64_t before = NOT_REACHED;
  if (!statement_at(s, spot))
    return;
  hashmap_get(&s->seen, &spot, sizeof spot, &before);
  if (before >= how)
    return;
  if (before == NOT_REACHED)
    array_push(s->spots, spot);
  hashmap_put(&s->seen, &spot, sizeof spot, how);
  array_push(&s->todo, spot);
}

// --- calls ------------------------------------------------------------------

static CallKey call_key(PhpSpot caller, PhpSpot function) {
  return (CallKey){{caller.script, caller.entity},
                   {function.script, function.entity}};
}

static void index_calls(Slicer *s) {
  for (size_t i = 0; i < s->npairs; i++) {
    if (s->pairs[i].kind != PAIR_CALL)
      continue;
    CallKey key = call_key(s->pairs[i].def, s->pairs[i].use);
    hashmap_put(&s->calls, &key, sizeof key, 1);
  }
}

static PhpSpot function_of(const Slicer *s, PhpSpot at) {
  return (PhpSpot){at.script, statement_at(s, at)->function};
}

static bool has_called(const Slicer *s, PhpSpot caller, PhpSpot function) {
  CallKey key = call_key(caller, function);
  uint64_t yes;
  return hashmap_get(&s->calls, &key, sizeof key, &yes);
}

// --- pairs ------------------------------------------------------------------

// How what `pair` defines is reached from its use.
static Reach follow_pair(const Slicer *s, const PhpPair *pair, Reach how) {
  if (pair->kind == PAIR_RETURNED)
    return FOR_VALUE;
  if (how == IN_FULL || !statement_at(s, pair->def))
    return how;
  if (pair->kind == PAIR_CALL ||
      has_called(s, pair->def, function_of(s, pair->use)))
    return NOT_REACHED;
  return compare(function_of(s, pair->def), function_of(s, pair->use))
             ? IN_FULL
             : FOR_VALUE;
}

// All that the pairs with this use define: a statement or, of calls, a function.
static void reach_defined(Slicer *s, PhpSpot use, Reach how) {
  size_t lo = 0, hi = s->npairs;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (compare(s->pairs[mid].use, use) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  for (; lo < s->npairs && !compare(s->pairs[lo].use, use); lo++) {
    Reach reached = follow_pair(s, &s->pairs[lo], how);
    if (reached != NOT_REACHED)
      reach(s, s->pairs[lo].def, reached);
  }
}

static void follow(Slicer *s, PhpSpot at) {
  const SliceScript *script = &s->scripts[at.script];
  uint64_t how = NOT_REACHED;
  size_t n;
  hashmap_get(&s->seen, &at, sizeof at, &how);
  const uint32_t *guards = script_control_of(script->control, at.entity, &n);
  for (size_t i = 0; i < n; i++)
    reach(s, (PhpSpot){at.script, guards[i]}, (Reach)how);
  reach_defined(s, at, (Reach)how);
  if (how == IN_FULL)
    reach_defined(s, function_of(s, at), IN_FULL);
}

void script_slice(const SliceScript *scripts, const PhpRecord *record,
                  Spots *spots) {
  Slicer s = {.scripts = scripts, .npairs = record->npairs, .spots = spots};
  PhpPair *pairs = mem_array(PhpPair, record->npairs + 1);
  if (record->npairs) {
    memcpy(pairs, record->pairs, record->npairs * sizeof *pairs);
    qsort(pairs, record->npairs, sizeof *pairs, by_use);
  }
  s.pairs = pairs;
  index_calls(&s);
  Spots first = *spots;
  *spots = (Spots){0};
  for (size_t i = 0; i < first.len; i++)
    reach(&s, first.items[i], IN_FULL);
  while (s.todo.len)
    follow(&s, s.todo.items[--s.todo.len]);
  array_release(&first);
  array_release(&s.todo);
  hashmap_release(&s.seen);
  hashmap_release(&s.calls);
  free(pairs);
}
