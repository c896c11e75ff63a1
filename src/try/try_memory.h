// What experiments came to, kept beside the store so that a search that was cut
// short can be resumed: it is made again, and what it has run before is looked
// up. STORE/try/SESSION.runs has a head and a record for each run of a test that
// is a process of its own.
#ifndef CULPRIT_TRY_TRY_MEMORY_H
#define CULPRIT_TRY_TRY_MEMORY_H

#include "try/try_runs.h"
#include "util/hashmap.h"

#define MEMORY_MAGIC 0x314e5552544c5543ull // "CULTRUN1"

typedef struct {
  uint64_t key; // of test and experiment
  uint64_t steps, executed, changed;
  uint32_t relations;
  uint8_t passes, stops, end, unused; // stops: of TryResult
} TryRecord;

// What was found on disk.
typedef enum {
  MEMORY_NONE,
  MEMORY_OTHER, // of other programs, or of an application that has changed
  MEMORY_TAKEN
} MemoryState;

typedef struct TryMemory {
  MemoryState state;
  ARRAY(TryRecord) records;
  size_t read;   // of them: were on disk
  Hashmap index; // key -> record
} TryMemory;

void try_memory_release(TryMemory *m);

// `build`: what identifies the programs; what was kept of others does not count.
// A missing file is empty; fails if it is damaged.
int try_memory_read(TryMemory *m, const char *path, uint64_t build, Err *err);
// The same from memory: the untrusted part. -1: it is damaged.
int try_memory_parse(TryMemory *m, const void *data, size_t size,
                     uint64_t build);
int try_memory_write(const TryMemory *m, const char *path, uint64_t build,
                     Err *err);

// Its name and its command line count.
uint64_t try_memory_key(const Test *test, const Experiment *e);
// *before: it was on disk.
bool try_memory_find(const TryMemory *m, uint64_t key, TryResult *out,
                     bool *before);
void try_memory_add(TryMemory *m, uint64_t key, const TryResult *r);

#endif
