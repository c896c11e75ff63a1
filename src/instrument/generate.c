// From a module to an object file: see generate.h.
#include "instrument/generate.h"

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdbool.h>
#include <string.h>

#include "compile/bitcode_format.h"

// The passes and the effort that clang takes for an -O option.
static const struct {
  char level;
  const char *passes;
  LLVMCodeGenOptLevel effort;
  bool slp;
} levels[] = {
    {'0', "default<O0>", LLVMCodeGenLevelNone, false},
    {'1', "default<O1>", LLVMCodeGenLevelLess, false},
    {'g', "default<O1>", LLVMCodeGenLevelLess, false},
    {'2', "default<O2>", LLVMCodeGenLevelDefault, true},
    {'3', "default<O3>", LLVMCodeGenLevelAggressive, true},
    {'s', "default<Os>", LLVMCodeGenLevelDefault, true},
    {'z', "default<Oz>", LLVMCodeGenLevelDefault, false},
};
enum { NLEVELS = sizeof levels / sizeof *levels };

static int level_of(char level) {
  for (int i = 0; i < NLEVELS; i++)
    if (levels[i].level == level)
      return i;
  return -1;
}

static int take(char *message, const char *what, Err *err) {
  err_set(err, "%s: %s", what, message ? message : "?");
  LLVMDisposeMessage(message);
  return -1;
}

static LLVMTargetMachineRef make_machine(LLVMModuleRef m, int level, bool fixed,
                                         Err *err) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
  LLVMTargetRef target;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(LLVMGetTarget(m), &target, &message)) {
    take(message, LLVMGetTarget(m), err);
    return NULL;
  }
  static const char pic[] = "PIC Level";
  bool is_pic = !fixed && LLVMGetModuleFlag(m, pic, sizeof pic - 1) != NULL;
  // Processor and features are attributes of the functions.
  return LLVMCreateTargetMachine(
      target, LLVMGetTarget(m), "", "", levels[level].effort,
      is_pic ? LLVMRelocPIC : LLVMRelocStatic, LLVMCodeModelDefault);
}

// Two blocks that go on to a third often end in counters. Joined into one store
// in that third block, they need their address in a register: of a large switch
// all addresses are computed in front of it, every time.
static void keep_stores_apart(void) {
  const char *options[] = {"culprit-instrument", BITCODE_LLVM_OPTION};
  LLVMParseCommandLineOptions(2, options, NULL);
}

static int optimize(LLVMModuleRef m, LLVMTargetMachineRef machine, int level,
                    Err *err) {
  keep_stores_apart();
  LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(o, levels[level].slp);
  LLVMPassBuilderOptionsSetSLPVectorization(o, levels[level].slp);
  LLVMErrorRef e = LLVMRunPasses(m, levels[level].passes, machine, o);
  LLVMDisposePassBuilderOptions(o);
  if (!e)
    return 0;
  char *message = LLVMGetErrorMessage(e);
  err_set(err, "%s: %s", levels[level].passes, message);
  LLVMDisposeErrorMessage(message);
  return -1;
}

int generate_object(LLVMModuleRef m, char level, bool fixed, const char *path,
                    Err *err) {
  int n = level_of(level);
  if (n < 0)
    return err_set(err, "no optimization level -O%c", level);
  LLVMTargetMachineRef machine = make_machine(m, n, fixed, err);
  if (!machine || optimize(m, machine, n, err))
    return -1;
  char *message = NULL;
  if (LLVMTargetMachineEmitToFile(machine, m, path, LLVMObjectFile, &message))
    return take(message, path, err);
  return 0;
}
