// What unrolling needs to know about a function: the order of its blocks, its
// loops, and which registers are used outside the block that sets them.
//
// An unrolled block is (block, iteration of each loop around it). In the order
// of their keys, unrolled blocks come after all that lead to them: from the
// outermost loop inwards, a key has the place of the loop's head among its
// neighbours and the iteration, then the block's own place.
#ifndef CULPRIT_SPEC_ENCODE_UNROLL_FLOW_H
#define CULPRIT_SPEC_ENCODE_UNROLL_FLOW_H

#include "ir/ir.h"
#include "util/arena.h"

enum { LOOPS_MAX = 12 }; // loops around a block; deeper ones are not entered

typedef struct {
  uint32_t head;   // block
  uint32_t parent; // loop; IR_NONE: none
  uint32_t depth;  // 0: outermost
  uint32_t rounds; // most iterations that the run made at a time
} UnrollLoop;

typedef struct {
  uint32_t nblocks;
  uint32_t *order; // of each block, in reverse postorder; IR_NONE: not reached
  uint32_t *loop;  // innermost around each block; IR_NONE: none
  UnrollLoop *loops;
  uint32_t nloops;
  bool *shared;     // of each register: used in another block
  uint32_t calls;   // most activations at once in the run
  bool irreducible; // a loop with two entries: its back edge is not followed
} UnrollFlow;

// Memory: arena.
UnrollFlow *unroll_flow_new(const Program *p, uint32_t function, Arena *arena);

// The loops around a block, outermost first, at most LOOPS_MAX; how many.
uint32_t unroll_flow_loops(const UnrollFlow *f, uint32_t block, uint32_t *out);

// The edges that leave a block; 0 if it ends the function.
const IrBranch *unroll_flow_branch(const Program *p, uint32_t function,
                                   uint32_t block);
const IrInst *unroll_flow_end(const Program *p, uint32_t function,
                              uint32_t block);

#endif
