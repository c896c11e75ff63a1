// Copies of directories, for confined runs where a view cannot be had.
#ifndef CULPRIT_CONFINE_COPY_H
#define CULPRIT_CONFINE_COPY_H

#include <stdbool.h>
#include <time.h>

#include "util/err.h"

// Copies `from` to `to`, which must not be there: files, directories, links,
// modes and times. Shares the blocks where the file system can. Leaves out
// .culprit directories, sockets, pipes and devices. Fails if it is too large to
// be copied.
int copy_tree(const char *from, const char *to, Err *err);

// Makes `to` a symbolic link to where `from` leads. Returns 0, or -1 with errno.
int copy_link(const char *from, const char *to);

// A moment that everything done so far lies before, and everything that is done
// from now on lies after, by the clock of the file system. Takes some
// milliseconds.
struct timespec copy_moment(void);
// Was anything in the tree changed, made or removed after that moment?
bool copy_changed(const char *path, struct timespec moment);

#endif
