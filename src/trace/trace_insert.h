// Adds the recording of a trace to a module in normal form (trace_code.h): see
// runtime/trace_format.h for what is recorded, docs/internals/trace.md for why it is so
// little.
//
// The stream is appended to through a cursor that lives in a register within a
// function and in memory across calls. Whether there is room is asked at
// function entries, loop heads and behind calls; in between at most TRACE_SLACK
// bytes are written. At the end of every block that recorded something the
// cursor is stored, so that a crash leaves it behind by less than a block.
#ifndef CULPRIT_TRACE_TRACE_INSERT_H
#define CULPRIT_TRACE_TRACE_INSERT_H

#include "trace/trace_code.h"

typedef struct {
  UnitId id;
  uint32_t number; // of the unit in the program
  bool check;      // record every block as well: ground truth for tests
} TraceOptions;

// Fails if LLVM does.
int trace_insert(TraceCode *c, const TraceOptions *o, Err *err);

#endif
