// Open addressing; a slot is free unless it carries the map's generation.
#include "expr/expr_map.h"

#include <stdlib.h>

#include "util/mem.h"

static size_t slot_of(const ExprMap *m, uint32_t key) {
  size_t i = (key * 0x9e3779b97f4a7c15ull) >> 32 & (m->cap - 1);
  while (m->slots[i].generation == m->generation && m->slots[i].key != key)
    i = (i + 1) & (m->cap - 1);
  return i;
}

static void grow(ExprMap *m) {
  ExprMapSlot *old = m->slots;
  size_t n = m->cap;
  m->cap = n ? n * 2 : 64;
  m->slots = mem_array(ExprMapSlot, m->cap);
  for (size_t i = 0; i < n; i++)
    if (old[i].generation == m->generation)
      m->slots[slot_of(m, old[i].key)] = old[i];
  free(old);
}

uint64_t *expr_map_get(const ExprMap *m, uint32_t key) {
  if (m->len == 0)
    return NULL;
  ExprMapSlot *s = &m->slots[slot_of(m, key)];
  return s->generation == m->generation ? &s->value : NULL;
}

void expr_map_put(ExprMap *m, uint32_t key, uint64_t value) {
  if (m->generation == 0)
    m->generation = 1; // zeroed slots are free
  if ((m->len + 1) * 4 > m->cap * 3)
    grow(m);
  ExprMapSlot *s = &m->slots[slot_of(m, key)];
  if (s->generation != m->generation)
    m->len++;
  *s = (ExprMapSlot){key, m->generation, value};
}

void expr_map_clear(ExprMap *m) {
  m->len = 0;
  if (m->generation++ < UINT32_MAX)
    return;
  for (size_t i = 0; i < m->cap; i++) // once in four billion times
    m->slots[i].generation = 0;
  m->generation = 1;
}

void expr_map_release(ExprMap *m) {
  free(m->slots);
  *m = (ExprMap){0};
}
