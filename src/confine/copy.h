// Copies of directories, for confined runs on systems without views.
#ifndef CULPRIT_CONFINE_COPY_H
#define CULPRIT_CONFINE_COPY_H

#include <stdbool.h>
#include <time.h>

#include "util/err.h"

// Copies `from` to `to`, which must not exist: files, directories, links, modes
// and times. Shares blocks where the file system can. Skips .culprit
// directories, sockets, pipes and devices. Fails if the tree is too large.
int copy_tree(const char *from, const char *to, Err *err);

// Makes `to` a symbolic link to where `from` leads. Returns 0, or -1 with errno.
int copy_link(const char *from, const char *to);

// A moment that separates all changes so far from all later ones, by the clock
// of the file system. Takes some milliseconds.
struct timespec copy_moment(void);
// Was anything in the tree changed, made or removed after that moment?
bool copy_changed(const char *path, struct timespec moment);

#endif
