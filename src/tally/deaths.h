// Where runs died, to be looked up by place.
#ifndef CULPRIT_TALLY_DEATHS_H
#define CULPRIT_TALLY_DEATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

// One run died at one place that may be listed.
typedef struct {
  uint32_t source, line; // of the listed entity
  uint32_t run;
  const char *how; // SIGSEGV, ...
  bool exact;
} DeathAt;

typedef struct {
  ARRAY(DeathAt) items; // by place, then how, exact ones first, then run
  Arena arena;          // the texts
} Deaths;

// `by`: statement or function; deaths are not looked up for other kinds.
int deaths_load(Deaths *d, Store *store, const Suite *suite, EntityKind by,
                Err *err);
void deaths_release(Deaths *d);

// The deaths at a place: items[first, first + n).
size_t deaths_at(const Deaths *d, uint32_t source, uint32_t line, size_t *n);

// Does the run show the failure?
bool run_shows(const Suite *suite, size_t failure, uint32_t run);

// Did a run that shows the failure die at this entity's line? `d` may be NULL.
bool deaths_any(const Deaths *d, const Suite *suite, size_t failure,
                uint32_t entity);

#endif
