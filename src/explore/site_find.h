// What the answer to a request gives to ask next: the links and forms of its
// page, where it redirects to, the keys it looked up, what its input was
// compared with, and other values for a request that failed. Which of it is new
// is the queue's matter.
#ifndef CULPRIT_EXPLORE_SITE_FIND_H
#define CULPRIT_EXPLORE_SITE_FIND_H

#include "explore/site_atlas.h"
#include "explore/site_desk.h"
#include "explore/site_queue.h"
#include "explore/solve/site_solve.h"

#define WORLD_AFTER UINT32_MAX // the one that the answer left behind

typedef struct {
  Ask ask;
  uint32_t world;
  Why why;
  bool last, plain, redirect;
  const PhpCompare *compare; // SOLVED: what was solved
  uint32_t step;
} Idea;
typedef ARRAY(Idea) Ideas;

typedef struct {
  const Site *site;
  Hashmap *routes;       // path -> what answers it; kept between calls
  const QueueItem *item; // what was asked
  const Way *way;        // to the world it was asked in
  const Answer *answer;
  const PhpRecord *record; // NULL: none
  bool failing;            // it shows a failure that is to be explained
  const uint32_t *solved;  // comparisons of the record that are solved for
  size_t nsolved;
  Solving *solving;
  Arena *arena;
} Finding;

// What the page leads to.
void ideas_of_page(const Finding *f, Ideas *out);
// Other input for the same request, or for one on the way to it.
void ideas_of_input(const Finding *f, Ideas *out);

// What answers a path: 0 nothing that PHP or a page has to do with, else
// whether PHP is needed.
typedef enum { LEADS_NOWHERE, LEADS_TO_SCRIPT, LEADS_TO_FILE } Leads;
Leads route_leads(const Site *site, Hashmap *routes, const char *path,
                  Arena *arena);

#endif
