// Static control dependence over the lowered IR: for every block its immediate
// post-dominator, here called its join.
//
//   0: if (a)  1: x();  2: y();      join of 0 is 2, of 1 is 2, of 2 is none
//
// A branch decides what is executed up to its join, and nothing after it.
// Cooper, Harvey and Kennedy 2001, "A simple, fast dominance algorithm", on the
// reversed graph.
//
// Blocks from which no path leads to the end (endless loops) count as exits, so
// that every block has a place in the tree.
//
// A loop is closed by an edge back to a block on the current depth-first path,
// and consists of everything that reaches that edge without passing the block.
// For code without jumps into loops these are the natural loops.
#ifndef CULPRIT_IR_CONTROL_H
#define CULPRIT_IR_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"

typedef struct {
  const Program *program;
  uint32_t *join;      // of each block, in Program.blocks; IR_NONE: the end
  bool *entry;         // of each block: is it its function's first?
  uint32_t *block_of;  // of each branch: its block
  uint32_t *branch_of; // of each edge: its branch
  uint32_t *way;       // of each edge: its branch's first to the same code
  bool *leaves;        // of each edge: it leads out of the innermost loop that
                       // its branch stands in
} Control;

// The program must outlive it.
void control_init(Control *c, const Program *p);
void control_release(Control *c);

// What taking `to` instead of `from`, edges of one branch, does to the loop
// that it stands in.
typedef enum { LOOP_SAME, LOOP_FEWER, LOOP_MORE } LoopChange;
LoopChange control_loop_change(const Control *c, uint32_t from, uint32_t to);

// Source and line of a branch; "" if unknown.
const char *control_place(const Control *c, uint32_t branch, uint32_t *line);

#endif
