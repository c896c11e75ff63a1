// Whether a store leaves the integer that was there: a relation (relations.h)
// that is recorded with the pairs, because only they know whether anything was
// there. A global always has a value; other memory has one once a statement has
// defined it. Pointers are left out: whether realloc moves a block says nothing
// of the program.
#ifndef CULPRIT_CLOSE_PAIRS_CHANGE_H
#define CULPRIT_CLOSE_PAIRS_CHANGE_H

#include "close/pairs_emit.h"

// Is there something to tell? Not of what the compiler put aside, nor where a
// variable is declared, nor if the value is always another one, as by i++.
bool pairs_may_change(const CloseUnit *u, LLVMValueRef store);

// Stores the outcome, if anything was there. In front of the store, and before
// its definition is noted.
void pairs_insert_change(Pairs *p, LLVMValueRef store);

#endif
