// The scratch area of one `culprit run`: a directory for run files, captured
// output and tests' own working directories, in memory (/dev/shm) where there
// is room, else in the store's directory.
//
// It holds one directory per slot, used again and again: making and removing
// trees for every test would cost more than short tests do. It has a watcher:
// see util/area.h. Open it before a pool, which kills children it does not
// know.
#ifndef CULPRIT_RUN_SCRATCH_H
#define CULPRIT_RUN_SCRATCH_H

#include <stdbool.h>

#include "util/area.h"
#include "util/err.h"

typedef struct {
  const char *dir; // absolute; NULL: not open
  Area area;
} Scratch;

#define SCRATCH_NONE ((Scratch){.area = AREA_NONE})

// Under CULPRIT_TMPDIR if that is set; else under /dev/shm if it is a tmpfs
// with at least 512 MB free; else under `store_dir`/tmp.
int scratch_open(Scratch *s, const char *store_dir, Err *err);
void scratch_close(Scratch *s);

// Is there (nearly) no room left?
bool scratch_full(const Scratch *s);

// Leaves `path` an empty directory that everybody may write to (as /tmp),
// whatever was there.
int dir_make_empty(const char *path, Err *err);

#endif
