// A made test: an input as files and shell words that reproduce it.
#ifndef CULPRIT_INPUT_MADE_H
#define CULPRIT_INPUT_MADE_H

#include "model/input.h"
#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

// Writes stdin and files of the input below `dir` and appends to `line` the
// shell words after the program: arguments, and standard input redirected.
// `given` is the user's input: files that have not changed since are not
// copied. Empty standard input comes from /dev/null.
int made_write(const Inputs *in, const Inputs *given, const char *dir,
               Str *line, Err *err);

// Gives the files that made_write copied into `dir` the names of their copies:
// the run read them under those names.
void made_rename(Inputs *in, const Inputs *given, const char *dir);

// The environment variables among its sources, as "NAME=value"; NULL: none.
// Memory: arena.
char **made_environment(const Inputs *in, Arena *arena);

// Bytes of all sources.
size_t made_size(const Inputs *in);
// A 64-bit hash of the whole input.
uint64_t made_hash(const Inputs *in);

#endif
