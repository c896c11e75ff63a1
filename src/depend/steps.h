// How far a statement is from the place where a failure showed (a failed
// assertion, a crash: the check), counted in dependences of the failing runs.
//
//   7: int n = count(list);     2 steps: it sets what line 8 uses,
//   8: if (n > 0)               1 step: it decides whether line 9 is executed,
//   9:   assert(total == n);    where the failure showed
//
// A step is a definition-use pair that a failing run covers, or control
// dependence within a function. All failing runs count together, so this is a
// dynamic slice by statements, not by executions: it may be too large, and it
// lacks what no pair tells (docs/internals/pairs.md).
#ifndef CULPRIT_DEPEND_STEPS_H
#define CULPRIT_DEPEND_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "depend/deciders.h"
#include "model/ranking.h"
#include "model/suite.h"

// What all failures of a suite have in common.
typedef struct {
  const Suite *suite;
  Deciders deciders;
  uint32_t *first_pair, *pairs; // pairs that statement s uses: pairs[first_pair
                                // [s]] up to pairs[first_pair[s + 1]]
  NumberList *blocks;           // by entity: those a statement stands in
  NumberList *conditions; // by block: the statements that have its conditions
} Dependences;

// The suite must outlive it.
void dependences_find(Dependences *d, const Suite *suite);
void dependences_release(Dependences *d);

typedef struct {
  uint32_t *count; // by entity: steps to the nearest check; STEPS_NONE: it does
                   // not depend on this statement
  uint32_t *next;  // by entity: the statement one step nearer
  uint32_t *pair;  // by entity: the pair that is this step; ENTITY_NONE: the
                   // statement decides whether `next` is executed
} Steps;

// `ef`: by entity, how many failing runs cover it. `checks`: statements.
void steps_find(Steps *s, const Dependences *d, const uint32_t *ef,
                const NumberList *checks);
void steps_release(Steps *s); // zeroed: does nothing

#endif
