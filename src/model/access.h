// What a statement writes and reads, to tell the variable of a definition-use
// pair: the pair itself only says which two statements met.
//
// A list is a text, a line for each access: role, kind, the identity of the
// place, and (of what is defined, and of parameters) its name in the source.
//
//   =l main/3  <tab> high        defines the local variable 3 of main
//   ?f item/2                    uses a field of struct item
//
// A list has every access of its statement. So if all definitions of one
// statement that another may read have the same name, it is that of the pair,
// whichever it was. Otherwise nothing is claimed.
#ifndef CULPRIT_MODEL_ACCESS_H
#define CULPRIT_MODEL_ACCESS_H

#include <stdbool.h>

#include "util/str.h"

typedef enum { ACCESS_DEFINES = '=', ACCESS_USES = '?' } AccessRole;

typedef enum {
  ACCESS_LOCAL = 'l',    // a variable that no pointer leads to
  ACCESS_OBJECT = 'o',   // any other variable: by itself, or a cell of an array
  ACCESS_FIELD = 'f',    // of a struct, wherever that is
  ACCESS_MEMORY = '*',   // through a pointer, or of several places: anything
                         // but a local or what follows
  ACCESS_ARGUMENT = 'a', // a parameter, set by the call, used inside
  ACCESS_REACHED = 'A',  // the same, where a pointer may lead to it
  ACCESS_RESULT = 'r',   // set by the return, used by the call
} AccessKind;

// The identity of a function that is not known.
#define ACCESS_ANY "*"

// Adds an access, unless it is there. `name` NULL: not known.
void access_add(Str *list, AccessRole role, AccessKind kind,
                const char *identity, const char *name);

// The name of what the first statement set and the second used, appended to
// `out`: as the source writes it, `f(x)` for the parameter x of f, `f()` for its
// result. False: it cannot be told. NULL is a list of nothing.
bool access_name(const char *definition, const char *use, Str *out);

#endif
