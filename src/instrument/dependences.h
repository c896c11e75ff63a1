// The dependences between the statements of one unit: which statement decides
// whether another is executed (control), and which one made the values that it
// uses (data).
//
// One line per dependence: from, to, kind (control or data), separated by tabs.
// A node is a statement, PATH:LINE, or stands for a function: @NAME its entry,
// with its arguments, ^NAME what it returns. Functions that other units cannot
// see are called UNIT#NAME. Lines of all units together are the program's; a
// function that no unit defines has no edge from its @NAME and none to its
// ^NAME: ignore it.
//
//   a.c:3  a.c:4  control     if (x)
//   a.c:2  a.c:4  data          y = z;
//
// Control dependence is exact for the CFG (Ferrante, Ottenstein, Warren 1987).
// Data dependence: definitions that reach a use for plain locals; for memory,
// every store and every load of the same class of a unification-based points-to
// analysis (points_to.h); a function outside the unit reads and writes what its
// pointer arguments point to.
#ifndef CULPRIT_INSTRUMENT_DEPENDENCES_H
#define CULPRIT_INSTRUMENT_DEPENDENCES_H

#include <llvm-c/Core.h>

#include "plan/plan.h"
#include "util/str.h"

// `p` needs no plan yet, only to be empty.
void dependences_write(Plan *p, LLVMModuleRef module, Str *out);

#endif
