// Conditions that were seen to have one outcome only: where they stand, another
// input or another state of the application shows something new.
#ifndef CULPRIT_EXPLORE_CONDITION_OUTCOMES_H
#define CULPRIT_EXPLORE_CONDITION_OUTCOMES_H

#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "util/array.h"
#include "util/bitset.h"

// The outcomes of each condition as a ring: next outcome + 1, by entity; 0:
// the entity is no outcome of a condition.
typedef struct {
  ARRAY(uint32_t) next;
} ConditionOutcomes;

// A script was compiled; ids: of its entities.
void condition_outcomes_add(ConditionOutcomes *o, const Unit *unit,
                            const uint32_t *ids);
// How many conditions of `run` have an outcome that is not in `seen`.
size_t condition_outcomes_one_sided(const ConditionOutcomes *o,
                                    const Bitset *run, const Bitset *seen);
void condition_outcomes_release(ConditionOutcomes *o);

#endif
