// Experiments on a stored session of requests to a PHP application (culprit
// web): its requests are made again while the extension changes one script, and
// for each failure what repairs it is kept as a note (locate/try_note.h).
#ifndef CULPRIT_TRY_WEB_WEB_SESSION_H
#define CULPRIT_TRY_WEB_WEB_SESSION_H

#include "explore/explorer.h"
#include "php/request.h"
#include "run/visits.h"
#include "store/store.h"
#include "try/try_session.h"
#include "util/err.h"

typedef struct {
  const TryOptions *options; // run, modules and memory are not used
  const Visits *visits;      // the session's; its scratch directory exists
  const Requests *list;
  const Explorer *explorer; // whose requests they are; NULL: the list's
  int workers;
} WebTryOptions;

// `out`: to be released (try_summary_release). -1: the application cannot be
// run, or the store cannot be read or written to.
int web_try_session(const WebTryOptions *o, Store *store, int64_t session,
                    TrySummary *out, Err *err);

#endif
