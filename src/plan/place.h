// Where an instruction stands in the source, and whether it is a statement
// there.
//
// A statement is the line of an instruction that does something. None are: the
// closing brace (implicit return, end of a loop body), and jumps that belong to
// the head of a loop or an if. `break;`, `continue;`, `goto x;` are.
#ifndef CULPRIT_PLAN_PLACE_H
#define CULPRIT_PLAN_PLACE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"

typedef struct {
  uint32_t source, line;
  uint32_t col_lo, col_hi;
} Place;

// The source of a DIFile, registered in the plan when first seen.
uint32_t place_source(Plan *p, LLVMMetadataRef file);

// False if the instruction has no line.
bool place_of(Plan *p, LLVMValueRef inst, Place *out);

// The source text from that place on.
const char *place_text(const Plan *p, const Place *place);

// The place of the statement this instruction belongs to, if it is one.
bool place_of_statement(Plan *p, LLVMValueRef inst, Place *out);

bool is_debug_call(LLVMValueRef inst);

// Operand k of a metadata node; NULL: it has none, or an empty one.
LLVMValueRef metadata_part(LLVMValueRef node, int k);

#endif
