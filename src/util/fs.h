// Files, directories and path names.
#ifndef CULPRIT_UTIL_FS_H
#define CULPRIT_UTIL_FS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/err.h"
#include "util/str.h"

// Appends the whole file to `out`; at most `max` bytes (0: no limit), the rest
// is left unread. The message names the file and the reason.
int fs_read(const char *path, size_t max, Str *out, Err *err);
// Opens a file that a tested program may have made or replaced. Fails unless it
// is a regular file, and never waits for a FIFO. A relative `path` starts in
// `dir` (AT_FDCWD: the current directory); a symbolic link in its last part is
// followed only if `follow`. Returns the descriptor or -1.
int fs_open_regular(int dir, const char *path, bool follow, Err *err);
// Appends what the descriptor gives, as fs_read does; `path` for the message.
int fs_read_fd(int fd, const char *path, size_t max, Str *out, Err *err);
// Reads such a file, not through a symbolic link. Fails if it is larger than
// `max` (0: any size).
int fs_read_regular(const char *path, size_t max, Str *out, Err *err);
// What the first group of an extended regular expression matches in the first
// 4 MB of a regular file ("^CC = (.*)"; without a group, all it matches). NULL:
// nothing. Caller frees.
char *fs_match(const char *path, const char *pattern);
int fs_write(const char *path, const void *data, size_t n, Err *err);
int fs_mkdirs(const char *path, Err *err);
// Removes the file or the whole tree, if it exists.
void fs_remove_tree(const char *path);
// The same for a tree with directories that culprit may not write to.
void fs_remove_stubborn_tree(const char *path);
bool fs_exists(const char *path);
bool fs_executable(const char *path);

// Lexical: "a/./b/../c" -> "a/c"; relative ones are put under `dir` first
// (NULL: the current directory). Caller frees.
char *path_absolute(const char *path, const char *dir);
// `path` relative to `dir` if it lies below it, else itself. Points into path.
const char *path_below(const char *path, const char *dir);
// Is it `dir` itself, or below it?
bool path_lies_in(const char *path, const char *dir);
const char *path_base(const char *path);
// The directory this program itself lies in. Caller frees.
char *path_of_self(void);
// A file that belongs to this program: beside it in a build directory, in
// ../lib/culprit where it is installed. It may be missing. Caller frees.
char *path_of_part(const char *name);

#endif
