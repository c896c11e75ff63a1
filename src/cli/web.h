// What other commands need of `culprit web`, and its parts of each other.
#ifndef CULPRIT_CLI_WEB_H
#define CULPRIT_CLI_WEB_H

#include <stdbool.h>

#include "cli/confine_options.h"
#include "explore/explorer.h"
#include "look/close_look.h"
#include "model/suite.h"
#include "php/request.h"
#include "run/visits.h"
#include "store/store.h"

// --- a stored session ---------------------------------------------------------

// `v` has the settings of the session, confined, and a scratch directory. `e`:
// the session is an exploration; NULL: it is a list.
typedef int WebAgainWork(void *context, const Visits *v, const Requests *list,
                         const Explorer *e);

// Prepares what it did for being done again, by the command line that is stored
// with it, and calls `work`. The application is confined as `confine` says,
// whatever it was then; `jobs` 0: as many workers. Returns an exit status.
int web_stored(Store *store, const Suite *suite, int jobs,
               ConfineOptions *confine, WebAgainWork *work, void *context);

// --- the closer look (web_close.c) --------------------------------------------

// Makes the requests that matter again while PHP records more, and stores what
// they show (look/web_look.h).
typedef struct {
  double seconds;     // --close; 0: no look, below 0: as long as it took
  double took;        // to make all requests, in seconds
  bool show_progress; // on standard error
} WebCloseOptions;

// Looks at the session of `v`, if some request failed: the list's requests, or
// those of an exploration (`e` not NULL). The session's own settings stay as
// they are. `out` is to be released, even after an error.
int web_close(const WebCloseOptions *o, const Visits *v, const Requests *list,
              const Explorer *e, CloseLookResult *out, Err *err);

#endif
