// What the other outcome of a branch would have written: stores that were
// skipped. A value that is used later depends on the branch if the branch could
// have changed it, though nothing was executed that did (a potential
// dependence; Gyimothy, Beszedes and Forgacs 1999, "An efficient relevant
// slicing method for debugging").
//
//   if (suffix == 'u') end--;     was false: `end` depends on the condition
//
// For every edge of a branch the stores and calls between it and the branch's
// join are known beforehand. When another edge is taken, the address of each
// such store is computed from what the registers and the memory hold now; one
// that cannot be, or that depends on what would have been computed meanwhile,
// is left out. Calls are entered, CALLS_DEEP deep.
#ifndef CULPRIT_LOOK_SKIPPED_H
#define CULPRIT_LOOK_SKIPPED_H

#include "ir/control.h"
#include "near/watch_memory.h"
#include "util/array.h"
#include "util/bitset.h"

// Instructions from `first` on in SkippedCode.insts.
typedef struct {
  uint32_t first, n;
} SkippedRange;

typedef struct {
  const Program *program;
  ARRAY(uint32_t) insts;   // stores and calls, in Program.insts
  SkippedRange *edges;     // of each edge
  SkippedRange *functions; // of each function: of all its blocks
  uint32_t *first_reg;     // of each function: in defs
  ARRAY(uint32_t) defs;    // of each register: instruction; IR_NONE: none
  ARRAY(uint32_t)
  home_of;         // of each register: it is the address of the
                   // variable that holds this parameter
  uint64_t budget; // stores to be looked at still
} SkippedCode;

void skipped_init(SkippedCode *s, const Control *c);
void skipped_release(SkippedCode *s);

// Is told where a store would have written.
typedef void SkippedStore(void *context, uint64_t at, unsigned n);

// A branch of `function`, whose registers are `regs`, took `edge` (in
// Program.edges, as `first` to `first + n - 1` are all edges of the branch).
void skipped_find(SkippedCode *s, WatchMemory *memory, uint32_t function,
                  const uint64_t *regs, uint32_t first, uint32_t n,
                  uint32_t edge, SkippedStore *found, void *context);

#endif
