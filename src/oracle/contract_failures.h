// Broken contracts as failures of a run (program/contract_table.h).
//
//   kind       contract
//   message    list_delete: size_ok is violated: l->size == ... (list.c:9)
//   signature  list_delete: size_ok        all broken names of the call
//   place      list.c:9
//
// A broken `requires` says so: the caller is at fault, not the function.
#ifndef CULPRIT_ORACLE_CONTRACT_FAILURES_H
#define CULPRIT_ORACLE_CONTRACT_FAILURES_H

#include <stdbool.h>

#include "model/run.h"
#include "program/contract_table.h"

// Adds what the run's processes recorded in `dir`. Paths below `root` are shown
// relative to it.
void contract_add_failures(const char *dir, const char *root, Run *run);

// One of them.
void contract_add_failure(const Violation *v, const char *root, Run *run);

// Has the run a failure of this kind?
bool contract_failed(const Run *run);

#endif
