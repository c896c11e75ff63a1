// The exploration on disk, so that it can be resumed: after its budget was
// spent, after it was interrupted or killed, or after the database server went
// away. One file, written every few seconds under another name and renamed into
// place, so that a killed exploration leaves a complete one. Its runs are in
// the store.
//
//   "culprit-explore\n", version, checksum of the rest; then numbers (LEB128)
//   and texts (length, bytes): requests that were made, states, outcomes, the
//   queue, coverage, failures, what it has learned (accounts, good values, texts
//   of the database, roles)
//
// The application's data is not saved: states are reached again by the requests
// that lead to them (app_driver.h).
#ifndef CULPRIT_EXPLORE_CHECKPOINT_H
#define CULPRIT_EXPLORE_CHECKPOINT_H

#include "explore/explorer.h"
#include "util/err.h"

int checkpoint_write(Explorer *e, const char *path, Err *err);
// Into a new explorer. Damaged files are refused with a message or read within
// bounds.
int checkpoint_read(Explorer *e, const char *path, Err *err);

#endif
