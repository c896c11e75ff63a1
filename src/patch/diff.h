// The difference of two texts as a unified diff, as patch(1) takes it: one hunk
// from the first line that differs to the last, with three lines around it.
#ifndef CULPRIT_PATCH_DIFF_H
#define CULPRIT_PATCH_DIFF_H

#include <stddef.h>

#include "util/str.h"

// Appends it; nothing if the texts are equal. `path` is that of both, relative
// to the project: it becomes a/PATH and b/PATH.
void diff_write(const char *path, const char *old, size_t old_len,
                const char *new, size_t new_len, Str *out);

#endif
