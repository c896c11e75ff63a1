// What experiments came to, kept beside the store so that a search that was cut
// short can be resumed: it is made again, and what it has run before is looked
// up. STORE/try/SESSION.runs has a head and a record for each run of a test that
// is a process of its own.
#ifndef CULPRIT_TRY_TRY_MEMORY_H
#define CULPRIT_TRY_TRY_MEMORY_H

#include "php/php_change.h"
#include "try/page_words.h"
#include "try/try_runs.h"
#include "try/web_runs.h"
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

// --- requests -----------------------------------------------------------------

// The same for requests to changed scripts (web_memory.c). Unchanged requests are not kept:
// they are made again, and say whether the session still holds.
//
// STORE/try/SESSION.requests: the magic and what identifies the application, 8
// bytes each; then numbers as LEB128 (util/leb.h): lists of words (page_words.h,
// as differences), texts, and records that refer to both. Many requests have the
// same words.
#define WEB_MEMORY_MAGIC 0x31424557544c5543ull // "CULTWEB1"

typedef struct {
  uint64_t key;          // of test and change
  uint32_t words;        // in WebMemory.words
  uint32_t first, nsigs; // in WebMemory.signatures
  int status;
  uint8_t stops;
  uint64_t size, steps;
} WebRecord;

typedef struct WebMemory {
  MemoryState state;
  ARRAY(WebRecord) records;
  size_t read;   // of them: were on disk
  Hashmap index; // key -> record
  ARRAY(PageWords) words;
  Hashmap words_index; // hash -> list
  ARRAY(char *) texts;
  Hashmap texts_index;
  ARRAY(uint32_t) signatures; // texts
} WebMemory;

void web_memory_release(WebMemory *m);

// As try_memory_read and so on.
int web_memory_read(WebMemory *m, const char *path, uint64_t app, Err *err);
int web_memory_parse(WebMemory *m, const void *data, size_t size, uint64_t app);
int web_memory_write(const WebMemory *m, const char *path, uint64_t app,
                     Err *err);

// `test`: its name. `visitor`: with all requests of its visitor.
uint64_t web_memory_key(const char *test, const PhpChange *c, bool visitor);
// *before: it was on disk. `out` is to be released.
bool web_memory_find(const WebMemory *m, uint64_t key, WebOutcome *out,
                     bool *before);
void web_memory_add(WebMemory *m, uint64_t key, const WebOutcome *o);

#endif
