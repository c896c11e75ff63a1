// The half of contracts that needs LLVM: where the rewritten source has a
// function __culprit_wrap_f, it becomes `f` for everybody, and what was f, the
// code itself, becomes __culprit_body_f, which only the wrapper calls:
//
//   before:  f (code)       __culprit_wrap_f (checks, calls f)
//   after:   __culprit_body_f (code, static)   f (checks, calls the body)
//
// Instructions that check, in wrappers or for an assertion inside a function,
// lose their line: they are not statements, and no process dies there.
#ifndef CULPRIT_PLAN_CONTRACT_WRAP_H
#define CULPRIT_PLAN_CONTRACT_WRAP_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#define CONTRACT_BODY "__culprit_body_"

void contract_wrap(LLVMModuleRef m);

// Does the module call the part of the runtime that checks contracts?
bool contract_is_used(LLVMModuleRef m);

// The wrapper of a body; any other function is its own.
LLVMValueRef contract_face(LLVMValueRef function);

// The name a function has in its source.
const char *contract_source_name(const char *symbol);

#endif
