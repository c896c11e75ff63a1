// Sets of lines, each kept once: equal sets have equal numbers, so that the
// union of two that were united before costs one look into a cache.
//
//   LineSets s;
//   line_sets_init(&s, nlines);
//   uint32_t a = line_sets_with(&s, 0, 17);      // {17}; 0 is the empty set
//   uint32_t b = line_sets_union(&s, a, other);
//
// A set is a binary tree over the lines whose leaves are words of 64 of them;
// equal subtrees are one node. Values of a loop soon depend on the same lines, so
// a long run has few different sets.
//
// Memory: 16 bytes per node, LINE_SETS_MAX nodes at most. Beyond them `full` is
// set, and unions lose their second operand.
#ifndef CULPRIT_LOOK_LINE_SETS_H
#define CULPRIT_LOOK_LINE_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/array.h"
#include "util/bitset.h"

enum { LINE_SETS_MAX = 1 << 24 };

typedef struct {
  uint64_t key;
  uint32_t level, result;
} SetUnion;

typedef struct {
  ARRAY(uint64_t) nodes; // a leaf's word, or two children
  uint32_t *slots;       // by content: node + 1
  uint64_t nslots;
  SetUnion *cache;
  unsigned levels; // of the root; a leaf is level 0
  bool full;
} LineSets;

// Lines are 0 to n - 1.
void line_sets_init(LineSets *s, uint32_t n);
void line_sets_release(LineSets *s);

uint32_t line_sets_with(LineSets *s, uint32_t set, uint32_t line);
uint32_t line_sets_union(LineSets *s, uint32_t a, uint32_t b);
// Adds the members to `out`.
void line_sets_list(const LineSets *s, uint32_t set, Bitset *out);

#endif
