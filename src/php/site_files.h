// The application's files as its workers see them: the file system of their
// confined view (confine/confine.h), or ours if they are not confined.
//
// Names are the workers' own. A link that the application made leads to what
// it means in the view, never out of it.
#ifndef CULPRIT_PHP_SITE_FILES_H
#define CULPRIT_PHP_SITE_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "confine/confine.h"
#include "util/err.h"

typedef struct SiteFiles SiteFiles;

// Of `c`; NULL: ours.
int site_files_open(SiteFiles **f, const Confine *c, Err *err);
void site_files_close(SiteFiles *f); // NULL is fine

// open(); -1 with errno. Nothing is made. `f` may be NULL: ours.
int site_file_open(const SiteFiles *f, const char *path, int flags);
// Follows all links. `real`: the path without them, as the workers have it.
// -1: there is nothing.
int site_file_look(const SiteFiles *f, const char *path, char real[PATH_MAX],
                   struct stat *st);

// Is the directory of `path` there, and no part of its name a link? One that
// the application turned into a link no longer holds what it did.
bool site_parent_is_sound(const SiteFiles *f, const char *path);
// Makes it so. -1 with errno.
int site_parent_mend(const SiteFiles *f, const char *path);

#endif
