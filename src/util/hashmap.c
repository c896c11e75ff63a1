// From byte strings to numbers: see hashmap.h. Open addressing, linear
// probing, at most three quarters full; nothing is ever deleted.
#include "util/hashmap.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/mem.h"

struct HashEntry {
  const void *key; // NULL: free
  size_t n;
  uint64_t hash, value;
};

static HashEntry *find(const Hashmap *m, const void *key, size_t n,
                       uint64_t hash) {
  size_t i = hash & (m->cap - 1);
  for (;; i = (i + 1) & (m->cap - 1)) {
    HashEntry *e = &m->slots[i];
    if (!e->key || (e->hash == hash && e->n == n && !memcmp(e->key, key, n)))
      return e;
  }
}

static void grow(Hashmap *m) {
  HashEntry *old = m->slots;
  size_t cap = m->cap;
  m->cap = cap ? cap * 2 : 16;
  m->slots = mem_array(HashEntry, m->cap);
  for (size_t i = 0; i < cap; i++)
    if (old[i].key)
      *find(m, old[i].key, old[i].n, old[i].hash) = old[i];
  free(old);
}

static HashEntry *entry(Hashmap *m, const void *key, size_t n, bool *fresh) {
  if (m->len * 4 >= m->cap * 3)
    grow(m);
  uint64_t hash = XXH3_64bits(key, n);
  HashEntry *e = find(m, key, n, hash);
  *fresh = !e->key;
  if (*fresh) {
    e->key = arena_strndup(&m->keys, key, n);
    e->n = n;
    e->hash = hash;
    m->len++;
  }
  return e;
}

bool hashmap_get(const Hashmap *m, const void *key, size_t n, uint64_t *value) {
  if (!m->cap)
    return false;
  const HashEntry *e = find(m, key, n, XXH3_64bits(key, n));
  if (e->key)
    *value = e->value;
  return e->key != NULL;
}

void hashmap_put(Hashmap *m, const void *key, size_t n, uint64_t value) {
  bool fresh;
  entry(m, key, n, &fresh)->value = value;
}

uint64_t hashmap_intern(Hashmap *m, const void *key, size_t n, uint64_t value) {
  bool fresh;
  HashEntry *e = entry(m, key, n, &fresh);
  if (fresh)
    e->value = value;
  return e->value;
}

void hashmap_release(Hashmap *m) {
  free(m->slots);
  arena_release(&m->keys);
  *m = (Hashmap){0};
}
