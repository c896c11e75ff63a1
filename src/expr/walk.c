// The nodes below some expressions, operands first: see walk.h.
#include "expr/walk.h"

#include <stdlib.h>

static void visit(Expr e, ExprMap *seen, ExprList *out) {
  if (expr_map_get(seen, e))
    return;
  expr_map_put(seen, e, 0);
  array_push(out, e);
}

static int by_id(const void *a, const void *b) {
  Expr x = *(const Expr *)a, y = *(const Expr *)b;
  return (x > y) - (x < y);
}

bool expr_walk(const ExprPool *p, const Expr *roots, size_t n, size_t max,
               ExprMap *seen, ExprList *out) {
  size_t first = out->len;
  for (size_t i = 0; i < n; i++)
    visit(roots[i], seen, out);
  for (size_t i = first; i < out->len; i++) { // `out` is the queue as well
    if (max && out->len - first > max)
      return false;
    const ExprNode *node = expr_node(p, out->items[i]);
    for (unsigned k = 0; k < expr_arity((ExprOp)node->op); k++)
      visit(node->arg[k], seen, out);
  }
  if (out->len > first)
    qsort(out->items + first, out->len - first, sizeof(Expr), by_id);
  return true;
}
