// What requests left in the session, as terms over their own input: a later
// decision about SESSION.k is solved by changing the request that set it.
#ifndef CULPRIT_EXPLORE_SOLVE_SESSION_TERMS_H
#define CULPRIT_EXPLORE_SOLVE_SESSION_TERMS_H

#include "explore/solve/branch_solver.h"
#include "php/ask.h"

// What one request keeps. Others may use it while it is replaced by a newer one
// of the same request: it goes with the last that holds it.
typedef struct SessionTerms SessionTerms;
typedef struct {
  ARRAY(SessionTerms *) items;
  Hashmap index; // the request, as text -> number
} SessionMemory;

// A copy of what is needed; NULL: the session keeps no term, or too many.
SessionTerms *session_terms_new(const PhpShadows *sh);
void session_terms_drop(SessionTerms *k); // may be NULL

// Takes it over. The newest of a request counts.
void session_memory_add(SessionMemory *k, const Ask *a, SessionTerms *terms);
// What the request keeps, held once more; NULL: that is not known.
SessionTerms *session_memory_hold(const SessionMemory *k, const Ask *a);
void session_memory_release(SessionMemory *k);

// Appends requests like `a`, which keeps `of`, that leave `value` in the
// session under `name` ("SESSION.user"). False: `a` left nothing there.
bool session_terms_solve(const SessionTerms *of, const Ask *a, const char *name,
                         PhpValue value, const KnownCalls *known, Asks *out,
                         Arena *arena);

#endif
