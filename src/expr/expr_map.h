// From expression ids (or any nonzero 32-bit number) to numbers. Emptied in
// constant time, so that one map serves many small traversals.
//
//   ExprMap m = {0};
//   expr_map_put(&m, e, 7);
//   uint64_t *v = expr_map_get(&m, e);   // NULL: not there
//   expr_map_clear(&m);
#ifndef CULPRIT_EXPR_EXPR_MAP_H
#define CULPRIT_EXPR_EXPR_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t key, generation;
  uint64_t value;
} ExprMapSlot;

typedef struct {
  ExprMapSlot *slots;
  size_t len, cap; // cap is a power of two, or 0
  uint32_t generation;
} ExprMap;

// Valid until the next put.
uint64_t *expr_map_get(const ExprMap *m, uint32_t key);
void expr_map_put(ExprMap *m, uint32_t key, uint64_t value);
void expr_map_clear(ExprMap *m);
void expr_map_release(ExprMap *m);

#endif
