// A virtual file system for clang (-ivfsoverlay) that puts changed texts in the
// place of files.
//
//   Overlay o = {.prefix = "/tmp/x"};
//   overlay_add(&o, "list.c", &text, err);
//   char *path = overlay_write(&o, err);
#ifndef CULPRIT_CONTRACT_OVERLAY_H
#define CULPRIT_CONTRACT_OVERLAY_H

#include <stddef.h>

#include "util/err.h"
#include "util/str.h"

typedef struct {
  const char *prefix; // of all files written
  size_t files;
  Str list;
} Overlay;

// Writes `text`, which clang is to read in the place of the file `path`.
int overlay_add(Overlay *o, const char *path, const Str *text, Err *err);
// Writes the overlay itself and releases `o`. Returns its name, which the
// caller frees, or NULL.
char *overlay_write(Overlay *o, Err *err);

// Appends the text as a string of C and of JSON.
void overlay_quote(Str *out, const char *text);

#endif
