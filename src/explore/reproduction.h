// How to show a failure again: the sequence of requests, from the start, that
// ends in it; made as short as it gets while it still shows the same failure
// (ddmin over the requests before the last, then each value of each request);
// written as a list for `culprit web --requests` and as a script of curl
// commands.
//
// A value that the page draws by lot (a CSRF token) is marked: whoever makes
// the requests takes it from the page before (docs/reference/web-requests.md,
// Culprit-Fresh).
#ifndef CULPRIT_EXPLORE_REPRODUCTION_H
#define CULPRIT_EXPLORE_REPRODUCTION_H

#include "explore/app_driver.h"
#include "explore/state_graph.h"
#include "util/err.h"

typedef struct {
  Ask ask;
  const char *fresh; // names of values that come from the page; "": none
} ReproductionStep;

typedef struct {
  ReproductionStep *steps; // the last one shows the failure
  size_t nsteps;
  bool tried; // it was made again,
  bool shown; // and did show it
} Reproduction;

// Of request `number`; at most `budget` requests are made, which are counted
// down. Where the application cannot be asked any more, as it was found.
Reproduction reproduction_make(AppDriver *d, const StateGraph *a,
                               uint32_t number, const char *signature,
                               size_t *budget, Arena *arena);

// Writes `base`.txt, `base`.sh and, for requests that fit no line,
// `base`-N.body. `title`: lines that say what fails, without their #.
int reproduction_write(const Reproduction *s, const char *title,
                       const char *base, Err *err);

#endif
