// Bounds of the loops in a contract. Evaluating a broken clause often stops
// early, at the first wrong element:
//
//   for (c = t->first; c; c = c->next)
//     if (c->parent != t)
//       return 0;                     // in the run: at the third of nine
//
// or never starts: what follows && is not evaluated. With the iterations of the
// run, no change of the code could make the clause hold, and no statement would
// be to blame. So code that only the contract calls may iterate as often as any
// loop did in the run, or as there are objects, and nest as deep as any code
// did. The code under the contract keeps the bounds of its run.
#ifndef CULPRIT_SPEC_CLAUSE_BOUNDS_H
#define CULPRIT_SPEC_CLAUSE_BOUNDS_H

#include "spec/encode/encode.h"

// After encoder_run.
void clause_bounds_widen(Encoder *e);

#endif
