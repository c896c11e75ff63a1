// Sets of variables: which inputs an expression depends on. Every distinct set
// exists once, so equal sets have equal ids; a union shares all it can, so the
// supports of a checksum over n bytes take O(n log n) memory, not O(n^2).
//
// The support of a node is computed on demand, together with those of all its
// operands, and cached in the node.
#ifndef CULPRIT_EXPR_SUPPORT_H
#define CULPRIT_EXPR_SUPPORT_H

#include "expr/expr.h"
#include "util/array.h"

typedef uint32_t Support;
#define SUPPORT_EMPTY 1u

typedef ARRAY(VarId) VarList;

Support expr_support(ExprPool *p, Expr e);
Support support_union(ExprPool *p, Support a, Support b);
bool support_has(const ExprPool *p, Support s, VarId v);
uint32_t support_size(const ExprPool *p, Support s);
// The two sets that `s` was put together from; false if it is but one block of
// up to 64 neighbouring variables.
bool support_halves(const ExprPool *p, Support s, Support *a, Support *b);
// Appends the members, ascending.
void support_members(const ExprPool *p, Support s, VarList *out);

#endif
