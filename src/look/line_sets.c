// Sets of lines, each kept once: see line_sets.h.
#include "look/line_sets.h"

#include <string.h>

#include "util/mem.h"

enum { CACHE = 1 << 16, FIRST_SLOTS = 1 << 12, LEAF = 64 };

static uint64_t mix(uint64_t v) {
  v ^= v >> 32;
  v *= 0x9e3779b97f4a7c15ull;
  return v ^ v >> 29;
}

// --- nodes ------------------------------------------------------------------

static void put_slot(LineSets *s, uint32_t node) {
  uint64_t i = mix(s->nodes.items[node]) & (s->nslots - 1);
  while (s->slots[i])
    i = (i + 1) & (s->nslots - 1);
  s->slots[i] = node + 1;
}

static void grow(LineSets *s) {
  free(s->slots);
  s->nslots *= 2;
  s->slots = mem_array(uint32_t, s->nslots);
  for (uint32_t i = 1; i < s->nodes.len; i++)
    put_slot(s, i);
}

// The node with that content; 0 if there is no room for it.
static uint32_t intern(LineSets *s, uint64_t content) {
  if (!content)
    return 0;
  uint64_t i = mix(content) & (s->nslots - 1);
  for (; s->slots[i]; i = (i + 1) & (s->nslots - 1))
    if (s->nodes.items[s->slots[i] - 1] == content)
      return s->slots[i] - 1;
  if (s->nodes.len >= LINE_SETS_MAX) {
    s->full = true;
    return 0;
  }
  array_push(&s->nodes, content);
  uint32_t node = (uint32_t)s->nodes.len - 1;
  put_slot(s, node);
  if (s->nodes.len * 2 > s->nslots)
    grow(s);
  return node;
}

static uint32_t left(const LineSets *s, uint32_t node) {
  return (uint32_t)s->nodes.items[node];
}

static uint32_t right(const LineSets *s, uint32_t node) {
  return (uint32_t)(s->nodes.items[node] >> 32);
}

static uint64_t pair(uint32_t l, uint32_t r) { return (uint64_t)r << 32 | l; }

// --- sets -------------------------------------------------------------------

void line_sets_init(LineSets *s, uint32_t n) {
  *s = (LineSets){.nslots = FIRST_SLOTS};
  s->slots = mem_array(uint32_t, s->nslots);
  s->cache = mem_array(SetUnion, CACHE);
  array_push(&s->nodes, 0);
  while (s->levels < 26 && (uint64_t)LEAF << s->levels < n)
    s->levels++;
}

void line_sets_release(LineSets *s) {
  array_release(&s->nodes);
  free(s->slots);
  free(s->cache);
}

static uint32_t unite(LineSets *s, uint32_t a, uint32_t b, unsigned level) {
  if (a == b || !b)
    return a;
  if (!a)
    return b;
  uint64_t key = a < b ? pair(a, b) : pair(b, a);
  SetUnion *known = &s->cache[mix(key + level) & (CACHE - 1)];
  if (known->key == key && known->level == level)
    return known->result;
  uint64_t content = level ? pair(unite(s, left(s, a), left(s, b), level - 1),
                                  unite(s, right(s, a), right(s, b), level - 1))
                           : s->nodes.items[a] | s->nodes.items[b];
  uint32_t result = intern(s, content);
  if (s->full)
    return a;
  *known = (SetUnion){key, level, result};
  return result;
}

uint32_t line_sets_union(LineSets *s, uint32_t a, uint32_t b) {
  return unite(s, a, b, s->levels);
}

uint32_t line_sets_with(LineSets *s, uint32_t set, uint32_t line) {
  uint32_t node = intern(s, 1ull << line % LEAF);
  for (unsigned level = 1; level <= s->levels; level++) {
    bool is_right = line / LEAF >> (level - 1) & 1;
    node = intern(s, is_right ? pair(0, node) : pair(node, 0));
  }
  return line_sets_union(s, set, node);
}

static void list(const LineSets *s, uint32_t node, unsigned level,
                 uint32_t first, Bitset *out) {
  if (!node)
    return;
  if (level) {
    list(s, left(s, node), level - 1, first, out);
    list(s, right(s, node), level - 1, first + ((uint32_t)LEAF << (level - 1)),
         out);
    return;
  }
  for (uint32_t i = 0; i < LEAF; i++)
    if (s->nodes.items[node] >> i & 1)
      bitset_add(out, first + i);
}

void line_sets_list(const LineSets *s, uint32_t set, Bitset *out) {
  list(s, set, s->levels, 0, out);
}
