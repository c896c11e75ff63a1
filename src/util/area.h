// Temporary directories that are never left behind: removed when closed, when a
// signal ends us (stop.h), and, should we be killed, by our guard or at the
// latest by the next culprit.
//
// An area is a directory culprit-scratch-XXXXXX that is locked (flock) as long as
// its owner lives. Whoever finds one that is not locked removes it; a directory
// whose lock we got but that is gone by then is made anew. So no age is needed
// to tell one that was left from one that is just being made.
#ifndef CULPRIT_UTIL_AREA_H
#define CULPRIT_UTIL_AREA_H

#include <sys/types.h>

#include "util/err.h"

typedef struct {
  char *dir;   // absolute
  int lock;    // the directory, locked
  pid_t guard; // 0: none
} Area;

#define AREA_NONE ((Area){.lock = -1})
// Names the area in our environment: processes that have it, or the area's
// directory in any other variable, belong to it.
#define AREA_VARIABLE "CULPRIT_SCRATCH"

// In the directory `base`, which is there.
int area_open(Area *a, const char *base, Err *err);
// In $TMPDIR, or /tmp.
int area_open_temporary(Area *a, Err *err);
// Starts a process that outlives us: when we end without closing the area it
// kills all that belongs to it, then sweeps. To be called before processes are
// started that are to be marked, and by the main thread.
void area_guard(Area *a);
// Of a guarded area: kills all our children first.
void area_close(Area *a);

// Removes the areas in `base` whose owner is gone, with their processes.
void areas_sweep(const char *base);
// In all places where areas are made, but for stores.
void areas_sweep_all(void);

#endif
