// Running LLVM's passes over a module.
#ifndef CULPRIT_PLAN_PASSES_H
#define CULPRIT_PLAN_PASSES_H

#include <llvm-c/Core.h>

#include "util/err.h"

// `passes` as opt's -passes takes them.
int passes_run(LLVMModuleRef m, const char *passes, Err *err);

#endif
