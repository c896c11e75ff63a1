// What requests left in the session, as terms over their own input: a later
// decision about SESSION.k is solved for the request that set it.
#ifndef CULPRIT_GENERATE_SITE_SOLVE_KEPT_H
#define CULPRIT_GENERATE_SITE_SOLVE_KEPT_H

#include "generate/site_ask.h"
#include "generate/site_solve_branch.h"

typedef struct Keeping Keeping; // of one request
typedef struct {
  ARRAY(Keeping *) items;
  Hashmap index; // the request, as text -> number
} KeptTerms;

// Copies what is needed. Nothing happens if the session keeps no term.
void kept_add(KeptTerms *k, const PhpShadows *sh, const Ask *a);
void kept_release(KeptTerms *k);

// Appends requests like `a` that leave `value` in the session under `name`
// ("SESSION.user"). False: `a` is not known to have left anything there.
bool kept_solve(const KeptTerms *k, const Ask *a, const char *name,
                PhpValue value, const KnownCalls *known, Asks *out,
                Arena *arena);

#endif
