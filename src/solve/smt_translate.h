// Expressions as terms of Z3.
#ifndef CULPRIT_SOLVE_SMT_TRANSLATE_H
#define CULPRIT_SOLVE_SMT_TRANSLATE_H

#include <z3.h>

#include "solve/solver_query.h"

struct SmtEngine {
  ExprPool *pool;
  Z3_context z3;
  ExprMap asts;     // expression -> Z3_ast
  ExprList nodes;   // scratch
  uint32_t queries; // in this context
};

// Translates `e` and everything below it. False: Z3 lacks an operator.
bool smt_translate(SmtEngine *s, Expr e);
// A constant of Z3's Int.
Z3_ast smt_int(const SmtEngine *s, int64_t v);
// The one NaN that floats of this width have in our models.
uint64_t smt_quiet_nan(unsigned width);

// The term of an expression that was translated.
static inline Z3_ast smt_ast(const SmtEngine *s, Expr e) {
  return (Z3_ast)(uintptr_t)*expr_map_get(&s->asts, e);
}

#endif
