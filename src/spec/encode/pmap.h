// A persistent map from 64-bit keys to numbers: putting something into it gives
// a new map that shares nearly everything with the old one. So every place of
// an unrolled program can keep its own memory, and where two of them join, only
// the differences are visited.
//
//   Pmap a = pmap_put(&arena, NULL, 7, 1);
//   Pmap b = pmap_put(&arena, a, 9, 2);       // a is as it was
//   pmap_get(b, 7, &value)
//   pmap_diff(a, b, &keys);                   // 9
//
// A tree over the bits of the keys, from the highest; putting and getting take
// as many steps as keys share leading bits, 64 at most.
#ifndef CULPRIT_SPEC_ENCODE_PMAP_H
#define CULPRIT_SPEC_ENCODE_PMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/array.h"

typedef struct PmapNode PmapNode;
typedef const PmapNode *Pmap; // NULL: empty
typedef ARRAY(uint64_t) PmapKeys;

Pmap pmap_put(Arena *arena, Pmap m, uint64_t key, uint32_t value);
bool pmap_get(Pmap m, uint64_t key, uint32_t *value);

// Appends the keys whose values are not the same in both, ascending; a key that
// only one of them has is among them.
void pmap_diff(Pmap a, Pmap b, PmapKeys *out);

#endif
