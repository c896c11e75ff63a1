// Conditions that have had one outcome only: see condition_outcomes.h.
#include "explore/condition_outcomes.h"

#include <stdbool.h>

#include "util/hashmap.h"

static void make_room(ConditionOutcomes *o, uint32_t id) {
  while (o->next.len <= id)
    array_push(&o->next, 0);
}

// Puts `id` behind `first` in its ring.
static void join(ConditionOutcomes *o, uint32_t first, uint32_t id) {
  make_room(o, first > id ? first : id);
  uint32_t *next = o->next.items;
  if (next[id])
    return;
  next[id] = first == id ? id + 1 : next[first];
  next[first] = id + 1;
}

void condition_outcomes_add(ConditionOutcomes *o, const Unit *unit,
                            const uint32_t *ids) {
  Hashmap conditions = {0};
  for (size_t i = 0; i < unit->nentities; i++) {
    const Entity *e = &unit->entities[i];
    if (e->kind != ENTITY_CONDITION)
      continue;
    uint32_t key[2] = {e->function, e->index};
    uint64_t first = hashmap_intern(&conditions, key, sizeof key, ids[i]);
    join(o, (uint32_t)first, ids[i]);
  }
  hashmap_release(&conditions);
}

static bool is_open(const ConditionOutcomes *o, uint32_t id,
                    const Bitset *seen) {
  if (id >= o->next.len || !o->next.items[id])
    return false;
  for (uint32_t i = o->next.items[id] - 1; i != id; i = o->next.items[i] - 1)
    if (!bitset_has(seen, i))
      return true;
  return false;
}

size_t condition_outcomes_one_sided(const ConditionOutcomes *o,
                                    const Bitset *run, const Bitset *seen) {
  size_t n = 0;
  for (uint32_t id = 0; bitset_next(run, &id); id++)
    n += is_open(o, id, seen);
  return n;
}

void condition_outcomes_release(ConditionOutcomes *o) {
  array_release(&o->next);
}
