// The code of the shared libraries that a program loads: those that culprit-cc
// built carry it, as programs do. For a build that records, their units are
// linked into the program itself; what is defined there already is not taken
// from the library.
#ifndef CULPRIT_PROGRAM_SHARED_CODE_H
#define CULPRIT_PROGRAM_SHARED_CODE_H

#include "program/program_code.h"
#include "util/err.h"

// Adds the units of all libraries that the dynamic linker would load for the
// program now (so LD_LIBRARY_PATH counts) and that carry their code. Fails if
// such code is damaged.
int shared_code_add(ProgramCode *p, Err *err);

#endif
