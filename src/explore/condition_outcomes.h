// Conditions that have had one outcome only: another input or another state may
// show the other one.
#ifndef CULPRIT_EXPLORE_CONDITION_OUTCOMES_H
#define CULPRIT_EXPLORE_CONDITION_OUTCOMES_H

#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "util/array.h"
#include "util/bitset.h"

// The outcomes of each condition form a ring. By entity: the next outcome + 1;
// 0: the entity is not an outcome.
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
