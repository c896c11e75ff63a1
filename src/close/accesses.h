// Lists, for each statement of a unit, what it writes and reads
// (model/access.h): the `text` of its entity in the map of the close build. So
// the variable of a definition-use pair can be named, though nothing of it is
// recorded.
#ifndef CULPRIT_CLOSE_ACCESSES_H
#define CULPRIT_CLOSE_ACCESSES_H

#include "close/close_unit.h"

// Before the map is written, and before anything is added to the module.
void accesses_list(CloseUnit *u);

#endif
