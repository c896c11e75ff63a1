// Counted loops over arrays, whose loads a trace need not record one by one:
//
//   for (int k = 0; k < n; k++)
//     sum += a[i][k] * b[k][j];
//
// How often it goes round and where its loads begin, go on and end is known
// before it starts. So the recorder is asked there (SITE_VALUE of 1 bit at the
// end of the block before): it makes sure that the stream has had the memory
// the loop is going to read, and says so; then the loop runs unrecorded, and as
// fast as ever. If it says no, loads are recorded as everywhere else.
//
// Such a loop is innermost, has one way in, one way back and one way out, at
// its head, where something that grows by a constant is compared with something
// that stays. It calls nothing. A load belongs to it if its address is a sum of
// multiples of such counters and of what stays. Loads from an address that
// stays may give what stays, if the loop stores no integers or pointers.
#ifndef CULPRIT_TRACE_TRACE_LOOPS_H
#define CULPRIT_TRACE_TRACE_LOOPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/array.h"
#include "util/hashmap.h"

struct TraceCode;

typedef struct {
  LLVMBasicBlockRef before, head;
  Hashmap blocks;       // of the loop
  LLVMValueRef compare; // icmp that decides
  bool turned;          // its second operand is the one that moves
  bool stays_if;        // its outcome that goes on
  bool stores_words;    // integers or pointers are stored
  bool mixed;           // something else in it is recorded
  int64_t step;         // of what is compared
  ARRAY(LLVMValueRef) loads;
} TraceLoop;

typedef struct {
  ARRAY(TraceLoop) items;
  Hashmap by_load, by_before, by_head; // value or block -> number
} TraceLoops;

void trace_loops_find(TraceLoops *l, const struct TraceCode *c,
                      LLVMValueRef function);
void trace_loops_release(TraceLoops *l);

// NULL: it is none of them.
const TraceLoop *trace_loops_of_load(const TraceLoops *l, LLVMValueRef load);
const TraceLoop *trace_loops_behind(const TraceLoops *l, LLVMBasicBlockRef b);
const TraceLoop *trace_loops_at(const TraceLoops *l, LLVMBasicBlockRef head);

// --- code, at the builder's place, which is in front of the loop. i64 each.
// How often the loop will go round; less than 1: not at all, or not known.
LLVMValueRef trace_loop_count(const TraceLoop *l, LLVMBuilderRef b);
// What `v` (a load's address) will be in round `round` (NULL: the first).
LLVMValueRef trace_loop_value(const TraceLoop *l, LLVMBuilderRef b,
                              LLVMValueRef v, LLVMValueRef round);

#endif
