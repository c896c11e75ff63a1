// Declarations of alloca that gcc accepts and clang refuses. Old programs
// declare
//
//   char *alloca ();
//
// though <stdlib.h> has made alloca a macro for __builtin_alloca. gcc warns of
// that; clang calls it conflicting types. Here such a declaration is given
// another name of the same length, in a text that clang reads in place of the
// file: then calls are those of the built-in function, and every line and
// column stays what it was.
#ifndef CULPRIT_CONTRACT_OLD_ALLOCA_H
#define CULPRIT_CONTRACT_OLD_ALLOCA_H

#include <stdbool.h>

#include "util/err.h"
#include "util/str.h"

// May the text have such a declaration? Seldom wrong, and cheap.
bool old_alloca_suspected(const char *text);

// From what clang said: writes the changed texts and the overlay (-ivfsoverlay)
// that puts them in place; all file names begin with `prefix`. *overlay: its
// name, the caller's to free; NULL: clang complained of no such declaration.
int old_alloca_write(const char *messages, const char *prefix, char **overlay,
                     Err *err);

#endif
