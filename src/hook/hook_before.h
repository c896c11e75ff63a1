// The hook in front of a statement (SITE_BEFORE), where another one may be
// missing:
//
//   a = b;         if (selected == 17) {          // predicted not to be
//                    leave the names' values to the runtime
//                    what = __culprit_try_before(n)
//                    take back the one that it has changed
//                    if (what < 0) return __culprit_try_leave()
//                  }
//                  a = b;
//
// Variables are read and stored by the program itself, so that the compiler may
// keep them in registers; what a pointer leads to is read by the runtime, which
// does not mind if it leads nowhere.
#ifndef CULPRIT_HOOK_HOOK_BEFORE_H
#define CULPRIT_HOOK_HOOK_BEFORE_H

#include "hook/hook_calls.h"
#include "hook/hook_sites.h"

// To be called before anything else is put into the block.
void hook_before_insert(Hooks *h, const HookSites *all, const HookSite *s,
                        uint32_t number);

#endif
