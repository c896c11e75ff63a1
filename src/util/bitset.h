// A set of small numbers, and its form on disk.
//
// On disk (little endian): u32 number of 64-byte chunks the set spans, one bit
// per chunk (rounded up to bytes) that says whether the chunk is stored, then
// the stored chunks. Sparse and dense sets are both compact, and any byte
// string is either refused or a valid set.
#ifndef CULPRIT_UTIL_BITSET_H
#define CULPRIT_UTIL_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "util/str.h"

typedef struct {
  uint64_t *words;
  size_t nwords; // a multiple of 8
} Bitset;

void bitset_add(Bitset *b, uint32_t bit); // grows as needed
bool bitset_has(const Bitset *b, uint32_t bit);
void bitset_union(Bitset *b, const Bitset *other);
size_t bitset_count(const Bitset *b);
// Moves *bit to the first member that is not smaller; false if there is none.
//   for (uint32_t i = 0; bitset_next(&b, &i); i++) ...
bool bitset_next(const Bitset *b, uint32_t *bit);
bool bitset_equal(const Bitset *a, const Bitset *b);
void bitset_release(Bitset *b);

// Adds 1 to counts[i] for every member i. Members >= n are ignored.
void bitset_tally(const Bitset *b, uint32_t *counts, size_t n);

void bitset_write(const Bitset *b, Str *out);
// Fails on a malformed blob or one that spans more than `max_bits`.
int bitset_read(Bitset *b, const void *blob, size_t size, size_t max_bits,
                Err *err);

#endif
