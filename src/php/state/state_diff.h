// Lists of files as differences from a first one: a tree of which a request
// changes little is kept as that little.
#ifndef CULPRIT_PHP_STATE_STATE_DIFF_H
#define CULPRIT_PHP_STATE_STATE_DIFF_H

#include "php/state/state_files.h"

// Both lists are sorted by path. What `now` has that `base` has not, or has
// otherwise (times do not count), is added to `out`; and, as entries of mode 0,
// what only `base` has.
void file_entries_diff(const FileEntries *base, const FileEntries *now,
                       FileEntries *out);
// The other way round: adds what `base` becomes by `diff`.
void file_entries_patch(const FileEntries *base, const FileEntries *diff,
                        FileEntries *out);

int file_entry_order(const void *a, const void *b); // by path, for qsort
void file_entries_sort(FileEntries *entries);

#endif
