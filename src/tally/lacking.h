// Why a session lacks entities of a kind, and what would provide them: the end
// of messages like "cbi needs conditions, which session 1 does not have: ...".
#ifndef CULPRIT_TALLY_LACKING_H
#define CULPRIT_TALLY_LACKING_H

#include "model/suite.h"

// The kinds of entities the session has: a set of 1u << EntityKind.
unsigned kinds_present(const Suite *suite);

// Must be true: a program built with culprit-cc may have no condition at all,
// and building it again would not help.
const char *lacking_reason(const Suite *suite, EntityKind kind);

#endif
