// Which loads of a function's variables are recorded together.
//
//   n = a + b;          uses a, b
//   m = a * n;          uses a, n
//
// The second line runs whenever the first has, unless a call does not return or an
// access ends the process. Up to the next such place, what is known of a, b and n
// decides how little has to be recorded:
//
//   only one definition is possible     it is a pair whenever the code runs: all
//                                       such pairs share one counter
//   a row of counters (pairs.h)         the uses of one value share a row
//   an argument, or a variable that     the uses of one value share a check: what
//   holds one                           is logged is a site that stands for all
//                                       of their statements
#ifndef CULPRIT_CLOSE_PAIRS_GROUP_H
#define CULPRIT_CLOSE_PAIRS_GROUP_H

#include "close/pairs_again.h"
#include "close/pairs_emit.h"

// Fills p->firsts, after p->again; what the loads use is in the plan then.
void pairs_find_groups(Pairs *p, const InstList *insts);

#endif
