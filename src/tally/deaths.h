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

// One run died at one place that may be listed, or in a call made there.
typedef struct {
  uint32_t source, line; // of the listed entity
  uint32_t run;
  const char *how; // SIGSEGV, ...
  bool exact;
  uint32_t depth;      // how many calls it died below; 0: at this place
  const char *end;     // the file where it died,
  uint32_t end_line;   // and the line
  const char *callers; // of a death at this place: see Death
  const char *turns;   // the same
} DeathAt;

typedef struct {
  ARRAY(DeathAt) items; // by place, depth, how, exact ones first, then run
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
// Did a run that shows the failure die of it? A run may show several failures:
// one that a page or a query has ends nothing, and a fatal error of PHP ends
// the script where it says.
bool death_of(const Suite *suite, size_t failure, const DeathAt *at);

// Is this the place that a failure names, "view.php:12", below some directory?
bool place_is_at(const char *place, const char *file, uint32_t line);

// How near to this entity's line runs died of the failure: 1 there, 1/2
// in a call from there, 1/3 in a call from that, ...; 0: nowhere near. `d` may
// be NULL.
double deaths_nearness(const Deaths *d, const Suite *suite, size_t failure,
                       uint32_t entity);

// The calls that led to the death of the first run that died of the failure, as
// in Death; NULL: none is known. `d` may be NULL.
const char *deaths_callers(const Deaths *d, const Suite *suite, size_t failure);

#endif
