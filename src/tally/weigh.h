// The score of the default method after a closer look: what speaks against a
// line, added up.
//
// Whatever belongs to a line (its own execution, an outcome of a condition or
// comparison, the class of a stored value, a pair that it defines) costs
//   WEIGHT_FAILING * (failing runs that lack it / failing runs)
// + WEIGHT_PASSING * (passing runs that have it / passing runs)
// + WEIGHT_PASSING_LOG * log(1 + those that have it) / log(1 + passing runs)
// + WEIGHT_OTHERS * (runs with other failures that lack it / such runs)
// + what its kind costs: of the many pairs of a line one may tell runs apart by
//   chance, while two equal values are what a wrong comparison shows by.
// The cheapest stands for the line. A line also costs
//   WEIGHT_SLICE * (slices that it is not in / slices)
// + WEIGHT_DEATH * (1 - how near to it runs died), if some run did
// + WEIGHT_STEPS * (1 - 1 / (1 + steps from it to where the failure showed)), if
//   that place is known (depend/steps.h)
// and its score is failing runs / (1 + cost). The score is at most the number
// of failing runs, and falls with everything that speaks against the line.
#ifndef CULPRIT_TALLY_WEIGH_H
#define CULPRIT_TALLY_WEIGH_H

#include <stdbool.h>

#include "model/entity.h"
#include "model/ranking.h"
#include "tally/tally.h"

// Does a kind of relation, or anything else, take part?
bool weigh_takes(const Entity *e);

// What speaks against entity `e`, without what depends on the line.
Costs weigh_entity(const Comparison *c, uint32_t e);
double costs_sum(const Costs *c);

// Turns the scores of all suspects, until now minus their costs, into scores.
// `slices`: do slices count?
void weigh_lines(const Comparison *c, bool slices, Ranking *r);

#endif
