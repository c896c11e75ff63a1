// The files below a directory.
#ifndef CULPRIT_VERDICT_FILES_H
#define CULPRIT_VERDICT_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/array.h"

typedef ARRAY(const char *) Paths;

bool is_directory(const char *path);
// All files below `dir` that end in one of `endings` (ends with NULL), in the
// order of their names, numbers by value. Hidden ones are left out.
void files_below(const char *dir, const char *const *endings, Arena *arena,
                 Paths *out);

#endif
