// Expressions as circuits: BV, and INT as 64 bits with a condition that
// nothing overflowed. FP and STR are not taken.
#ifndef CULPRIT_SOLVE_BITBLAST_H
#define CULPRIT_SOLVE_BITBLAST_H

#include "expr/expr.h"
#include "expr/expr_map.h"
#include "solve/gates.h"
#include "util/array.h"

typedef struct {
  ExprPool *pool;
  Gates *gates;
  ExprMap words;   // expression -> where its literals begin
  ARRAY(Lit) lits; // bits from 0, then "is defined" (INT in range)
  ARRAY(Expr) todo;
} Bitblast;

void bitblast_init(Bitblast *b, ExprPool *p);
void bitblast_release(Bitblast *b);

// The circuit of `e`, a condition: *value, and *defined, which any solution
// must have true as well. False if that takes more than `max_gates` new gates,
// or longer than to the deadline (of clock_now()); what was built stays and
// is used next time.
bool bitblast_condition(Bitblast *b, Expr e, uint32_t max_gates,
                        double deadline, Lit *value, Lit *defined);
// The value of an input in the model; the run's if it is in no circuit.
uint64_t bitblast_model(const Bitblast *b, VarId v);

#endif
