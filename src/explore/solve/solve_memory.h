// What the solvers of one exploration have learnt: results of functions,
// answers of Z3, terms kept in sessions, and counts for the report.
//
// Its users take turns: no two of them may call it at the same time.
#ifndef CULPRIT_EXPLORE_SOLVE_SOLVE_MEMORY_H
#define CULPRIT_EXPLORE_SOLVE_SOLVE_MEMORY_H

#include "explore/solve/branch_solver.h"
#include "explore/solve/session_terms.h"
#include "util/str.h"

typedef struct {
  char *name;
  uint32_t count;
} OpaqueCount;

typedef struct {
  KnownCalls known;
  SessionMemory kept;
  SolveCache cache;
  double question_seconds; // of Z3 for one question; 0: 1
  double request_seconds;  // for all decisions of one request
  double until;            // when solving ends (util/clock.h); 0: never
  SolveStats stats;
  Hashmap opaque_index;
  ARRAY(OpaqueCount) opaque;
} SolveMemory;

#define SOLVE_REQUEST_SECONDS 3.0

// The limits; 0: the defaults.
SolveMemory *solve_memory_new(double question_seconds, double request_seconds);
void solve_memory_free(SolveMemory *m); // may be NULL

// What was solved and what was not, in a few lines for people. Nothing if no
// decision depended on input.
void solve_memory_report(const SolveMemory *m, Str *out);

// Calls that no term represents.
void solve_memory_count_opaque(SolveMemory *m, const PhpShadows *sh);
// Such calls by function, most frequent first; at most `most` names go to
// `out`. Returns how many there are.
size_t solve_memory_opaque(const SolveMemory *m, PhpNamed *out, size_t most);

#endif
