// A program that libtool linked with libraries that are not installed yet is a
// shell script, "temporary wrapper script for .libs/NAME", that says where they
// are and starts the program itself.
//
//   Libtool l;
//   if (libtool_read(&l, "tests/parse", &arena))
//     ... run l.program with l.libraries in front of LD_LIBRARY_PATH
#ifndef CULPRIT_ADAPTER_LIBTOOL_H
#define CULPRIT_ADAPTER_LIBTOOL_H

#include <stdbool.h>

#include "util/arena.h"

typedef struct {
  const char *program;
  const char *libraries; // "DIRECTORY:DIRECTORY"; "": none are needed
} Libtool;

// False if it is not such a script, or its program does not exist.
bool libtool_read(Libtool *l, const char *path, Arena *arena);

#endif
