// How far the loops of a contract may go. A clause that is broken is often left
// early, at the first element that is wrong:
//
//   for (c = t->first; c; c = c->next)
//     if (c->parent != t)
//       return 0;                     // in the run: at the third of nine
//
// or never reached: what stands behind && is not evaluated. With the rounds of
// the run, nothing the code could do would make the clause hold, and no
// statement would be to blame. So code that only the contract calls may go
// round as often as any loop did in the run, or as there are objects, and nest
// as deep as any of it did. The code under the contract keeps the bounds of
// its run.
#ifndef CULPRIT_SPEC_CLAUSE_BOUNDS_H
#define CULPRIT_SPEC_CLAUSE_BOUNDS_H

#include "spec/encode/encode.h"

// After encoder_run.
void clause_bounds_widen(Encoder *e);

#endif
