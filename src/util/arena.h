// Memory with one lifetime: allocate many small things, release them together.
//
//   Arena a = {0};
//   char *name = arena_strdup(&a, text);
//   ...
//   arena_release(&a);
#ifndef CULPRIT_UTIL_ARENA_H
#define CULPRIT_UTIL_ARENA_H

#include <stddef.h>

#include "util/str.h"

typedef struct ArenaChunk ArenaChunk;
typedef struct {
  ArenaChunk *chunks;
} Arena;

void *arena_alloc(Arena *a, size_t size); // zeroed, aligned for any type
char *arena_strdup(Arena *a, const char *s);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
// Moves the bytes of `s` into the arena, with a NUL behind them; `s` is empty
// afterwards.
char *arena_take(Arena *a, Str *s);
// Moves the items of a growing array (array.h) into the arena. Nothing may be
// added to it or released afterwards.
#define arena_adopt(a, array)                                                  \
  ((array)->items =                                                            \
       arena_move((a), (array)->items, (array)->len * sizeof *(array)->items))
void *arena_move(Arena *a, void *heap, size_t size);
void arena_release(Arena *a);

#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc_array((a), (n), sizeof(T)))
void *arena_alloc_array(Arena *a, size_t n, size_t size); // overflow checked

#endif
