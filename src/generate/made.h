// A made test: an input as files and shell words, so that anybody can run it
// again; and an input changed as a solver's model says.
#ifndef CULPRIT_GENERATE_MADE_H
#define CULPRIT_GENERATE_MADE_H

#include "model/input.h"
#include "sym/replay.h"
#include "sym/solver.h"
#include "util/err.h"
#include "util/str.h"

// Writes what the input holds besides arguments below `dir` (stdin, files) and
// appends to `line` the shell words after the program: arguments, and standard
// input redirected. `given` is the input the user gave: files that are still as
// they were there are not copied.
int made_write(const Inputs *in, const Inputs *given, const char *dir,
               Str *line, Err *err);

// Changes `in`, the input of the run that `path` is of.
void made_apply(Inputs *in, const Path *path, const Model *model);

// 64 bits over everything in it.
uint64_t made_hash(const Inputs *in);

#endif
