// Puts the hooks of the sites into a unit.
//
//   c = a < b        c = a < b
//                    if (selected == 17)          // predicted not to be
//                      c = __culprit_try_compare(a, b, c)
//
// `selected` is a variable of the unit that is set before the program begins
// (runtime/try_hooks.c) and never again, so that the compiler may keep it in a
// register. Loops and functions count their turns, for the limit of steps.
//
// Each hook is a call of a small function that is inlined: one for each shape of
// hook and types of operands.
#ifndef CULPRIT_HOOK_HOOK_INSERT_H
#define CULPRIT_HOOK_HOOK_INSERT_H

#include "hook/hook_sites.h"
#include "util/str.h"

void hooks_insert(LLVMModuleRef module, const HookSites *sites,
                  const UnitId *id);

// The unit's chunk of the section TRY_SECTION.
void hook_sites_write(const HookSites *sites, const Plan *plan,
                      const UnitId *id, Str *out);

#endif
