// Starts one process the cheap way: until it executes its program the child
// borrows our memory (as vfork does), so the cost does not grow with ours.
#ifndef CULPRIT_RUN_SPAWN_H
#define CULPRIT_RUN_SPAWN_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "run/process.h"

// Descriptors for its standard streams, all above 2; -1: inherited.
typedef struct {
  int in, out, err;
} Streams;

// Returns its pid. -1: it could not be started; `problem` says why, and errno
// is EAGAIN if it may work later. All signals that have handlers must be
// blocked; the process starts with `mask`.
pid_t spawn_process(const Spawn *s, Streams streams, const sigset_t *mask,
                    char *problem, size_t size);

#endif
