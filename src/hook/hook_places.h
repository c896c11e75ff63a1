// Places in front of statements (SITE_BEFORE): where a guard, an assignment or
// a return may be missing. A statement begins behind `;`, `{`, `}` or a label, so
// that text can be put there: the body of an `if` without braces has none.
#ifndef CULPRIT_HOOK_HOOK_PLACES_H
#define CULPRIT_HOOK_HOOK_PLACES_H

#include "hook/hook_sites.h"

// Adds those of a function. The names of each: variables, what they point to,
// the first element of an array, and fields of structures.
void hook_places_find(HookSites *out, Plan *plan, const Scope *scope,
                      LLVMValueRef function, const char *name);

#endif
