// A set of small numbers: see bitset.h.
#include "util/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { CHUNK_WORDS = 8, CHUNK_BYTES = 64, CHUNK_BITS = 512 };

static void span_words(Bitset *b, size_t nwords) {
  nwords = (nwords + CHUNK_WORDS - 1) / CHUNK_WORDS * CHUNK_WORDS;
  if (nwords <= b->nwords)
    return;
  b->words = mem_realloc(b->words, nwords * sizeof *b->words);
  memset(b->words + b->nwords, 0, (nwords - b->nwords) * sizeof *b->words);
  b->nwords = nwords;
}

void bitset_add(Bitset *b, uint32_t bit) {
  if (bit / 64 >= b->nwords) // doubling, so that adding is cheap
    span_words(b, bit / 64 + 1 > b->nwords * 2 ? bit / 64 + 1 : b->nwords * 2);
  b->words[bit / 64] |= (uint64_t)1 << (bit % 64);
}

bool bitset_has(const Bitset *b, uint32_t bit) {
  return bit / 64 < b->nwords && (b->words[bit / 64] >> (bit % 64) & 1);
}

void bitset_union(Bitset *b, const Bitset *other) {
  span_words(b, other->nwords);
  for (size_t i = 0; i < other->nwords; i++)
    b->words[i] |= other->words[i];
}

size_t bitset_count(const Bitset *b) {
  size_t n = 0;
  for (size_t i = 0; i < b->nwords; i++)
    n += (size_t)__builtin_popcountll(b->words[i]);
  return n;
}

bool bitset_next(const Bitset *b, uint32_t *bit) {
  size_t i = *bit / 64;
  if (i >= b->nwords)
    return false;
  uint64_t w = b->words[i] & UINT64_MAX << (*bit % 64);
  while (!w && ++i < b->nwords)
    w = b->words[i];
  if (!w)
    return false;
  *bit = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(w);
  return true;
}

bool bitset_equal(const Bitset *a, const Bitset *b) {
  size_t n = a->nwords > b->nwords ? a->nwords : b->nwords;
  for (size_t i = 0; i < n; i++) {
    uint64_t x = i < a->nwords ? a->words[i] : 0;
    uint64_t y = i < b->nwords ? b->words[i] : 0;
    if (x != y)
      return false;
  }
  return true;
}

void bitset_release(Bitset *b) {
  free(b->words);
  *b = (Bitset){0};
}

void bitset_tally(const Bitset *b, uint32_t *counts, size_t n) {
  for (size_t i = 0; i < b->nwords; i++) {
    for (uint64_t w = b->words[i]; w; w &= w - 1) {
      size_t bit = i * 64 + (size_t)__builtin_ctzll(w);
      if (bit < n)
        counts[bit]++;
    }
  }
}

static bool chunk_empty(const uint64_t *w) {
  uint64_t any = 0;
  for (int i = 0; i < CHUNK_WORDS; i++)
    any |= w[i];
  return !any;
}

void bitset_write(const Bitset *b, Str *out) {
  size_t chunks = b->nwords / CHUNK_WORDS;
  while (chunks && chunk_empty(b->words + (chunks - 1) * CHUNK_WORDS))
    chunks--;
  uint32_t n = (uint32_t)chunks;
  str_addn(out, &n, sizeof n);
  size_t map = out->len;
  for (size_t i = 0; i < (chunks + 7) / 8; i++)
    str_addc(out, 0);
  for (size_t i = 0; i < chunks; i++) {
    const uint64_t *w = b->words + i * CHUNK_WORDS;
    if (chunk_empty(w))
      continue;
    out->data[map + i / 8] |= (char)(1 << (i % 8));
    str_addn(out, w, CHUNK_BYTES);
  }
}

int bitset_read(Bitset *b, const void *blob, size_t size, size_t max_bits,
                Err *err) {
  const unsigned char *p = blob;
  uint32_t chunks;
  if (size < sizeof chunks)
    return err_set(err, "spectrum blob of %zu bytes is too short", size);
  memcpy(&chunks, p, sizeof chunks);
  size_t map_bytes = ((size_t)chunks + 7) / 8;
  if (chunks > max_bits / CHUNK_BITS + 1 || map_bytes > size - sizeof chunks)
    return err_set(err, "spectrum blob spans %u chunks, too many", chunks);
  const unsigned char *map = p + sizeof chunks;
  const unsigned char *data = map + map_bytes, *end = p + size;
  b->nwords = 0;
  span_words(b, (size_t)chunks * CHUNK_WORDS);
  for (size_t i = 0; i < chunks; i++) {
    uint64_t *w = b->words + i * CHUNK_WORDS;
    if (!(map[i / 8] >> (i % 8) & 1)) {
      memset(w, 0, CHUNK_BYTES);
      continue;
    }
    if (end - data < CHUNK_BYTES)
      return err_set(err, "spectrum blob is truncated");
    memcpy(w, data, CHUNK_BYTES);
    data += CHUNK_BYTES;
  }
  if (data != end)
    return err_set(err, "spectrum blob has %zu bytes too many",
                   (size_t)(end - data));
  return 0;
}
