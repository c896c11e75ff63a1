// The sides of a branch that a comparison decides: see relation_edges.h.
#include "close/relation_edges.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

static LLVMValueRef only_user(LLVMValueRef v) {
  LLVMUseRef u = LLVMGetFirstUse(v);
  return u && !LLVMGetNextUse(u) ? LLVMGetUser(u) : NULL;
}

static bool is_expectation(LLVMValueRef v) {
  size_t n;
  if (!LLVMIsACallInst(v) || !LLVMIsAFunction(LLVMGetCalledValue(v)))
    return false;
  return !strncmp(LLVMGetValueName2(LLVMGetCalledValue(v), &n), "llvm.expect.",
                  12);
}

static bool is_helper(LLVMValueRef v) {
  size_t n;
  if (!LLVMIsACallInst(v) || !LLVMIsAFunction(LLVMGetCalledValue(v)))
    return false;
  return !strncmp(LLVMGetValueName2(LLVMGetCalledValue(v), &n), RELATION_HELPER,
                  sizeof RELATION_HELPER - 1);
}

static bool is_zero_test(LLVMValueRef v) {
  return LLVMIsAICmpInst(v) && LLVMIsNull(LLVMGetOperand(v, 1)) &&
         (LLVMGetICmpPredicate(v) == LLVMIntEQ ||
          LLVMGetICmpPredicate(v) == LLVMIntNE);
}

static bool is_not(LLVMValueRef v) {
  return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMXor &&
         LLVMIsAConstantInt(LLVMGetOperand(v, 1)) &&
         LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 1;
}

// Is `v` made from the truth value `from`, and true or false with it? *negated:
// it is its opposite.
static bool passes_on(LLVMValueRef v, LLVMValueRef from, bool *negated) {
  if (LLVMGetOperand(v, 0) != from)
    return false;
  if (is_zero_test(v) && LLVMGetICmpPredicate(v) == LLVMIntEQ)
    *negated = !*negated;
  if (is_not(v) && !LLVMIsNull(LLVMGetOperand(v, 1)))
    *negated = !*negated;
  return LLVMIsAZExtInst(v) || LLVMIsASExtInst(v) || is_expectation(v) ||
         is_zero_test(v) || is_not(v);
}

// Does the program always come from here to the next instruction, changing
// nothing? Counters may be stored to.
static bool is_quiet(LLVMValueRef i) {
  return LLVMIsACastInst(i) || LLVMIsAICmpInst(i) || is_not(i) ||
         is_expectation(i) || is_helper(i) || LLVMIsAGetElementPtrInst(i) ||
         LLVMIsASelectInst(i) || LLVMGetInstructionOpcode(i) == LLVMAdd ||
         LLVMGetInstructionOpcode(i) == LLVMSub ||
         LLVMGetInstructionOpcode(i) == LLVMXor ||
         (LLVMIsAStoreInst(i) &&
          LLVMGetOrdering(i) == LLVMAtomicOrderingMonotonic);
}

static bool is_reached_quietly(LLVMValueRef from, LLVMValueRef to) {
  LLVMValueRef i = LLVMGetNextInstruction(from);
  while (i && i != to && is_quiet(i))
    i = LLVMGetNextInstruction(i);
  return i == to;
}

static bool begins_with_phi(LLVMBasicBlockRef b) {
  return LLVMIsAPHINode(LLVMGetFirstInstruction(b)) != NULL;
}

bool relation_branch(LLVMValueRef compare, RelationBranch *out) {
  *out = (RelationBranch){0};
  LLVMValueRef v = compare, user;
  while ((user = only_user(v)) && !LLVMIsABranchInst(user) &&
         passes_on(user, v, &out->negated))
    v = user;
  if (!user || !LLVMIsABranchInst(user) || !is_reached_quietly(compare, user))
    return false;
  out->branch = user;
  return !begins_with_phi(LLVMGetSuccessor(user, 0)) &&
         !begins_with_phi(LLVMGetSuccessor(user, 1));
}

// Between the branch and a block that others lead to as well.
static LLVMBasicBlockRef split(LLVMBuilderRef b, LLVMValueRef branch,
                               unsigned side) {
  LLVMBasicBlockRef to = LLVMGetSuccessor(branch, side);
  LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(
      LLVMGetBasicBlockParent(LLVMGetInstructionParent(branch))));
  LLVMBasicBlockRef between = LLVMInsertBasicBlockInContext(c, to, "");
  LLVMPositionBuilderAtEnd(b, between);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(branch));
  LLVMBuildBr(b, to);
  LLVMSetCurrentDebugLocation2(b, NULL);
  LLVMSetSuccessor(branch, side, between);
  return between;
}

void relation_stand_on(LLVMBuilderRef b, const RelationBranch *r,
                       bool is_true) {
  unsigned side = is_true == r->negated;
  LLVMBasicBlockRef to = LLVMGetSuccessor(r->branch, side);
  if (!only_user(LLVMBasicBlockAsValue(to)))
    to = split(b, r->branch, side);
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(to));
}

unsigned relation_possible(LLVMValueRef compare, bool is_true) {
  unsigned set;
  switch (LLVMGetICmpPredicate(compare)) {
  case LLVMIntEQ:
    set = ORDER_EQUAL;
    break;
  case LLVMIntNE:
    set = ORDER_LESS | ORDER_GREATER;
    break;
  case LLVMIntSLT:
  case LLVMIntULT:
    set = ORDER_LESS;
    break;
  case LLVMIntSLE:
  case LLVMIntULE:
    set = ORDER_LESS | ORDER_EQUAL;
    break;
  case LLVMIntSGT:
  case LLVMIntUGT:
    set = ORDER_GREATER;
    break;
  default:
    set = ORDER_GREATER | ORDER_EQUAL;
  }
  return is_true ? set : set ^ (ORDER_LESS | ORDER_EQUAL | ORDER_GREATER);
}
