// The range of a quantified variable, read from the comparisons around it:
//
//   \forall integer i; 0 <= i < n ==> p      low 0, high n, n excluded
#ifndef CULPRIT_CONTRACT_CONTRACT_RANGE_H
#define CULPRIT_CONTRACT_CONTRACT_RANGE_H

#include "contract/contract_emit.h"

typedef struct {
  const ContractExpr *low, *high; // NULL: not known
  bool above, below;              // low, high itself is excluded
} VariableRange;

// Of variable number `var` of the quantifier `q`.
VariableRange contract_range(const Emitter *e, const ContractExpr *q,
                             size_t var);

#endif
