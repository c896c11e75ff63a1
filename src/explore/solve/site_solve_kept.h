// What requests left in the session, as terms over their own input: a later
// decision about SESSION.k is solved for the request that set it.
#ifndef CULPRIT_EXPLORE_SOLVE_SITE_SOLVE_KEPT_H
#define CULPRIT_EXPLORE_SOLVE_SITE_SOLVE_KEPT_H

#include "explore/solve/site_solve_branch.h"
#include "php/site_ask.h"

// What one request keeps. Others may use it while it is replaced by a newer one
// of the same request: it goes with the last that holds it.
typedef struct Keeping Keeping;
typedef struct {
  ARRAY(Keeping *) items;
  Hashmap index; // the request, as text -> number
} KeptTerms;

// A copy of what is needed; NULL: the session keeps no term, or too many.
Keeping *keeping_new(const PhpShadows *sh);
void keeping_drop(Keeping *k); // may be NULL

// Takes it over. The newest of a request counts.
void kept_add(KeptTerms *k, const Ask *a, Keeping *keeping);
// What the request keeps, held once more; NULL: that is not known.
Keeping *kept_hold(const KeptTerms *k, const Ask *a);
void kept_release(KeptTerms *k);

// Appends requests like `a`, which keeps `of`, that leave `value` in the
// session under `name` ("SESSION.user"). False: `a` left nothing there.
bool keeping_solve(const Keeping *of, const Ask *a, const char *name,
                   PhpValue value, const KnownCalls *known, Asks *out,
                   Arena *arena);

#endif
