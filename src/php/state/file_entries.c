// Lists of files: see file_entries.h.
#include "php/state/file_entries.h"

#include <stdlib.h>
#include <string.h>

static bool same_entry(const FileEntry *a, const FileEntry *b) {
  return a->mode == b->mode && XXH128_isEqual(a->hash, b->hash) &&
         !a->target == !b->target &&
         (!a->target || !strcmp(a->target, b->target));
}

// Of two lists, which comes next: below 0, the first; 0, both.
static int order(const FileEntries *a, size_t i, const FileEntries *b,
                 size_t j) {
  if (i == a->len)
    return 1;
  if (j == b->len)
    return -1;
  return strcmp(a->items[i].path, b->items[j].path);
}

void file_entries_diff(const FileEntries *base, const FileEntries *now,
                       FileEntries *out) {
  for (size_t i = 0, j = 0; i < base->len || j < now->len;) {
    int first = order(base, i, now, j);
    if (first < 0)
      array_push(out, (FileEntry){.path = base->items[i].path});
    else if (first > 0 || !same_entry(&base->items[i], &now->items[j]))
      array_push(out, now->items[j]);
    i += first <= 0;
    j += first >= 0;
  }
}

void file_entries_patch(const FileEntries *base, const FileEntries *diff,
                        FileEntries *out) {
  for (size_t i = 0, j = 0; i < base->len || j < diff->len;) {
    int first = order(base, i, diff, j);
    if (first < 0)
      array_push(out, base->items[i]);
    else if (diff->items[j].mode)
      array_push(out, diff->items[j]);
    i += first <= 0;
    j += first >= 0;
  }
}

int file_entry_order(const void *a, const void *b) {
  return strcmp(((const FileEntry *)a)->path, ((const FileEntry *)b)->path);
}

void file_entries_sort(FileEntries *entries) {
  if (entries->len)
    qsort(entries->items, entries->len, sizeof *entries->items,
          file_entry_order);
}

void file_entries_key(const FileEntries *entries, Str *key) {
  for (size_t i = 0; i < entries->len; i++) {
    const FileEntry *e = &entries->items[i];
    str_addn(key, e->path, strlen(e->path) + 1);
    str_addf(key, "%o ", (unsigned)e->mode);
    if (S_ISREG(e->mode))
      str_addn(key, &e->hash, sizeof e->hash);
    if (e->target)
      str_addn(key, e->target, strlen(e->target) + 1);
  }
}
