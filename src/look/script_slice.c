// What lines of output depend on: see script_slice.h.
#include "look/script_slice.h"

#include <stdlib.h>
#include <string.h>

#include "php/record/record_format.h"
#include "util/hashmap.h"
#include "util/mem.h"

typedef struct {
  const SliceScript *scripts;
  const PhpPair *pairs; // by use
  size_t npairs;
  Spots *spots;
  Hashmap seen;
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

static void reach(Slicer *s, PhpSpot spot) {
  const Unit *u = s->scripts[spot.script].unit;
  if (!u || spot.entity >= u->nentities ||
      u->entities[spot.entity].kind != ENTITY_STATEMENT)
    return;
  uint64_t n = s->spots->len + 1;
  if (hashmap_intern(&s->seen, &spot, sizeof spot, n) == n)
    array_push(s->spots, spot);
}

// All that the pairs with this use define: a statement or, of calls, a function.
static void reach_defined(Slicer *s, PhpSpot use) {
  size_t lo = 0, hi = s->npairs;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (compare(s->pairs[mid].use, use) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  for (; lo < s->npairs && !compare(s->pairs[lo].use, use); lo++)
    reach(s, s->pairs[lo].def);
}

static void follow(Slicer *s, PhpSpot at) {
  const SliceScript *script = &s->scripts[at.script];
  size_t n;
  const uint32_t *guards = script_control_of(script->control, at.entity, &n);
  for (size_t i = 0; i < n; i++)
    reach(s, (PhpSpot){at.script, guards[i]});
  reach_defined(s, at);
  reach_defined(
      s, (PhpSpot){at.script, script->unit->entities[at.entity].function});
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
  Spots first = *spots;
  *spots = (Spots){0};
  for (size_t i = 0; i < first.len; i++)
    reach(&s, first.items[i]);
  for (size_t i = 0; i < spots->len; i++)
    follow(&s, spots->items[i]);
  array_release(&first);
  hashmap_release(&s.seen);
  free(pairs);
}
