// Plans the instrumentation of one translation unit: which entities it has,
// which counters there are, where each is counted, and which counters stand for
// which entity. Changes nothing in the module.
//
// The plan is a pure function of the bitcode it is given: clang's output with
// critical edges split, before promotion to SSA, so that `x = 0;` still is a
// store with a line. The same bitcode is embedded in the object file; every
// later build from it (counts, trace, mutants) has the same entities.
//
//   if (a) x = f(b);      counters: 0 the then block, 1 the else edge
//   y = g(x);                       2 the block after the if: f might not
//   z = 1;                            return, so it does not follow from 0
//                                   3 line `z = 1`: g might not return
//   the first block needs none: it was hit if 0 or 1 was
//
// Fewest counters: a block with several successors and nothing in it that can
// trap or leave takes the sum of its successors; a join whose predecessors
// cannot trap or leave after they were counted takes the sum of those.
#ifndef CULPRIT_PLAN_PLAN_H
#define CULPRIT_PLAN_PLAN_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "model/entity.h"
#include "program/map.h"
#include "source/source_text.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"

typedef struct {
  LLVMValueRef before; // the instruction to count in front of
  uint32_t counter;
} Probe;

// Counts the class of the value `call` returned, at counter `first` plus 0 for
// a negative, 1 a zero, null or false, 2 any other, 3 a NaN; and at plus 4 that
// the value differs from that of the call before.
typedef struct {
  LLVMValueRef call;
  uint32_t first;
  ResultType type;
} ResultProbe;
enum { RESULT_COUNTERS = 5, RESULT_CHANGED = 4 };

// Counts the outcome of a condition that is computed but not branched on (`?:`
// over plain values, the last operand of `x = a && b`): at counter `first` plus 0
// or 1, in front of the instruction `before`.
typedef struct {
  LLVMValueRef condition, before;
  uint32_t first;
} ValueProbe;

// Which entities an instruction stands for: a terminator for its block and for
// the outcomes of its condition (one entity per successor, in order), a call for
// the classes of its result.
typedef enum { MARK_BLOCK, MARK_CONDITION, MARK_CALL } MarkKind;
typedef struct {
  LLVMValueRef inst;
  MarkKind kind;
  uint32_t first, n; // entities
  uint32_t site;     // MARK_CALL: number of the call site
} Mark;

// OLD=NEW, as given to -ffile-prefix-map: where debug information names NEW, the
// file lies at OLD.
typedef ARRAY(const char *) PrefixMaps;

typedef struct {
  const PrefixMaps *maps; // NULL: none
  UnitId id;
  const char *name;
  ARRAY(Source) sources;
  ARRAY(SourceText) texts; // parallel to sources
  ARRAY(Entity) entities;
  ARRAY(uint32_t) first_ref; // of entity i; one more at the end
  ARRAY(uint32_t) refs;
  ARRAY(CallSite) calls;
  ARRAY(VariableDefiners) definers; // their statements lie in the arena
  ARRAY(VariableUse) uses;
  ARRAY(UseSite) use_sites; // as definers
  ARRAY(Probe) probes;
  ARRAY(ResultProbe) results;
  ARRAY(ValueProbe) values;
  ARRAY(Standing) standings;
  bool marking; // fill `marks`
  ARRAY(Mark) marks;
  uint32_t ncounters;
  Hashmap files; // DIFile -> source
  Hashmap paths; // path -> source
  Arena arena;
} Plan;

// `returns`: also plan counters for the classes of returned values.
void plan_module(Plan *p, LLVMModuleRef module, bool returns);
void plan_release(Plan *p);

// Has the function entities? Functions without debug information have no place
// in the source; naked ones take no code of ours; noprofile is the user's own
// wish, and marks what checks contracts.
bool plan_covers(LLVMValueRef function);

#endif
