// From a module to an object file without another compiler process: what clang
// does behind its front end, for the options that are plainly expressed in the
// module itself. culprit-cc decides which those are (cc.c, is_plain_codegen) and
// lets clang finish all others.
#ifndef CULPRIT_INSTRUMENT_GENERATE_H
#define CULPRIT_INSTRUMENT_GENERATE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "util/err.h"

// `level`: 0, 1, 2, 3, s, z or g, as in -O. `fixed`: for a program that lies at a
// fixed place (-no-pie), whatever the module was made for.
int generate_object(LLVMModuleRef module, char level, bool fixed,
                    const char *path, Err *err);

#endif
