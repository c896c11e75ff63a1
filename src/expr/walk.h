// All expressions that occur in some expressions.
#ifndef CULPRIT_EXPR_WALK_H
#define CULPRIT_EXPR_WALK_H

#include "expr/expr.h"
#include "expr/expr_map.h"
#include "util/array.h"

typedef ARRAY(Expr) ExprList;

// Appends to `out` the roots and everything below them that is not in `seen`
// yet, operands before their users, and puts them there (with value 0). What
// lies below a member of `seen` is not looked at. Stops at about `max`
// expressions (0: no limit) and is false then.
bool expr_walk(const ExprPool *p, const Expr *roots, size_t n, size_t max,
               ExprMap *seen, ExprList *out);

#endif
