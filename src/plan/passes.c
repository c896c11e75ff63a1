// Running LLVM's passes over a module: see passes.h.
#include "plan/passes.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stddef.h>

int passes_run(LLVMModuleRef m, const char *passes, Err *err) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef e = LLVMRunPasses(m, passes, NULL, options);
  LLVMDisposePassBuilderOptions(options);
  if (!e)
    return 0;
  char *message = LLVMGetErrorMessage(e);
  err_set(err, "pass %s: %s", passes, message);
  LLVMDisposeErrorMessage(message);
  return -1;
}
