// The form of a unit's code that the trace build and the lowered IR share, and
// what of it a trace records. Both start from the bitcode embedded in the
// program; both bring it into this form first; then one adds the recording
// (trace_insert.h) and the other writes the code down (lower.h). What the one
// records at an instruction, the other says is to be read there.
//
// Normal form: locals promoted to SSA where possible, no critical edges (as in
// the bitcode), no undefined values (they are 0), no assumptions about overflow
// (arithmetic wraps, shift counts are taken modulo the width), static allocas
// at the start of the function, bodies of `extern inline` functions dropped.
//
// A value is a list of scalars: the fields of a struct, the elements of an
// array, else itself. A scalar has a width of 1 to 64 bits; or it is opaque,
// width 0 (long double, __int128, vectors): opaque ones are neither recorded
// nor computed, and what is derived from them is recorded.
#ifndef CULPRIT_TRACE_TRACE_CODE_H
#define CULPRIT_TRACE_TRACE_CODE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"
#include "trace/trace_loops.h"
#include "util/array.h"
#include "util/err.h"
#include "util/hashmap.h"

typedef struct {
  uint32_t width;  // bits; 0: opaque
  uint32_t size;   // bytes it takes in memory
  uint64_t offset; // in the whole
  bool fp;
  LLVMTypeRef type;
} Scalar;
typedef ARRAY(Scalar) Scalars;

// What a trace records at an instruction.
typedef enum {
  SITE_NONE,
  SITE_VALUE,   // its scalars
  SITE_ALLOCA,  // its address
  SITE_INSIDE,  // nothing: a call of an instrumented function
  SITE_OUTSIDE, // a call that may leave the instrumented code
  SITE_VA_START // the va_list
} TraceSite;

typedef struct TraceCode {
  LLVMModuleRef module;
  LLVMTargetDataRef layout;
  TraceLoops loops; // whose loads need not be recorded
  Hashmap inside;   // names of the instrumented functions of the whole program
  ARRAY(LLVMValueRef) constants; // known when the program runs: addresses
  Hashmap constant_numbers;
  ARRAY(LLVMValueRef) functions; // instrumented, in order
} TraceCode;

// Brings the module into normal form and fills `c`. `defined`: file with the
// names of all instrumented functions of the program, one a line (NULL: only
// those of this module). `promote` false: without promotion, as in the plain
// form below, but with constants of its own.
int trace_code_init(TraceCode *c, LLVMModuleRef m, bool promote,
                    const char *defined, Err *err);
// Functions and constants of the module as it is, without bringing it into any
// form: the same numbers in every build of the unit.
void trace_code_collect(TraceCode *c, LLVMModuleRef m);
// The normal form without promotion: each variable of the source is an alloca,
// each assignment a store. Constants are those of trace_code_collect.
void trace_code_init_plain(TraceCode *c, LLVMModuleRef m);
void trace_code_release(TraceCode *c);

// Is the function instrumented?
bool trace_code_has(const TraceCode *c, LLVMValueRef function);
// May it be called from outside, or through a pointer?
bool trace_code_is_exposed(LLVMValueRef function);

TraceSite trace_code_site(const TraceCode *c, LLVMValueRef inst);
// The intrinsic's name without its types ("llvm.memcpy"), "" if it is not a
// call of one.
const char *trace_code_intrinsic(LLVMValueRef inst);
// Does it do nothing that matters to a replay?
bool trace_code_is_nothing(LLVMValueRef inst);

void trace_code_scalars(const TraceCode *c, LLVMTypeRef type, Scalars *out);
// Bytes a recorded scalar takes in the stream.
uint32_t trace_code_bytes(const Scalar *s);

// The value of link-time constant `i` as an i64; 0 if it is no 64 bits wide
// (lower.c refuses to use such).
LLVMValueRef trace_code_number(const TraceCode *c, size_t i);

// The number of a link-time constant; UINT32_MAX: it is none.
uint32_t trace_code_constant(const TraceCode *c, LLVMValueRef v);

#endif
