// The sections of an ELF file, which is untrusted.
//
//   Bytes file;
//   sections_open("prog", &file, err);
//   size_t index = 0;
//   for (Bytes s; (s = section_find(file, "culprit_map", &index)).data;) ...
//   sections_close(file);
#ifndef CULPRIT_PROGRAM_SECTIONS_H
#define CULPRIT_PROGRAM_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/err.h"

typedef struct {
  const unsigned char *data;
  size_t size;
} Bytes;

// Maps the file. An empty or special file gives {NULL, 0} and success.
int sections_open(const char *path, Bytes *out, Err *err);
void sections_close(Bytes file);

// Is it a program that the dynamic loader starts?
bool program_is_dynamic(const char *path);

// The next section of that name at or after *index; {NULL, 0} at the end, and
// if it is not a 64-bit ELF file. A linked program has one of a name, an
// object file may have several (COMDAT groups).
Bytes section_find(Bytes file, const char *name, size_t *index);

// Has the file a section of this name?
bool section_exists(const char *path, const char *name);

#endif
