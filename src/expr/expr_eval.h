// The value of expressions under another assignment than that of the run.
//
//   ExprEval ev = {.pool = pool};
//   expr_eval_set(&ev, in + 2, 'b');        // the others keep the run's value
//   if (expr_eval(&ev, cond, &value)) ...
//   expr_eval_clear(&ev);                   // back to the run
//   expr_eval_release(&ev);
//
// Values are remembered until the next set or clear. Memory and time grow with
// the expressions asked for, not with the pool.
#ifndef CULPRIT_EXPR_EXPR_EVAL_H
#define CULPRIT_EXPR_EXPR_EVAL_H

#include "expr/expr.h"
#include "expr/expr_map.h"
#include "util/array.h"

typedef struct {
  ExprPool *pool;
  ExprMap vars;   // variable + 1 -> value
  ExprMap values; // expression -> value
  ARRAY(Expr) stack;
  bool undefined; // an INT operation left its range
} ExprEval;

// `value` as kept in nodes (see ExprNode); text ids for strings.
void expr_eval_set(ExprEval *ev, VarId v, uint64_t value);
void expr_eval_clear(ExprEval *ev);
// False if an INT operation left the 64-bit range, in `e` or in anything else
// evaluated since the last set or clear: the assignment is not a solution.
bool expr_eval(ExprEval *ev, Expr e, uint64_t *value);
void expr_eval_release(ExprEval *ev);

// The value of one operator for given operand values: what folding, evaluation
// and enumeration share. `n` gives operator, sort and immediates; `from` is
// the sort of the first operand. Sets *undefined where INT has no value.
uint64_t expr_apply(ExprPool *p, const ExprNode *n, ExprSort from, uint64_t a,
                    uint64_t b, uint64_t c, bool *undefined);

#endif
