// Workers: take tests of queued sessions (store/test_queue.h), run them from their
// bundle, and store the runs. Any number of them, on any machines that reach
// the store; each may end at any moment.
#ifndef CULPRIT_FLEET_QUEUE_WORKER_H
#define CULPRIT_FLEET_QUEUE_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "confine/confine.h"
#include "store/store.h"
#include "util/err.h"

typedef struct {
  const char *bundles; // directory for unpacked bundles
  const char *shared;  // where bundles lie as HASH.bundle; NULL: in the store
  int jobs;            // tests at once
  double lease;        // seconds until the tests of a dead worker return
  double wait;         // seconds to wait for tests when there are none
  const ConfinePlan *confine; // NULL: tests are not confined
} WorkerOptions;

typedef struct {
  size_t tests, failing, sessions;
  bool interrupted;
} WorkerResult;

// Works until there is nothing left to do, or a signal comes.
int worker_run(const WorkerOptions *o, Store *store, WorkerResult *out,
               Err *err);

#endif
