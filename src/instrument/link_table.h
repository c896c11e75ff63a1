// A table of the unit's link-time constants in the program itself, for
// `culprit spec`: it reasons about code from a snapshot of the process, and
// must know where the variables and functions lie that the code names.
#ifndef CULPRIT_INSTRUMENT_LINK_TABLE_H
#define CULPRIT_INSTRUMENT_LINK_TABLE_H

#include <llvm-c/Core.h>

#include "model/entity.h"

// Adds the table (runtime/links_format.h): the constants of
// trace_code_collect, in their order. Before anything else is added to the
// module.
void links_add(LLVMModuleRef m, UnitId id);

#endif
