// What requests to changed scripts came to, as try_memory.h keeps runs of
// programs. Unchanged requests are not kept: they are made again, and say whether
// the session still holds.
//
// STORE/try/SESSION.requests: the magic and what identifies the application, 8
// bytes each; then numbers as LEB128 (util/leb.h): lists of words (page_words.h,
// as differences), texts, and records that refer to both. Many requests have the
// same words.
#ifndef CULPRIT_TRY_WEB_WEB_MEMORY_H
#define CULPRIT_TRY_WEB_WEB_MEMORY_H

#include "php/source/php_change.h"
#include "try/try_memory.h"
#include "try/web/page_words.h"
#include "try/web/web_runs.h"
#include "util/hashmap.h"

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
