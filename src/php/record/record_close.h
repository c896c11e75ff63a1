// Inside php/record/php_record.c: the items of the closer look. The functions
// that take an item, of at least its structure's size, return NULL, or what is
// wrong with it.
#ifndef CULPRIT_PHP_RECORD_RECORD_CLOSE_H
#define CULPRIT_PHP_RECORD_RECORD_CLOSE_H

#include <stddef.h>
#include <stdint.h>

#include "php/record/php_record.h"
#include "util/array.h"

// Where the counters of a script lie in the record, as numbers of 4 bytes.
typedef struct {
  size_t first;
  uint32_t n;
} ScriptCounters;

// As in the record: places are counters until the end (`entity`).
typedef struct {
  ARRAY(PhpRelation) relations;
  ARRAY(PhpPair) pairs;
} CloseList;

const char *close_list_relation(CloseList *l, const unsigned char *item,
                                uint32_t size, Arena *arena);
const char *close_list_pair(CloseList *l, const unsigned char *item,
                            uint32_t size, Arena *arena);
// Finds the scripts that the counters belong to (ascending); what belongs to
// none is left out.
void close_list_fill(CloseList *l, const ScriptCounters *scripts, size_t n,
                     PhpRecord *out, Arena *arena);
void close_list_release(CloseList *l);

#endif
