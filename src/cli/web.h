// What other commands need of `culprit web`, and its parts of each other.
#ifndef CULPRIT_CLI_WEB_H
#define CULPRIT_CLI_WEB_H

#include <stdbool.h>
#include <stdio.h>

#include "command/confine_options.h"
#include "command/options.h"
#include "explore/explorer.h"
#include "look/close_look.h"
#include "model/suite.h"
#include "php/request.h"
#include "run/refusals.h"
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

// --- what it was not let do (refused.c) ---------------------------------------

// A line for each; nothing if there is none.
void refused_print(const Refusals *r, FILE *out);
// A member of the report's object: ,"refused":[...]
void refused_json(const Refusals *r, FILE *out);

// --- exploring (web_explore.c) ------------------------------------------------

typedef struct {
  Texts logins;
  const char *php_ini;
} WebExploreOptions;

extern const Option web_login_options[]; // of a WebExploreOptions
extern const Option web_ini_options[];   // the same
// All options were taken: completes the settings, and the list of requests to
// begin with. `given`: --requests. An exit status.
int web_explore_prepare(WebExploreOptions *o, Visits *v, const char *given,
                        Requests *list, Arena *arena);
// The budget begins, for everything but the ranking. `close`: seconds for a
// closer look; below 0: as usual. `v` NULL: it does not explore.
void web_explore_begin(ExplorerOptions *o, Visits *v, double close);
void web_explore_release(WebExploreOptions *o);

// Writes the requests that show each failure; `tell`: says where. An exit
// status.
int web_explore_keep(const Explorer *e, const Visits *v, const Suite *suite,
                     bool tell);
// What the exploration reached and what it did not: lines; a member of the
// report's object, ,"exploration":{...}. `e` NULL: nothing.
void web_explore_print(const Explorer *e, FILE *out);
void web_explore_json(const Explorer *e, FILE *out);
// The members "refused" and "exploration". Caller frees.
char *web_members(const Refusals *r, const Explorer *e);

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
