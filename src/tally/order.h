// From scores to ranks: the same for every localizer.
//
// Code of tests last; then best first. Scores that are the same (score_same)
// form a tie group, and so do scores linked by a chain of such neighbours:
// whether two suspects tie never depends on the order in which they were given.
// Within a group suspects keep the order they came in.
#ifndef CULPRIT_TALLY_ORDER_H
#define CULPRIT_TALLY_ORDER_H

#include <stdbool.h>

#include "model/ranking.h"

// Sorts the suspects, which come in source order, and sets rank and rank_best.
// With `by_confidence`, equal scores are ordered by confidence and only equal
// pairs tie.
void ranking_order(Ranking *r, bool by_confidence);

// The same by several numbers: the first decides, each further one only among
// those that tie in all before it. What ties in all of them ties.
typedef double SuspectKey(const Suspect *s);
void ranking_order_by(Ranking *r, SuspectKey *const *keys, size_t nkeys);

// The keys there are.
SuspectKey suspect_score, suspect_slice, suspect_hint, suspect_own,
    suspect_confidence, suspect_prior, suspect_near;

#endif
