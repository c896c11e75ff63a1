// Where the source files are that coverage files name.
#ifndef CULPRIT_IMPORT_PLACES_H
#define CULPRIT_IMPORT_PLACES_H

#include <stddef.h>

#include "util/arena.h"
#include "util/array.h"

// A path that begins with `from` begins with `to` instead: --map FROM=TO, for
// coverage that was recorded somewhere else.
typedef struct {
  const char *from, *to; // absolute
} PathMap;

typedef struct {
  ARRAY(const char *) roots; // --root; none: the current directory
  ARRAY(PathMap) maps;
} Places;

void places_release(Places *p);

// Adds "FROM=TO", made absolute. -1: it is not that.
int places_add_map(Places *p, const char *text, Arena *arena);

// `path` with the first map that fits applied; absolute. Caller frees.
char *places_map(const Places *p, const char *path);
// The absolute path of a source file. A relative one is looked for below `dirs`
// (what the coverage file says; ends with NULL, may be NULL) and below the
// roots: the first place that has it wins, else the first place there is.
// Caller frees.
char *places_find(const Places *p, const char *path, const char *const *dirs);

#endif
