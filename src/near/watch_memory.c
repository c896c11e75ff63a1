// Bytes and the events that wrote them: see watch_memory.h.
#include "near/watch_memory.h"

#include <stddef.h>

enum { LARGEST = 1 << 22 }; // bytes that one instruction or call writes

void watched_release(WatchMemory *m) {
  hashmap_release(&m->index);
  array_release(&m->cells);
}

// The cell that an address lies in; NULL: there is none.
static MemoryCell *find_cell(WatchMemory *m, uint64_t at, bool make) {
  uint64_t key = at / CELL_BYTES, number;
  if (m->last == key + 1)
    return &m->cells.items[m->last_cell];
  if (!hashmap_get(&m->index, &key, sizeof key, &number)) {
    m->full |= make && m->cells.len >= CELLS_MAX;
    if (!make || m->cells.len >= CELLS_MAX)
      return NULL;
    number = m->cells.len;
    array_push(&m->cells, (MemoryCell){0});
    hashmap_put(&m->index, &key, sizeof key, number);
  }
  m->last = key + 1;
  m->last_cell = (uint32_t)number;
  return &m->cells.items[number];
}

static void set_byte(MemoryCell *c, unsigned i, const uint8_t *value,
                     uint32_t writer) {
  c->known &= ~(1ull << i);
  c->writers[i] = writer;
  if (value) {
    c->bytes[i] = *value;
    c->known |= 1ull << i;
  }
}

void watched_write(WatchMemory *m, uint64_t at, const uint8_t *bytes,
                   uint64_t n, uint32_t writer) {
  m->full |= n > LARGEST;
  for (uint64_t i = 0; i < n && i < LARGEST; i++) {
    MemoryCell *c = find_cell(m, at + i, true);
    if (c)
      set_byte(c, (at + i) % CELL_BYTES, bytes ? &bytes[i] : NULL, writer);
  }
}

void watched_forget(WatchMemory *m, uint64_t at, uint64_t n) {
  for (uint64_t i = 0; i < n && i < LARGEST; i++) {
    MemoryCell *c = find_cell(m, at + i, false);
    if (c)
      set_byte(c, (at + i) % CELL_BYTES, NULL, 0);
  }
}

bool watched_byte(WatchMemory *m, uint64_t at, uint8_t *value, bool *known,
                  uint32_t *writer) {
  const MemoryCell *c = find_cell(m, at, false);
  unsigned i = at % CELL_BYTES;
  *known = c && c->known >> i & 1;
  *writer = c ? c->writers[i] : 0;
  *value = *known ? c->bytes[i] : 0;
  return *known || *writer;
}

bool watched_number(WatchMemory *m, uint64_t at, unsigned n, uint64_t *value) {
  *value = 0;
  for (unsigned i = 0; i < n; i++) {
    uint8_t byte;
    bool known;
    uint32_t writer;
    watched_byte(m, at + i, &byte, &known, &writer);
    if (!known)
      return false;
    *value |= (uint64_t)byte << 8 * i;
  }
  return true;
}
