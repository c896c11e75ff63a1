// Solves path conditions: is there an input that takes the same path up to a
// condition, and then the other outcome?
//
//   Solver *s = solver_new(pool, (SolverLimits){0});
//   for each branch of the run: solver_add(s, condition, outcome);
//   Model m = {0};
//   if (solver_flip(s, i, &m) == SOLVER_SAT)
//     for (size_t k = 0; k < m.len; k++)
//       use(m.items[k].var, m.items[k].value);   // all others as in the run
//   model_release(&m);
//   solver_free(s);
//
// Engines, cheapest first (solver.c):
//   syntax      the condition is constant, or already decided by the path
//   enumerate   few inputs matter: at most 16 bits, tried 256 at a time;
//               one wide input compared with constants: intervals;
//               other sorts than BV: the constants in the conditions
//   bits        bit-vectors, and INT as 64 bits: bit-blasted into one
//               incremental CaDiCaL per Solver; of many conditions, those
//               related to the question first (lazy.c)
//   z3          floats and strings: the slice alone goes to Z3
// The query is sliced before: only conditions that share inputs with the
// question, directly or through others, are considered. The rest is known to
// hold with the run's own values, which the answer keeps.
//
// Every model is checked by evaluation before it is returned. One that does not
// hold (our bug, or Z3's) is counted in stats.bad_models and answered UNKNOWN.
// Models change few inputs: the SAT solver starts from the run, and inputs that
// can keep their value do.
//
// A Solver belongs to one run (its pool). Queries may come in any order.
#ifndef CULPRIT_SOLVE_SOLVER_H
#define CULPRIT_SOLVE_SOLVER_H

#include "expr/expr.h"
#include "util/array.h"

// `cond`, a BV(1), must have this outcome.
typedef struct {
  Expr cond;
  bool outcome;
} Constraint;
typedef ARRAY(Constraint) Constraints;

typedef enum { SOLVER_SAT, SOLVER_UNSAT, SOLVER_UNKNOWN } SolverResult;

typedef enum {
  ENGINE_SYNTAX,
  ENGINE_ENUMERATE,
  ENGINE_BITS,
  ENGINE_Z3,
  ENGINE_COUNT,
} SolverEngine;

// Bounds of one query; 0 means the default. Beyond them: SOLVER_UNKNOWN.
typedef struct {
  double seconds;     // 1.0
  uint32_t conflicts; // of the SAT solver: 20000
  uint32_t gates;     // added by one query when it is bit-blasted: 2000000
  uint32_t nodes;     // of the slice, for Z3: 20000
} SolverLimits;

typedef struct {
  uint64_t queries, sat, unsat, unknown;
  uint64_t timeouts;   // unknown because of a limit, or an operator no
                       // engine has (fmod)
  uint64_t bad_models; // unknown because a model did not hold
  uint64_t by_engine[ENGINE_COUNT];
  double seconds_by[ENGINE_COUNT];
  double seconds;          // all queries, slicing and checking included
  uint64_t gates, clauses; // in the SAT solver
} SolverStats;

typedef struct {
  VarId var;
  uint64_t value; // as kept in nodes; a text id for STR
} Binding;
typedef ARRAY(Binding) Model;

typedef struct Solver Solver;

Solver *solver_new(ExprPool *p, SolverLimits limits);
void solver_free(Solver *s);

// Appends a constraint to the path and returns its index. It must hold in the
// run (assert): a path condition that is false in its own run is our bug.
// Constant constraints may be added and cost nothing.
size_t solver_add(Solver *s, Expr cond, bool outcome);
size_t solver_len(const Solver *s);
Constraint solver_constraint(const Solver *s, size_t i);

// Constraints 0..i-1 as they are and i negated. Fills `out` (emptied
// first) with the inputs that differ from the run.
SolverResult solver_flip(Solver *s, size_t i, Model *out);

// Constraints 0..prefix-1 of the path and all of `extra` (free to contradict
// the run). With prefix = solver_len: other inputs for the same path.
SolverResult solver_query(Solver *s, size_t prefix, const Constraint *extra,
                          size_t n, Model *out);

const SolverStats *solver_stats(const Solver *s);

// Takes one engine out of use (tests, measurements); ENGINE_Z3 alone takes
// everything. A query that no engine takes is SOLVER_UNKNOWN.
void solver_use(Solver *s, SolverEngine e, bool on);

static inline void model_release(Model *m) { array_release(m); }

#endif
