// A map that never changes: see pmap.h. A leaf has bit 0; an inner node's bit
// is the highest in which its two sides differ, and its key has the bits above.
#include "spec/encode/pmap.h"

#include <stddef.h>

struct PmapNode {
  uint64_t key; // of a leaf; else the common leading bits
  uint64_t bit; // 0: a leaf
  union {
    uint32_t value;
    Pmap side[2]; // bit clear, bit set
  };
};

static Pmap make_leaf(Arena *arena, uint64_t key, uint32_t value) {
  PmapNode *n = arena_new(arena, PmapNode);
  n->key = key;
  n->value = value;
  return n;
}

static uint64_t above(uint64_t key, uint64_t bit) {
  return key & ~(bit | (bit - 1));
}

static Pmap make_inner(Arena *arena, uint64_t key, uint64_t bit, Pmap clear,
                       Pmap set) {
  PmapNode *n = arena_new(arena, PmapNode);
  n->key = above(key, bit);
  n->bit = bit;
  n->side[0] = clear;
  n->side[1] = set;
  return n;
}

static uint64_t highest_difference(uint64_t a, uint64_t b) {
  return 1ull << (63 - __builtin_clzll(a ^ b));
}

// Does the key belong below this node?
static bool belongs(Pmap m, uint64_t key) {
  return m->bit ? above(key, m->bit) == m->key : m->key == key;
}

static Pmap join(Arena *arena, Pmap m, Pmap leaf) {
  uint64_t bit = highest_difference(m->key, leaf->key);
  return leaf->key & bit ? make_inner(arena, leaf->key, bit, m, leaf)
                         : make_inner(arena, leaf->key, bit, leaf, m);
}

Pmap pmap_put(Arena *arena, Pmap m, uint64_t key, uint32_t value) {
  if (!m)
    return make_leaf(arena, key, value);
  if (!belongs(m, key))
    return join(arena, m, make_leaf(arena, key, value));
  if (!m->bit)
    return m->value == value ? m : make_leaf(arena, key, value);
  bool set = key & m->bit;
  Pmap side = pmap_put(arena, m->side[set], key, value);
  if (side == m->side[set])
    return m;
  return set ? make_inner(arena, m->key, m->bit, m->side[0], side)
             : make_inner(arena, m->key, m->bit, side, m->side[1]);
}

bool pmap_get(Pmap m, uint64_t key, uint32_t *value) {
  while (m && m->bit) {
    if (above(key, m->bit) != m->key)
      return false;
    m = m->side[(key & m->bit) != 0];
  }
  if (!m || m->key != key)
    return false;
  *value = m->value;
  return true;
}

// --- differences ------------------------------------------------------------

static void all_keys(Pmap m, PmapKeys *out) {
  if (!m)
    return;
  if (!m->bit) {
    array_push(out, m->key);
    return;
  }
  all_keys(m->side[0], out);
  all_keys(m->side[1], out);
}

// `b` lies below one side of `a`.
static void diff_below(Pmap a, Pmap b, PmapKeys *out) {
  bool set = b->key & a->bit;
  if (set)
    all_keys(a->side[0], out);
  pmap_diff(a->side[set], b, out);
  if (!set)
    all_keys(a->side[1], out);
}

static void diff_apart(Pmap a, Pmap b, PmapKeys *out) {
  all_keys(a->key < b->key ? a : b, out);
  all_keys(a->key < b->key ? b : a, out);
}

void pmap_diff(Pmap a, Pmap b, PmapKeys *out) {
  if (a == b)
    return;
  if (!a || !b) {
    all_keys(a ? a : b, out);
  } else if (a->bit == b->bit && a->key == b->key) {
    if (!a->bit) {
      if (a->value != b->value)
        array_push(out, a->key);
      return;
    }
    pmap_diff(a->side[0], b->side[0], out);
    pmap_diff(a->side[1], b->side[1], out);
  } else if (a->bit > b->bit && belongs(a, b->key)) {
    diff_below(a, b, out);
  } else if (b->bit > a->bit && belongs(b, a->key)) {
    diff_below(b, a, out);
  } else {
    diff_apart(a, b, out);
  }
}
