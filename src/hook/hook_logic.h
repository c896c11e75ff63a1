// `a && b` and `a || b` (SITE_LOGIC): the first operand leads to the place X or
// on to the second, which leads to X or elsewhere.
//
//   if (a || b)    br a, X, R        X: the block that is entered
//                  R: br b, X, F
//   v = a && b     br a, R, X        X: where the value is `false` by the phi
//                  R: br X
//
// X is reached if one of the operands leads there; with the other connective, if
// both do. Operands that have a connective themselves have several blocks: only
// their last condition is taken as the operand.
#ifndef CULPRIT_HOOK_HOOK_LOGIC_H
#define CULPRIT_HOOK_HOOK_LOGIC_H

#include "hook/hook_calls.h"
#include "hook/hook_sites.h"

// Adds the site of a branch, if it is the first operand's.
void hook_logic_find(HookSites *out, Plan *plan, LLVMValueRef branch,
                     const char *function);
void hook_logic_insert(Hooks *h, const HookSite *s, uint32_t number);

#endif
