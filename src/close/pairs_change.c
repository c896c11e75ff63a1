// Stores that leave the value that was there: see pairs_change.h.
#include "close/pairs_change.h"

#include <llvm-c/DebugInfo.h>

// --- where ------------------------------------------------------------------

static bool is_number_but_zero(LLVMValueRef v) {
  return LLVMIsAConstantInt(v) && !LLVMIsNull(v);
}

static bool is_sum(LLVMValueRef v) {
  return LLVMIsABinaryOperator(v) && (LLVMGetInstructionOpcode(v) == LLVMAdd ||
                                      LLVMGetInstructionOpcode(v) == LLVMSub);
}

// i++, i -= 2
static bool is_always_another(LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0);
  if (!is_sum(value) || !is_number_but_zero(LLVMGetOperand(value, 1)))
    return false;
  LLVMValueRef old = LLVMGetOperand(value, 0);
  return LLVMIsALoadInst(old) &&
         LLVMGetOperand(old, 0) == LLVMGetOperand(store, 1);
}

bool pairs_may_change(const CloseUnit *u, LLVMValueRef store) {
  LLVMValueRef object = pairs_object(LLVMGetOperand(store, 1));
  if (is_always_another(store))
    return false;
  if (!LLVMIsAAllocaInst(object))
    return true;
  unsigned line = close_unit_declared(u, object);
  return line && line != LLVMGetDebugLocLine(store);
}

// --- code -------------------------------------------------------------------

static LLVMValueRef has_value(Pairs *p, LLVMValueRef at) {
  LLVMValueRef bit = LLVMConstInt(LLVMInt1TypeInContext(p->context), 1, false);
  if (LLVMIsAGlobalVariable(pairs_object(at)))
    return bit;
  return LLVMBuildICmp(p->builder, LLVMIntNE, pairs_known_definition(p, at),
                       pairs_none(p), "");
}

// Nobody may have set it: any value will do then.
static LLVMValueRef old_value(Pairs *p, LLVMTypeRef type, LLVMValueRef at) {
  LLVMValueRef old = LLVMBuildLoad2(p->builder, type, at, "");
  LLVMSetMetadata(old, LLVMGetMDKindIDInContext(p->context, "nosanitize", 10),
                  LLVMMetadataAsValue(
                      p->context, LLVMMDNodeInContext2(p->context, NULL, 0)));
  return LLVMBuildFreeze(p->builder, old, "");
}

void pairs_insert_change(Pairs *p, LLVMValueRef store) {
  enum { NO_OUTCOME = 2 }; // a counter that nobody reads
  uint64_t first;
  if (!hashmap_get(&p->changes, &store, sizeof store, &first))
    return;
  LLVMValueRef value = LLVMGetOperand(store, 0), at = LLVMGetOperand(store, 1);
  LLVMValueRef known = has_value(p, at);
  LLVMValueRef other = LLVMBuildICmp(
      p->builder, LLVMIntNE, old_value(p, LLVMTypeOf(value), at), value, "");
  LLVMValueRef number = LLVMBuildSelect(
      p->builder, known, LLVMBuildZExt(p->builder, other, p->i64, ""),
      pairs_number(p, NO_OUTCOME), "");
  close_unit_hit(p->unit, p->builder, (uint32_t)first, number);
}
