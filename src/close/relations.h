// Relations: what became of each comparison and value of the source, whatever
// the program does with it.
//
//   return a >= b;      `a` is less than `b`; `a` equals `b`; `a` is greater
//   n = read(...);      the call of `read` returns a negative value, ...
//
// A site is a comparison, a stored, a returned or a received value. The classes
// of integers are those of the number as a signed one: the code does not say
// what it is, unless it is compared. Two integers that are only compared for
// equality have an order if both have the same sign, for then it does not
// matter.
#ifndef CULPRIT_CLOSE_RELATIONS_H
#define CULPRIT_CLOSE_RELATIONS_H

#include "close/close_unit.h"
#include "util/array.h"

typedef enum {
  SHAPE_ORDER,    // of integers or pointers
  SHAPE_EQUALITY, // of integers whose sign is not known
  SHAPE_REALS,
  SHAPE_SAME, // of pointers: equal or not
  SHAPE_NULL,
  SHAPE_SIGN,
  SHAPE_REAL_SIGN,
  SHAPE_CHANGE, // of integers: the value before, and the new one
  SHAPES        // how many there are
} RelationShape;

typedef struct {
  LLVMValueRef inst;        // the comparison, store, return or call
  LLVMValueRef left, right; // right NULL: there is none
  RelationShape shape;
  const char *name; // compare, store, return, call
  bool is_unsigned; // SHAPE_ORDER: compare so
  uint32_t first;   // counter of its first outcome
} RelationSite;

typedef ARRAY(RelationSite) RelationSites;

// Finds the sites and adds an entity and a counter for each outcome.
void relations_plan(CloseUnit *u, RelationSites *out);
// Puts the code that stores the outcomes into the module.
void relations_insert(CloseUnit *u, const RelationSites *sites);

#endif
