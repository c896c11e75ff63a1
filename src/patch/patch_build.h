// Builds a program whose source has a change, without touching the user's
// files: the units that the changed file is part of are compiled from the
// changed text with the options they were compiled with, all other units are
// linked as they are.
//
// The file itself stays in its place for the compiler (compile/changed_file.h):
// what it includes, __FILE__, and the lines of debug information are as before.
// Contracts in the text are checked.
//
// Limits: the sources, the headers and, for a program that was not compiled and
// linked in one command, its object files must still be there. A program
// without debug information of the file, or made from bitcode (a mutant), has no
// such build.
#ifndef CULPRIT_PATCH_PATCH_BUILD_H
#define CULPRIT_PATCH_PATCH_BUILD_H

#include "util/err.h"
#include "util/str.h"

// `file`: absolute, a source or a header; `text`: what stands in it; `scratch`:
// a directory, used for nothing else. Sets `out_program`, which the caller
// frees; it lies in `scratch`. A message about code that clang rejects begins
// with "does not compile".
int patch_build(const char *program, const char *file, const Str *text,
                const char *scratch, char **out_program, Err *err);

#endif
