// Which memory a pointer may point to, by unification (Steensgaard 1996): every
// assignment makes the two sides point to the same class of memory. Fast and
// coarse; fields of a struct are not distinguished, and the order of
// statements does not matter.
#ifndef CULPRIT_PLAN_POINTS_TO_H
#define CULPRIT_PLAN_POINTS_TO_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "util/array.h"
#include "util/hashmap.h"

typedef struct {
  Hashmap nodes;           // value -> node
  ARRAY(uint32_t) parent;  // union-find
  ARRAY(uint32_t) pointee; // class pointed to, UINT32_MAX: none yet
} PointsTo;

void points_to_build(PointsTo *p, LLVMModuleRef module);
void points_to_release(PointsTo *p);

// The class of memory `pointer` points to: equal numbers may alias.
uint32_t points_to_class(PointsTo *p, LLVMValueRef pointer);

// May a call through a pointer reach this function? (Its address is taken.)
bool function_is_taken(LLVMValueRef function);

#endif
