// Mutants: small changes to a unit's code at known source lines, for measuring
// localizers on programs without known faults.
//
//   if (n > max)      negate     if (!(n > max))
//     n = max;        constant   n = max + 1 (of a constant), delete-store, ...
//
// A mutant changes instructions, never the shape of the CFG, and is applied
// after the plan was made: the mutated program has the same entities.
#ifndef CULPRIT_INSTRUMENT_MUTATE_H
#define CULPRIT_INSTRUMENT_MUTATE_H

#include <llvm-c/Core.h>

#include "plan/place.h"
#include "util/array.h"
#include "util/str.h"

typedef struct MutantKind MutantKind;

typedef struct {
  LLVMValueRef inst;
  const MutantKind *kind;
  unsigned operand; // which one, where that matters
  Place place;
} Mutant;

typedef ARRAY(Mutant) Mutants;

// All candidates of the module, in the order of its code: the number of a
// mutant is its place in this list, and depends on the bitcode alone.
void mutants_find(Plan *p, LLVMModuleRef module, Mutants *out);

// One line per mutant: number, file, line, column, kind, what is changed, in
// columns separated by tabs.
void mutants_list(const Plan *p, const Mutants *mutants, Str *out);

void mutant_apply(const Mutant *m);

#endif
