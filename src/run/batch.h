// Runs a list of tests, several at once: each is executed, judged, and run
// again if it failed. The heart of the adapters `testsfile` and `command`.
#ifndef CULPRIT_RUN_BATCH_H
#define CULPRIT_RUN_BATCH_H

#include "run/runner.h"
#include "run/testfile.h"

// Brings them into the order of a closer look, if this is one.
void batch_order(const Runner *r, Test *tests, size_t ntests);
// Returns when all are done, or with r->interrupted set.
int batch_run(Runner *r, const Test *tests, size_t ntests, Err *err);

#endif
