// Evaluating expressions under other inputs than the run's: see expr_eval.h.
#include "expr/expr_eval.h"

#include "expr/expr_make.h"

void expr_eval_set(ExprEval *ev, VarId v, uint64_t value) {
  expr_map_put(&ev->vars, v + 1, value);
  expr_map_clear(&ev->values);
  ev->undefined = false;
}

void expr_eval_clear(ExprEval *ev) {
  expr_map_clear(&ev->vars);
  expr_map_clear(&ev->values);
  ev->undefined = false;
}

void expr_eval_release(ExprEval *ev) {
  expr_map_release(&ev->vars);
  expr_map_release(&ev->values);
  array_release(&ev->stack);
}

// The value of `e` if it needs no computing.
static bool known(const ExprEval *ev, Expr e, uint64_t *value) {
  const ExprNode *n = expr_node(ev->pool, e);
  if (n->op == EXPR_CONST) {
    *value = n->value;
    return true;
  }
  bool is_var = n->op == EXPR_VAR;
  const uint64_t *v = is_var ? expr_map_get(&ev->vars, n->arg[0] + 1)
                             : expr_map_get(&ev->values, e);
  *value = v ? *v : n->value;
  return is_var || v;
}

// Computes the node on top of the stack, or pushes what it needs first.
static void step(ExprEval *ev, Expr e) {
  const ExprNode *n = expr_node(ev->pool, e);
  uint64_t v[3] = {0};
  size_t before = ev->stack.len;
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
    if (!known(ev, n->arg[i], &v[i]))
      array_push(&ev->stack, n->arg[i]);
  if (ev->stack.len > before)
    return;
  uint64_t value = expr_apply(ev->pool, n, expr_sort(ev->pool, n->arg[0]), v[0],
                              v[1], v[2], &ev->undefined);
  expr_map_put(&ev->values, e, value);
  ev->stack.len--;
}

bool expr_eval(ExprEval *ev, Expr e, uint64_t *value) {
  ev->stack.len = 0;
  array_push(&ev->stack, e);
  while (ev->stack.len) {
    uint64_t ignored;
    Expr top = array_last(&ev->stack);
    if (known(ev, top, &ignored))
      ev->stack.len--; // by way of another operand
    else
      step(ev, top);
  }
  return known(ev, e, value) && !ev->undefined;
}
