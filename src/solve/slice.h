// Which conditions of a path matter to a question: those that share inputs
// with it, directly or by way of other conditions of the prefix.
//
// Conditions are added in path order, each with a time (its index). Any prefix
// can be asked about afterwards, in any order: the classes of inputs are kept
// as a tree of merges, each with the time it happened.
//
//   time 0: in[0] < in[1]      a        a = {0,1}
//   time 1: in[2] == 'a'       a  b     b = {2}
//   time 2: in[1] == in[2]      c       c = a + b, since 2
//
// Below time 2 a question about in[2] sees class b alone.
//
// Memory: one small node per input and per merge; supports seen before are
// merged already and cost one lookup.
#ifndef CULPRIT_SOLVE_SLICE_H
#define CULPRIT_SOLVE_SLICE_H

#include "expr/expr_map.h"
#include "expr/support.h"
#include "util/array.h"

typedef struct {
  uint32_t parent, left, right; // 0: none
  uint32_t since;               // time of the merge
  uint32_t first, last;         // its conditions + 1; 0: none
} SliceClass;

typedef struct {
  ExprPool *pool;
  ARRAY(SliceClass) classes;
  ARRAY(uint32_t) roots; // class -> a class further up, the root in the end
  ARRAY(uint32_t) next;  // condition -> the next of its class, + 1
  ARRAY(uint32_t) times; // condition -> time
  ExprMap of_var;        // variable + 1 -> its class
  ExprMap of_support;    // support -> a class below its merge, time << 32
  ExprMap visited;
} Slice;

typedef ARRAY(uint32_t) ItemList;

void slice_init(Slice *s, ExprPool *p);
void slice_release(Slice *s);

// The next condition depends on `support` (not empty) and belongs to `time`;
// times never go down. Conditions are numbered from 0.
void slice_add(Slice *s, Support support, uint32_t time);
// Appends the numbers of all conditions with a time below `before` that matter
// to a question about any of the `n` supports. Each once, in no order.
void slice_collect(Slice *s, const Support *supports, size_t n, uint32_t before,
                   ItemList *out);

#endif
