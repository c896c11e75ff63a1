// Which entity is scored by which: the outcomes of `if (a && b)` speak for the
// statement on that line, a statement for its function.
//
// A tuple (condition outcome, return class) belongs to the statement of its
// source and line; so does a relation. A pair belongs to the statement that
// defines, a slice to its statement. Where that line has no statement (a condition that a macro
// brings from elsewhere, an operand on a line of its own), it belongs to the
// nearest statement of the same file that stands in the tuple's block, else to
// the nearest one of its function; of two equally near ones to the one above.
#ifndef CULPRIT_TALLY_OWNER_H
#define CULPRIT_TALLY_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/suite.h"

// The kinds that are tuples of a statement, as a set of 1u << EntityKind.
#define TUPLE_KINDS (1u << ENTITY_CONDITION | 1u << ENTITY_RETURN)

// Can an entity of this kind score one of kind `by`?
bool owner_kind(EntityKind kind, EntityKind by);

// Per entity of the suite: the entity of kind `by` that it belongs to, or
// ENTITY_NONE (also for kinds that are not in the set). Caller frees.
uint32_t *owners_find(const Suite *suite, EntityKind by, unsigned kinds);

#endif
