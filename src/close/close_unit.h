// One translation unit of a close build: what is recorded in it, and where.
//
// The close build is made on demand from the bitcode that a program carries, to
// look closely at the runs that matter. Its map has the functions and statements
// of the normal build, relations (relations.h), and no blocks, edges or
// conditions. A statement has one counter, its site: nothing counts there, but
// the address of the site stands for the statement in definition-use pairs
// (pairs.h). A relation has one counter per outcome, and a use of a variable one
// per definition, stored 1 when it is seen.
#ifndef CULPRIT_CLOSE_CLOSE_UNIT_H
#define CULPRIT_CLOSE_CLOSE_UNIT_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "plan/plan.h"
#include "util/hashmap.h"

typedef struct {
  LLVMModuleRef module;
  Plan *plan;            // of the close build
  Hashmap statements;    // (source, line) -> entity
  Hashmap variables;     // alloca -> name of the variable, in the plan's arena
  Hashmap declared;      // alloca -> the line that declares the variable
  LLVMValueRef counters; // stands for the unit's array until all are planned
} CloseUnit;

// Keeps only functions and statements of a plan, each statement with its site,
// and gives it the id of the unit's close build.
void close_unit_init(CloseUnit *u, LLVMModuleRef module, Plan *plan);
void close_unit_release(CloseUnit *u);

// Adds the counters and the map to the module, once all are planned.
void close_unit_finish(CloseUnit *u);

// The address of a counter: a constant.
LLVMValueRef close_unit_counter(const CloseUnit *u, uint32_t counter);
// Stores 1 in the counter that follows `first` by `number`, an i64.
void close_unit_hit(const CloseUnit *u, LLVMBuilderRef b, uint32_t first,
                    LLVMValueRef number);

// The statement that the instruction belongs to; ENTITY_NONE: none.
uint32_t close_unit_statement(CloseUnit *u, LLVMValueRef inst);
// The counter that is its site.
uint32_t close_unit_site(const CloseUnit *u, uint32_t statement);

// The name of the variable at this address; NULL: it is not a variable's.
const char *close_unit_variable(const CloseUnit *u, LLVMValueRef address);
// The line that declares a local variable; 0: it is none.
unsigned close_unit_declared(const CloseUnit *u, LLVMValueRef alloca);

#endif
