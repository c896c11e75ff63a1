// The application as it lies on disk, and our extension for the PHP that runs
// it.
#ifndef CULPRIT_PHP_APPLICATION_H
#define CULPRIT_PHP_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

// The extension that belongs to this culprit: beside it in a build directory,
// else in lib/culprit. NULL with a message if it is not there. Caller frees.
char *app_extension(Err *err);

// A hash of `text` and of every PHP file below `root` (name, size, time): the
// same only if nothing was edited in between.
uint64_t app_hash(const char *root, const char *text, size_t len);

// Is it small enough to be looked at after every request: 1,000 files, 64 MB
// and 100 levels at most? Stores of ours do not count.
bool app_is_small(const char *root);

#endif
