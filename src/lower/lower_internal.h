// What the two halves of lowering share: lower.c makes the tables, lower_inst.c
// the instructions.
#ifndef CULPRIT_LOWER_LOWER_INTERNAL_H
#define CULPRIT_LOWER_LOWER_INTERNAL_H

#include "ir/ir.h"
#include "lower/lower.h"

typedef struct {
  const TraceCode *code;
  Plan *plan;
  Program out; // one unit's arrays
  Hashmap names, symbols, constants, places;
  Hashmap functions; // LLVM function -> number
  Hashmap variables; // of the source -> first entry
  LLVMMetadataRef no_expression;
  // of the function at hand
  LLVMValueRef function;
  Hashmap regs;   // value -> its first register
  Hashmap blocks; // LLVM block -> number within the function
  Hashmap ranges; // block before a loop -> register: is the loop unrecorded?
  uint32_t nregs, first_block;
  uint32_t place;
  const char *refused; // a constant that cannot be lowered
} Lowerer;

// Marks as metadata of instructions: kind "culprit.block" and so on.
extern const char *const lower_mark_names[3];
bool lower_get_mark(LLVMValueRef inst, MarkKind kind, Mark *out);

uint32_t lower_name(Lowerer *l, const char *text, size_t n);
uint32_t lower_symbol(Lowerer *l, const char *name, size_t n);
uint32_t lower_number(Lowerer *l, uint64_t value); // a constant operand
uint32_t lower_link(Lowerer *l, uint32_t link);
// The operand for scalar `k` of a value.
uint32_t lower_operand(Lowerer *l, LLVMValueRef v, uint32_t k);
uint32_t lower_first_reg(Lowerer *l, LLVMValueRef v);
uint32_t lower_new_reg(Lowerer *l);
uint8_t lower_kind(const Scalar *s); // IR_FP, IR_POINTER, or 0

void lower_block(Lowerer *l, LLVMBasicBlockRef b);

// --- lower_variable.c
// What a debug intrinsic says about a variable of the source holds for the
// instruction that is emitted next. Others are ignored.
void lower_variable(Lowerer *l, LLVMValueRef inst);

#endif
