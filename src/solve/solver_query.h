// Inside the solver: a sliced query, and the engines that answer it.
#ifndef CULPRIT_SOLVE_SOLVER_QUERY_H
#define CULPRIT_SOLVE_SOLVER_QUERY_H

#include "expr/expr_eval.h"
#include "expr/expr_map.h"
#include "expr/support.h"
#include "expr/walk.h"
#include "solve/solver.h"

// All constraints must hold; none is constant.
typedef struct {
  const Constraint *items;
  size_t n;
  size_t asked;      // the last ones are the question, the others the path's
  const VarId *vars; // all inputs that occur, ascending
  size_t nvars;
  double deadline; // of clock_now()
} Query;

// --- enumerate.c ------------------------------------------------------------

typedef struct {
  uint64_t bits[4];
} ByteSet; // of 256 values

typedef struct {
  ExprPool *pool;
  ExprMap sets; // condition on one byte -> index of its truth table
  ARRAY(ByteSet) truth;
  // Scratch: the expressions of the query and their values, 256 at a time.
  ExprMap rows;
  ExprList order;
  ARRAY(uint64_t) lanes;
} Enumerator;

void enumerator_init(Enumerator *e, ExprPool *p);
void enumerator_release(Enumerator *e);
// False if it does not take the query: more than 16 bits of input, other sorts
// than BV, or conditions too large to try them all out.
bool enumerator_solve(Enumerator *e, const Query *q, SolverResult *result,
                      Model *out);
// For conditions that only Z3 takes otherwise: tries all or some values of
// bytes whose own conditions leave few. False: no answer.
bool enumerator_try(Enumerator *e, const Query *q, SolverResult *result,
                    Model *out);

// --- interval.c -------------------------------------------------------------

// False if there is more than one input, or a condition that does not compare
// it with a constant.
bool interval_solve(ExprPool *p, const Query *q, SolverResult *result,
                    Model *out);

// --- guess.c ----------------------------------------------------------------

// True if one of the constants of the query, given to one input of another
// sort than BV, satisfies it. `ev` is used as scratch.
bool guess_solve(ExprEval *ev, const Query *q, Model *out);

// --- bits.c -----------------------------------------------------------------

typedef struct BitEngine BitEngine;

BitEngine *bit_engine_new(ExprPool *p, SolverStats *stats);
void bit_engine_free(BitEngine *b);
// Does it take conditions with this one among them?
bool bit_engine_takes(BitEngine *b, Expr cond);
// Appends the value of every input of the query to `out` if SAT.
SolverResult bit_engine_solve(BitEngine *b, const Query *q,
                              const SolverLimits *limits, Model *out);

// --- lazy.c ------------------------------------------------------------------

typedef struct {
  ExprPool *pool;
  ExprEval *eval; // scratch
  SolverStats *stats;
  BitEngine *narrow, *wide; // `wide` is made when first needed
  ARRAY(bool) asked;        // by condition of the query
  ARRAY(Constraint) part;
  VarList vars;
} Lazy;

void lazy_init(Lazy *l, ExprPool *p, ExprEval *scratch, SolverStats *stats);
void lazy_release(Lazy *l);
// As bit_engine_solve, which it asks.
SolverResult lazy_solve(Lazy *l, const Query *q, const SolverLimits *limits,
                        Model *out);

// --- smt.c ------------------------------------------------------------------

typedef struct SmtEngine SmtEngine;

SmtEngine *smt_engine_new(ExprPool *p);
void smt_engine_free(SmtEngine *s);
SolverResult smt_engine_solve(SmtEngine *s, const Query *q,
                              const SolverLimits *limits, Model *out);

#endif
