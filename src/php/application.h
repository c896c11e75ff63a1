// The application on disk, and culprit's extension for the PHP that runs it.
#ifndef CULPRIT_PHP_APPLICATION_H
#define CULPRIT_PHP_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

// The path of the extension (path_of_part). NULL with a message if it is
// missing. Caller frees.
char *app_extension(Err *err);

// A hash of `text` and of every PHP file below `root` (name, size, time): it
// changes when a file is edited.
uint64_t app_hash(const char *root, const char *text, size_t len);

// Where the application's code lies: its document root, or the directory above
// if that is the project (it has a composer.json, or the root is called public,
// web, htdocs or the like). Caller frees.
char *app_code_root(const char *root);

// Is the tree small enough to be compared after every request: at most 1,000
// files, 64 MB and 100 levels? Stores of culprit do not count.
bool app_is_small(const char *root);

#endif
