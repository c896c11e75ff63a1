// Adds the recording of definition-use pairs to a module of a close build: which
// statement last wrote what a statement reads (docs/internals/pairs.md).
//
// The module is clang's output before promotion to SSA: each variable is an
// alloca, each assignment a store. A definition or use is known by the low half
// of its statement's site address (close_unit.h); 0 is none.
//
//   local that is only loaded and stored    a second local beside it
//   other memory                            shadow memory (runtime/pair_recorder.c)
//   arguments, results                      thread-local variables
//   calls of the C library                  a table (model/library_effects.h)
//
// The module is optimized afterwards: the second local becomes a register, most
// often a constant.
#ifndef CULPRIT_CLOSE_PAIRS_H
#define CULPRIT_CLOSE_PAIRS_H

#include "close/relations.h"

// After the counters were added. Of the relations it records which stores leave
// the value that was there (pairs_change.h).
void pairs_insert(CloseUnit *u, const RelationSites *sites);

#endif
