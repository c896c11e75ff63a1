// What the tools of tests/ and bench/ print about paths and solvers.
#ifndef CULPRIT_TESTS_TOOL_SHOW_H
#define CULPRIT_TESTS_TOOL_SHOW_H

#include "replay/replay.h"
#include "solve/solver.h"

static inline const char *path_kind_name(PathKind kind) {
  static const char *const names[] = {"branch", "switch", "address", "libc",
                                      "divide", "bounds", "eof"};
  return kind < PATH_KINDS ? names[kind] : "?";
}

// "412 queries: 240 sat, 170 unsat, 2 unknown (2 beyond the limits); 0.11 s;
// syntax 30, enumerate 300, bits 80, z3 2"
static inline void solver_stats_show(const SolverStats *st, Str *out) {
  static const char *const names[] = {"syntax", "enumerate", "bits", "z3"};
  str_addf(out, "%llu queries: %llu sat, %llu unsat, %llu unknown",
           (unsigned long long)st->queries, (unsigned long long)st->sat,
           (unsigned long long)st->unsat, (unsigned long long)st->unknown);
  if (st->timeouts)
    str_addf(out, " (%llu beyond the limits)",
             (unsigned long long)st->timeouts);
  if (st->bad_models)
    str_addf(out, " (%llu wrong models)", (unsigned long long)st->bad_models);
  str_addf(out, "; %.2f s", st->seconds);
  for (int e = 0; e < ENGINE_COUNT; e++)
    str_addf(out, "%s %s %llu", e ? "," : ";", names[e],
             (unsigned long long)st->by_engine[e]);
}

#endif
