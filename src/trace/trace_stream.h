// The code that a trace build adds, in its smallest pieces: appending to the
// stream through a cursor, looking whether there is room, handing the cursor to
// calls and back. trace_insert.c decides where they go.
//
//   stream_stand_before(t, inst);             // code goes here from now on
//   stream_append_value(t, value, 0);         // what the instruction gave
//   stream_flush(t, true);                    // seen even if the block crashes
#ifndef CULPRIT_TRACE_TRACE_STREAM_H
#define CULPRIT_TRACE_TRACE_STREAM_H

#include <llvm-c/Core.h>

#include "trace/trace_insert.h"
#include "util/hashmap.h"

typedef struct {
  TraceCode *code;
  const TraceOptions *options;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef i8, i32, i64, ptr;
  LLVMValueRef header, check;
  LLVMTypeRef check_type, threads_type;
  // For loops that may be unrecorded: as `check`, if not; append 1, 2, 4 or 8
  // bytes, if not; store the cursor, if not.
  LLVMValueRef check_unless, note[4], flush_unless;
  LLVMValueRef ours; // scope: the stream
  unsigned alias_scope, noalias;
  // of the function at hand
  LLVMMetadataRef place;
  LLVMValueRef cursor;     // local variable
  LLVMValueRef was;        // outside? when it was entered; NULL: never
  Hashmap unrecorded;      // head of a loop -> i1
  LLVMValueRef accesses;   // local variable: TraceAccess[]
  LLVMValueRef answer;     // local variable: of the recorder
  LLVMBasicBlockRef noted; // of the block at hand: something was, in this loop
  uint32_t unchecked;      // bytes since the last look at the limit
  bool owed; // a function of ours returned: look before more is appended
  bool told; // the header has the cursor; so it is where a block begins
} Inserter;

// Types, the stream's header, and the functions that are inlined into all code.
void stream_open(Inserter *t);

void stream_stand_before(Inserter *t, LLVMValueRef inst);
LLVMValueRef stream_number(const Inserter *t, uint64_t v);
// `n` bytes behind p.
LLVMValueRef stream_beyond(const Inserter *t, LLVMValueRef p, uint64_t n);
// A function of the recorder.
LLVMValueRef stream_declare(Inserter *t, const char *name, LLVMTypeRef type);

// --- the cursor
LLVMValueRef stream_get_cursor(const Inserter *t);
void stream_set_cursor(const Inserter *t, LLVMValueRef v);
void stream_look_at_limit(Inserter *t);
// Stores it for others; `visible`: even if the program dies right behind.
void stream_flush(Inserter *t, bool visible);
// Takes it back from others.
void stream_reload(Inserter *t);

// --- appending
// A value of a whole number of bytes.
void stream_append(Inserter *t, LLVMValueRef v, uint32_t size);
// All scalars of a value; each takes `bytes` (0: as many as it needs).
void stream_append_value(Inserter *t, LLVMValueRef v, uint32_t bytes);

// --- what the recorder must know
// Memory is not what the stream says any more (runtime/trace_seen.h).
void stream_count_change(Inserter *t, LLVMValueRef by);
// Was the function at hand called from outside? i32.
LLVMValueRef stream_outside(Inserter *t);
void stream_set_outside(Inserter *t, LLVMValueRef v);

// --- loops that may be unrecorded
// NULL: the block is not the head of such a loop; else an i1.
LLVMValueRef stream_is_unrecorded(const Inserter *t, LLVMBasicBlockRef head);
// Calls check_unless, flush_unless, ...; `more` may be NULL.
void stream_call_unless(Inserter *t, LLVMValueRef f, LLVMValueRef unrecorded,
                        LLVMValueRef more);
// What the load gave, if the loop is recorded.
void stream_note(Inserter *t, LLVMValueRef load, LLVMValueRef unrecorded);

#endif
