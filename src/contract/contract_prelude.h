// What surrounds the code generated from contracts: the declarations it uses,
// and pragmas that switch off the warnings that the options enable for the
// user's own code.
#ifndef CULPRIT_CONTRACT_CONTRACT_PRELUDE_H
#define CULPRIT_CONTRACT_CONTRACT_PRELUDE_H

#include "util/str.h"

// Attributes of a generated function.
#define CONTRACT_OWN "__attribute__((unused, no_profile_instrument_function)) "

// The text at the head of a rewritten source.
extern const char contract_prelude[];

// No warnings from the first to the second.
void contract_hush(Str *out);
void contract_unhush(Str *out);

#endif
