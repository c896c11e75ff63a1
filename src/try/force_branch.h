// Checks what `culprit near` names: forces the branches at which the failing run
// leaves the nearest passing one to take the other edge, in the build for
// experiments, and looks how the run ends.
//
//   if (x > 0)      near: was false, would have to be true
//                   forced to be true here: the run passes
//
// A branch is forced in the one execution that near names, and, if it has
// several, in all of them. The runs are confined and limited as those of
// `culprit try` are, and judged by the oracle of the search.
#ifndef CULPRIT_TRY_FORCE_BRANCH_H
#define CULPRIT_TRY_FORCE_BRANCH_H

#include "near/near.h"

// Sets n->forced, or n->force_problem. The search is over, its session still
// open.
void force_branches(Near *n);

#endif
