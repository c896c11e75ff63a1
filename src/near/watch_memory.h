// The memory of a watched run (watch.h): for every byte that it wrote the value
// and the number of the event that wrote it. Bytes that were not written are
// unknown.
//
// Memory: 330 bytes for 64; what is written beyond CELLS_MAX of those is not
// kept, which `full` says.
#ifndef CULPRIT_NEAR_WATCH_MEMORY_H
#define CULPRIT_NEAR_WATCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "util/array.h"
#include "util/hashmap.h"

enum { CELL_BYTES = 64, CELLS_MAX = 1 << 18 };

typedef struct {
  uint64_t known; // a bit for each byte
  uint32_t writers[CELL_BYTES];
  uint8_t bytes[CELL_BYTES];
} MemoryCell;

typedef struct {
  Hashmap index; // address / CELL_BYTES -> number
  ARRAY(MemoryCell) cells;
  uint64_t last; // looked up, + 1; 0: none
  uint32_t last_cell;
  bool full;
} WatchMemory;

void watched_release(WatchMemory *m);
// `bytes` NULL: written, but not known what.
void watched_write(WatchMemory *m, uint64_t at, const uint8_t *bytes,
                   uint64_t n, uint32_t writer);
void watched_forget(WatchMemory *m, uint64_t at, uint64_t n);
// False: it was not written. *value is set if it is known: *known.
bool watched_byte(WatchMemory *m, uint64_t at, uint8_t *value, bool *known,
                  uint32_t *writer);
// Up to 8 bytes as a number. False: not all are known.
bool watched_number(WatchMemory *m, uint64_t at, unsigned n, uint64_t *value);

#endif
