// From byte strings to numbers. Keys are copied.
//
//   Hashmap m = {0};
//   hashmap_put(&m, "a.c", 3, 17);
//   uint64_t id;
//   if (hashmap_get(&m, "a.c", 3, &id)) ...
#ifndef CULPRIT_UTIL_HASHMAP_H
#define CULPRIT_UTIL_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"

typedef struct HashEntry HashEntry;
typedef struct {
  HashEntry *slots;
  size_t len, cap; // cap is a power of two, or 0
  Arena keys;
} Hashmap;

bool hashmap_get(const Hashmap *m, const void *key, size_t n, uint64_t *value);
void hashmap_put(Hashmap *m, const void *key, size_t n, uint64_t value);
// The value under `key`; if there was none, `fresh` is stored and returned.
uint64_t hashmap_intern(Hashmap *m, const void *key, size_t n, uint64_t fresh);
void hashmap_release(Hashmap *m);

#endif
