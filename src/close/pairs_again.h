// Which loads would only record again what has been recorded just before.
//
// `a->n + a->n` uses one definition twice, and macros mention a variable many
// times in a line. A load adds nothing if on every way to it the same statement
// has loaded the same place, and nothing may have been stored there since. A call
// ends that: a segment may begin in it, whose log is empty.
#ifndef CULPRIT_CLOSE_PAIRS_AGAIN_H
#define CULPRIT_CLOSE_PAIRS_AGAIN_H

#include "close/pairs_emit.h"

typedef ARRAY(LLVMValueRef) InstList;

// Does the call touch no memory at all?
bool pairs_is_harmless(LLVMValueRef call);

// Adds to p->again the loads of the function; `insts`: all its instructions.
void pairs_find_again(Pairs *p, const InstList *insts);

#endif
