// What an instruction of the lowered IR computes, as an expression.
#ifndef CULPRIT_IR_IR_EXPR_H
#define CULPRIT_IR_IR_EXPR_H

#include "expr/expr.h"
#include "ir/ir.h"

// A value with its expression (0: concrete).
typedef struct {
  uint64_t value;
  Expr expr;
} IrValue;

// The value as a bit vector of that width: cut, or filled up with zeros.
Expr ir_bits(ExprPool *p, IrValue v, unsigned width);

// The result of an instruction that computes (ADD to FP_OF_BITS, MOVE, SELECT)
// from its operands. 0: concrete (of MOVE and SELECT), or there is no
// expression for it.
Expr ir_expr(ExprPool *p, const IrInst *i, IrValue a, IrValue b, IrValue c);

#endif
