// Reproduces a failure: the sequence of requests from the start that ends in
// it, minimised while it shows the same failure (ddmin over the requests before
// the last, then over the values of each), written as a list for `culprit web
// --requests` and as a script of curl commands.
//
// A random value of a page (a CSRF token) is marked, so that it is taken from
// the page before (docs/reference/web-requests.md, Culprit-Fresh).
#ifndef CULPRIT_EXPLORE_REPRODUCTION_H
#define CULPRIT_EXPLORE_REPRODUCTION_H

#include "explore/app_driver.h"
#include "explore/state_graph.h"
#include "util/err.h"
#include "util/str.h"

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

// The failure of request `number`. `fresh`: names of values that requests take
// from the page; those that are found out are added. Makes at most `budget`
// sequences of requests and counts them down; with none left, when it is `until`
// (util/clock.h), or when the application cannot be reached, the sequence stays
// as it was found.
Reproduction reproduction_make(AppDriver *d, const StateGraph *a,
                               uint32_t number, const char *signature,
                               Str *fresh, size_t *budget, double until,
                               Arena *arena);

// Writes `base`.txt, `base`.sh and, for bodies that do not fit on a line,
// `base`-N.body. `title`: lines that name the failure, without #.
int reproduction_write(const Reproduction *s, const char *title,
                       const char *base, Err *err);

#endif
