// The closer look of `culprit web`: makes the requests that matter again while
// PHP records more, and stores what they show (look/web_look.h).
#ifndef CULPRIT_CLI_WEB_CLOSE_H
#define CULPRIT_CLI_WEB_CLOSE_H

#include <stdbool.h>

#include "explore/explorer.h"
#include "look/close_look.h"
#include "run/visits.h"

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
