// culprit run --queue: the tests are run by workers (fleet/queue_worker.h), and this
// process waits for them.
#ifndef CULPRIT_CLI_RUN_QUEUE_H
#define CULPRIT_CLI_RUN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "run/runner.h"

typedef struct {
  const char *shared; // directory for the bundle; NULL: in the store
  bool show_progress, quiet;
} RunQueue;

// A Runner.instead; `context` is a RunQueue.
int run_queued(void *context, Runner *r, const Test *tests, size_t n, Err *err);

// Writes a bundle to DIR/HASH.bundle.
int run_queue_write(const char *dir, const char *hash, const Str *packed,
                    Err *err);

#endif
