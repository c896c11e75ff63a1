// The application's files as its workers see them: the file system of their
// confined view (confine/confine.h), or ours if they are not confined.
//
// Paths are those of the workers. A link that the application made is resolved
// within the view and never leads out of it.
#ifndef CULPRIT_PHP_APP_FILES_H
#define CULPRIT_PHP_APP_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "confine/confine.h"
#include "util/err.h"

typedef struct AppFiles AppFiles;

// Of `c`; NULL: ours.
int app_files_open(AppFiles **f, const Confine *c, Err *err);
void app_files_close(AppFiles *f); // NULL is fine

// open(), without creating anything; -1 with errno. `f` may be NULL: ours.
int app_file_open(const AppFiles *f, const char *path, int flags);
// Follows all links. `real`: the path without links, in the view. -1: it does
// not exist.
int app_file_look(const AppFiles *f, const char *path, char real[PATH_MAX],
                  struct stat *st);

// Is the directory of `path` there, and no part of its name a link? One that
// the application turned into a link no longer holds what it did.
bool app_parent_is_sound(const AppFiles *f, const char *path);
// Makes it so. -1 with errno.
int app_parent_mend(const AppFiles *f, const char *path);

#endif
