// Temporary directories that are always removed: when closed, when a signal
// ends culprit (stop.h), and, if culprit is killed, by the area's watcher or at
// the latest by the next culprit.
//
// An area is a directory culprit-scratch-XXXXXX that its owner keeps locked
// (flock) as long as it lives. Any culprit that finds an unlocked one removes
// it. If that happens between making a directory and locking it, the owner
// makes another. So no age limit is needed to recognise a left-over directory.
#ifndef CULPRIT_UTIL_AREA_H
#define CULPRIT_UTIL_AREA_H

#include <sys/types.h>

#include "util/err.h"

typedef struct {
  char *dir;     // absolute
  int lock;      // the directory, locked
  pid_t watcher; // 0: none
} Area;

#define AREA_NONE ((Area){.lock = -1})
// Environment variable that names the area. A process with the area's directory
// in this or any other variable belongs to the area.
#define AREA_VARIABLE "CULPRIT_SCRATCH"

// In the directory `base`, which is there.
int area_open(Area *a, const char *base, Err *err);
// In $TMPDIR, or /tmp.
int area_open_temporary(Area *a, Err *err);
// Starts the watcher, a process that outlives culprit: when culprit ends
// without closing the area, the watcher kills every process that belongs to the
// area, then sweeps. Call it from the main thread, before starting processes.
void area_watch(Area *a);
// Kills all descendants first if the area has a watcher.
void area_close(Area *a);

// Removes the areas in `base` whose owner is gone, with their processes.
void areas_sweep(const char *base);
// In all places where areas are made, except stores.
void areas_sweep_all(void);

#endif
