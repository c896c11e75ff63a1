// Lists of files with their contents' hashes, sorted by path. A tree of which a
// request changes little is kept as its difference from the first list.
#ifndef CULPRIT_PHP_STATE_FILE_ENTRIES_H
#define CULPRIT_PHP_STATE_FILE_ENTRIES_H

#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#include "util/array.h"
#include "util/str.h"

typedef struct {
  const char *path;
  mode_t mode;        // file, directory or link, and its permissions
  XXH128_hash_t hash; // of a file's content
  struct timespec mtime;
  const char *target; // of a link
} FileEntry;
typedef ARRAY(FileEntry) FileEntries;

int file_entry_order(const void *a, const void *b); // by path, for qsort
void file_entries_sort(FileEntries *entries);

// Adds to `out` the entries of `now` that `base` lacks or has with other
// content (times do not count); and, as entries of mode 0, those that only
// `base` has.
void file_entries_diff(const FileEntries *base, const FileEntries *now,
                       FileEntries *out);
// Adds what `base` becomes by `diff`.
void file_entries_patch(const FileEntries *base, const FileEntries *diff,
                        FileEntries *out);
// Equal for equal lists; times do not count.
void file_entries_key(const FileEntries *entries, Str *key);

#endif
