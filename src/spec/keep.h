// Stores the result of `culprit spec` for later commands: a session whose runs
// are the given call and the made tests, and a note with the core and the
// rating (locate/spec_note.h). So `culprit rank` ranks the same lines by the
// same numbers, and `culprit report` shows the core.
//
// A run's lines are those of the call, as in the rating. A made test has no
// command of its own, because its state was put into the process. A failing one
// that breaks some of the clauses, or others too, shows the given failure, as
// it counts in the rating.
#ifndef CULPRIT_SPEC_KEEP_H
#define CULPRIT_SPEC_KEEP_H

#include "spec/rounds.h"
#include "store/store.h"

// `command`: our own command line. All of it is stored, or nothing.
int spec_keep(const Rounds *r, Store *store, const char *command,
              int64_t *session, Err *err);

#endif
