// Values that were worth while: a request that differs from another one in few
// values and executes something new has good ones. A form whose fields are all
// checked needs good values in all of them at the same time, and solving finds
// them one at a time.
//
//   name=aa           passes a check for the first time
//   born=1.1.1900     another one, elsewhere:       name=aa&born=1.1.1900
//
// Values belong to a page: the scripts that were executed.
#ifndef CULPRIT_EXPLORE_SOLVE_GOOD_VALUES_H
#define CULPRIT_EXPLORE_SOLVE_GOOD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "php/ask.h"
#include "util/arena.h"
#include "util/array.h"

enum { GOOD_VALUES_MOST = 2000 };

typedef struct {
  uint64_t page;
  Param param;
} GoodValue;

typedef struct {
  ARRAY(GoodValue) items; // one for each parameter of a page: the last
  Arena arena;
} GoodValues;

// `ask`, made from `base`, was worth while: remembers the values in which they
// differ.
void good_values_learn(GoodValues *g, uint64_t page, const Ask *ask,
                       const Ask *base);
// `ask` with the good values of the page, except in what it has changed of
// `base`. False: it has them all.
bool good_values_apply(const GoodValues *g, uint64_t page, const Ask *ask,
                       const Ask *base, Ask *out, Arena *arena);
// For the checkpoint: a value of a page. Copies it.
void good_values_add(GoodValues *g, uint64_t page, const Param *p);
void good_values_release(GoodValues *g);

#endif
