// What other commands need of `culprit run`.
#ifndef CULPRIT_CLI_RUN_H
#define CULPRIT_CLI_RUN_H

#include <stdint.h>

#include "adapter/adapter.h"
#include "confine/confine.h"
#include "store/store.h"

// `like` has the options, root and oracle of the session.
typedef int RunAgainWork(void *context, const Adapter *adapter,
                         const Runner *like);

// Prepares what `culprit run` did in a session for being done again, by the
// command line that is stored with it, and calls `work`. Runs are to be confined
// as `confine` says. Returns an exit status.
int run_stored(Store *store, int64_t session, int jobs,
               const ConfinePlan *confine, RunAgainWork *work, void *context);

// An adapter as a RunTests (look/close_look.h); `adapter` is the context.
int run_adapter_again(void *adapter, Runner *r, Err *err);

#endif
