// A made test: an input as files and shell words, so that anybody can run it
// again.
#ifndef CULPRIT_INPUT_MADE_H
#define CULPRIT_INPUT_MADE_H

#include "model/input.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

// Writes what the input holds besides arguments below `dir` (stdin, files) and
// appends to `line` the shell words after the program: arguments, and standard
// input redirected. `given` is the input the user gave: files that are still as
// they were there are not copied. Nothing at all comes from /dev/null.
int made_write(const Inputs *in, const Inputs *given, const char *dir,
               Str *line, Err *err);

// Files of the input that made_write copied into `dir` get the names of their
// copies: under those the run has read them.
void made_rename(Inputs *in, const Inputs *given, const char *dir);

// The environment variables among its sources, as "NAME=value"; NULL: none.
// Memory: arena.
char **made_environment(const Inputs *in, Arena *arena);

// 64 bits over everything in it.
uint64_t made_hash(const Inputs *in);

#endif
