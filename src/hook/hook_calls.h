// The small functions that hooks are made of, shared by hook_insert.c and
// hook_calls.c. Each is made once in a unit for a shape and the types of its
// operands, and is inlined:
//
//   T hook(i32 site, T value, ...) {
//     if (selected != site) return value;     // nearly always
//     return RARE(value, ...);
//   }
#ifndef CULPRIT_HOOK_HOOK_CALLS_H
#define CULPRIT_HOOK_HOOK_CALLS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "hook/scope.h"
#include "program/map.h"
#include "runtime/try_format.h"
#include "util/hashmap.h"
#include "util/str.h"

enum { HOOK_PARAMS = 8 + TRY_NAMES_MOST };

typedef struct {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef i32, i64, real, ptr, nothing;
  LLVMValueRef selected;  // variable of the unit
  LLVMValueRef values;    // of the runtime: what the names are worth,
  LLVMValueRef addresses; // and where those are that it reads itself
  LLVMValueRef steps;     // of the runtime: how many are left
  LLVMValueRef step;      // the small function that counts one; NULL: not yet
  unsigned invariant;     // kinds of metadata
  unsigned prof;
  LLVMValueRef empty, rarely;
  Hashmap functions; // (shape, variant, types) -> function
  unsigned wrappers; // of calls, so far
  Hashmap wrapped;   // (callee, types) -> wrapper
} Hooks;

typedef struct {
  LLVMValueRef function;
  unsigned variant;
  LLVMValueRef changed; // set by the shape: the value in the selected case
} HookFunction;

// Builds the rare part of a function; parameter 0 is the site, 1 the value.
typedef void (*HookShape)(Hooks *h, HookFunction *f);

void hooks_open(Hooks *h, LLVMModuleRef module, const UnitId *id);
void hooks_close(Hooks *h);

// A function of the runtime.
LLVMValueRef hooks_declare(Hooks *h, const char *name, LLVMTypeRef result,
                           LLVMTypeRef *types, unsigned n);
// Calls the hook of that shape where the builder stands.
LLVMValueRef hooks_call(Hooks *h, HookShape shape, LLVMValueRef *args,
                        unsigned n, unsigned variant);
// Leads to `rare` if the site is selected.
void hooks_branch(Hooks *h, LLVMValueRef site, LLVMBasicBlockRef rare,
                  LLVMBasicBlockRef usual);
// A value as the runtime takes it, 64 bits of an integer or a double, and back.
LLVMValueRef hooks_widen(Hooks *h, LLVMValueRef v, bool is_unsigned);
LLVMValueRef hooks_narrow(Hooks *h, LLVMValueRef v, LLVMTypeRef type);
// Counts a step.
void hooks_step(Hooks *h);
// The call is made by a function that may leave it out.
void hooks_wrap_call(Hooks *h, LLVMValueRef call, uint32_t site);

#endif
