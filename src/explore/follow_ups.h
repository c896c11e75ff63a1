// The requests that a response suggests: links, forms and the redirect of its
// page, keys that the script looked up, other outcomes of its comparisons, and
// other values for a request that failed. The queue drops those that were made
// before.
#ifndef CULPRIT_EXPLORE_FOLLOW_UPS_H
#define CULPRIT_EXPLORE_FOLLOW_UPS_H

#include "explore/app_driver.h"
#include "explore/request_queue.h"
#include "explore/solve/request_solver.h"
#include "explore/state_graph.h"

#define STATE_AFTER UINT32_MAX // the state that the response left behind

// A request with its response.
typedef struct {
  const WebApp *app;
  Hashmap *routes;       // path -> Leads; kept between calls
  const QueueItem *item; // the request
  const StatePath *path; // to the state it was made in
  const Answer *answer;
  const PhpRecord *record; // NULL: none
  bool failing;            // it shows the failure that is to be explained
  const uint32_t *solved;  // numbers of the comparisons to solve for
  size_t nsolved;
  RequestSolver *solver;
  Arena *arena;
} FollowUpSource;

// Links, forms, redirect and literal requests of the page; in state STATE_AFTER.
// True: scripts of the page make forms or requests besides.
bool follow_ups_of_page(const FollowUpSource *f, QueueItems *out);
// Other input for the same request, or for one on the path to it.
void follow_ups_of_input(const FollowUpSource *f, QueueItems *out);

// What a path leads to. NOWHERE: neither a script nor a page.
typedef enum { LEADS_NOWHERE, LEADS_TO_SCRIPT, LEADS_TO_FILE } Leads;
Leads route_leads(const WebApp *app, Hashmap *routes, const char *path,
                  Arena *arena);

#endif
