// The sites of a unit: what an experiment can change in it
// (runtime/try_format.h). A site is one operation of the source as its bitcode
// has it before promotion to SSA, where each assignment is a store.
#ifndef CULPRIT_HOOK_HOOK_SITES_H
#define CULPRIT_HOOK_HOOK_SITES_H

#include <llvm-c/Core.h>

#include "hook/scope.h"
#include "plan/plan.h"
#include "runtime/try_format.h"
#include "util/array.h"

// Something a hook can read: a variable, or what was read just before.
typedef struct {
  LLVMValueRef address; // to be loaded from; NULL: `value`
  LLVMValueRef value;
  LLVMTypeRef structure; // `address` is of such a one; NULL: it is not,
  uint32_t field;        // and this part of it is meant
  bool through;          // SITE_BEFORE: `address` has a pointer to it
  uint64_t offset;       // SITE_BEFORE: so many bytes behind it
  bool fixed;            // SITE_BEFORE: it is const
  LLVMTypeRef type;
  ValueKind kind;
  const char *name;
} HookName;

typedef struct {
  SiteKind kind;
  uint8_t op, width, flags;
  LLVMValueRef inst;
  LLVMValueRef second; // SITE_LOGIC: what the second operand decides, a branch
                       // or a phi
  uint32_t operand, owner; // SITE_LOGIC: the successor of `inst` that leads to
  int64_t value;           // X; which value of the phi; does true lead to X?
  uint32_t source, line, column; // source: of the plan
  const char *function, *text;
  uint32_t first_name, nnames; // in HookSites.names
} HookSite;

typedef struct {
  ARRAY(HookSite) sites; // number i + 1 of the unit
  ARRAY(HookName) names;
  Hashmap starts; // of hook_places.c: source -> for each token the one that
                  // its statement begins with
  Arena arena;
} HookSites;

// In the order of the code; nothing is changed in the module.
void hook_sites_find(HookSites *s, LLVMModuleRef module, Plan *plan);
void hook_sites_release(HookSites *s);

#endif
