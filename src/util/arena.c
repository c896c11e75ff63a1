// Memory with one lifetime: see arena.h. Chunks double up to 1 MB; a larger
// request gets a chunk of its own.
#include "util/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { ALIGN = alignof(max_align_t), FIRST = 4096, LARGEST = 1 << 20 };

struct ArenaChunk {
  ArenaChunk *next;
  size_t used, size;
  alignas(max_align_t) unsigned char data[];
};

static ArenaChunk *grow(Arena *a, size_t size) {
  size_t want = a->chunks ? a->chunks->size * 2 : FIRST;
  if (want > LARGEST)
    want = LARGEST;
  if (want < size)
    want = size;
  ArenaChunk *c = mem_alloc(sizeof *c + want);
  c->size = want;
  c->next = a->chunks;
  a->chunks = c;
  return c;
}

void *arena_alloc(Arena *a, size_t size) {
  if (size > SIZE_MAX / 2)
    mem_alloc_array(SIZE_MAX, 2); // dies
  size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  ArenaChunk *c = a->chunks;
  if (!c || c->size - c->used < size)
    c = grow(a, size);
  void *p = c->data + c->used;
  c->used += size;
  return p;
}

void *arena_alloc_array(Arena *a, size_t n, size_t size) {
  if (size && n > SIZE_MAX / size)
    mem_alloc_array(n, size); // dies
  return arena_alloc(a, n * size);
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
  char *copy = arena_alloc(a, n + 1);
  if (n)
    memcpy(copy, s, n);
  return copy;
}

char *arena_strdup(Arena *a, const char *s) {
  return arena_strndup(a, s, strlen(s));
}

char *arena_printf(Arena *a, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  char *s = arena_alloc(a, (size_t)(n > 0 ? n : 0) + 1);
  if (n > 0)
    vsnprintf(s, (size_t)n + 1, fmt, again);
  va_end(again);
  return s;
}

void *arena_move(Arena *a, void *heap, size_t size) {
  void *copy = arena_alloc(a, size);
  if (size)
    memcpy(copy, heap, size);
  free(heap);
  return copy;
}

char *arena_take(Arena *a, Str *s) {
  char *copy = arena_alloc(a, s->len + 1);
  if (s->len)
    memcpy(copy, s->data, s->len);
  str_release(s);
  return copy;
}

void arena_release(Arena *a) {
  while (a->chunks) {
    ArenaChunk *next = a->chunks->next;
    free(a->chunks);
    a->chunks = next;
  }
}
