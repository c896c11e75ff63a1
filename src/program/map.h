// The program map: how a program built by culprit-cc describes itself. Every
// object file carries one chunk for its translation unit in the section
// `culprit_map`. The linker concatenates them, so every program, shared library
// and archive member has its map, stripped or not.
//
// A chunk lists the unit's entities, and for each entity the counters that
// stand for it: it was hit if any of them was, and its count is their sum. How
// counters were saved by deriving one block from others is decided when the map
// is planned; readers need not know.
#ifndef CULPRIT_PROGRAM_MAP_H
#define CULPRIT_PROGRAM_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "model/run.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef enum { COUNTERS_HITS = 1, COUNTERS_COUNTS = 8 } CounterSize; // bytes

// What a call site gives back.
typedef enum {
  RESULT_NONE,
  RESULT_INT,
  RESULT_BOOL,
  RESULT_POINTER,
  RESULT_FLOAT,
  RESULT_OTHER,
  RESULT_TYPES
} ResultType;

typedef struct {
  uint32_t function; // entity
  uint32_t source, line, col;
  uint32_t block;     // entity
  uint32_t type;      // ResultType
  const char *callee; // NULL: called through a pointer
} CallSite;

// Of a close build: the statements that define one variable. Each statement that
// uses it has a row of counters: one for "not defined yet", then one for each.
typedef struct {
  uint32_t *statements; // entities
  uint32_t n;
} VariableDefiners;

typedef struct {
  uint32_t use;      // entity
  uint32_t definers; // which
  uint32_t first;    // counter of the row; rows may share counters
} VariableUse;

// Of a close build: a site that stands for several statements that use something.
typedef struct {
  uint32_t counter;
  uint32_t *statements; // entities
  uint32_t n;
} UseSite;

typedef struct {
  Unit unit;
  CounterSize counter_size;
  uint32_t ncounters;
  // Counters of entity i: refs[first_ref[i] .. first_ref[i + 1]).
  uint32_t *first_ref, *refs;
  CallSite *calls;
  size_t ncalls;
  VariableDefiners *definers;
  size_t ndefiners;
  VariableUse *uses;
  size_t nuses;
  UseSite *use_sites;
  size_t nuse_sites;
} UnitMap;

// All units found in one ELF file (program, library, object). Memory: arena.
typedef struct {
  char *path;
  ARRAY(UnitMap) units;
  Arena arena;
} ProgramMap;

// Reads the map from `path`. A file that is not ELF or carries no map gives an
// empty one (units.len == 0) and success; a corrupt map is an error.
int map_read(ProgramMap *m, const char *path, Err *err);
// Reads one section's bytes: the untrusted part, on its own for the fuzzer.
int map_parse(ProgramMap *m, const void *data, size_t size, Err *err);
void map_release(ProgramMap *m);

// Why a program has no map, as one sentence with the likely reason and remedy
// (a Makefile that sets CC, an old CMake tree, a script, another linker).
char *map_absence_reason(const char *path);

#endif
