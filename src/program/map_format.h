// Layout of one chunk of the section `culprit_map`: written by map_write.c in
// the instrumenter, read by map.c in the tool. Behind the header is the payload,
// as it is or (`full_size`) as a zstd frame. In the payload everything is a
// LEB128 number, except hashes (8 bytes) and the bytes of strings. A column is
// one field of all items, each as a signed difference (zigzag) to the one
// before: what lies side by side is alike, and compresses well.
//
//   strings:    count, then length and bytes of each
//   unit:       name (string)
//   sources:    count, then path (string), hash of each
//   entities:   count, then a column for each of MAP_ENTITY_FIELDS, their names,
//               their texts (strings that may be absent), the numbers of their
//               counters, and all the counters as one column
//   standings:  count, then statement and block of each, as differences to the
//               one before (the block's as a signed number)
//   call sites: count, then a column for each of MAP_CALL_FIELDS, their callees
//               (strings that may be absent)
//   definers:   only in a close build, as what follows: count, then count and
//               statements of each, as signed differences to the one before
//   uses:       count, then definers, statement and first counter of each, as
//               signed differences to the one before
//   use sites:  count, then counter, count and statements of each, as signed
//               differences to the one before
//
// Fields that may be absent are stored plus one, 0 standing for absent.
#ifndef CULPRIT_PROGRAM_MAP_FORMAT_H
#define CULPRIT_PROGRAM_MAP_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#define MAP_SECTION "culprit_map"
#define MAP_MAGIC 0x50414d434c50554cull // "LUPLCMAP"
#define MAP_VERSION 5u
#define MAP_LARGEST (1u << 30) // payload

typedef struct {
  uint64_t magic;
  uint64_t size; // of the whole chunk, this header included
  uint32_t version;
  uint32_t counter_size;
  uint32_t ncounters;
  uint32_t full_size; // of the payload; 0: it is not compressed
  uint64_t checksum;  // map_checksum() of the whole chunk
  unsigned char id[16];
} MapHeader;

// XXH3 of what follows the header, seeded with that of the header itself, its
// checksum taken as 0.
static inline uint64_t map_checksum(const MapHeader *h, const void *payload,
                                    size_t size) {
  MapHeader zeroed = *h;
  zeroed.checksum = 0;
  return XXH3_64bits_withSeed(payload, size,
                              XXH3_64bits(&zeroed, sizeof zeroed));
}

// FIELD(member, 1 if it may be absent)
#define MAP_ENTITY_FIELDS(FIELD)                                               \
  FIELD(kind, 0)                                                               \
  FIELD(source, 0)                                                             \
  FIELD(line, 0)                                                               \
  FIELD(col_lo, 0)                                                             \
  FIELD(col_hi, 0)                                                             \
  FIELD(function, 1)                                                           \
  FIELD(index, 0)                                                              \
  FIELD(from, 1)                                                               \
  FIELD(to, 1)

#define MAP_CALL_FIELDS(FIELD)                                                 \
  FIELD(function, 0)                                                           \
  FIELD(source, 0)                                                             \
  FIELD(line, 0)                                                               \
  FIELD(col, 0)                                                                \
  FIELD(block, 0)                                                              \
  FIELD(type, 0)

#endif
