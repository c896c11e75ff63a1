// From scores to ranks: the same for every localizer.
//
// Best first. Scores that are the same (score_same) form a tie group, and so
// do scores linked by a chain of such neighbours: whether two suspects tie
// never depends on the order in which they were given. Within a group suspects
// keep the order they came in.
#ifndef CULPRIT_LOCATE_ORDER_H
#define CULPRIT_LOCATE_ORDER_H

#include <stdbool.h>

#include "model/ranking.h"

// Sorts the suspects, which come in source order, and sets rank and rank_best.
// With `by_confidence`, equal scores are ordered by confidence and only equal
// pairs tie.
void ranking_order(Ranking *r, bool by_confidence);

#endif
