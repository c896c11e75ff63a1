// Mutants: see mutate.h. A kind is one row of the table at the end: how
// it finds what it can change in an instruction, and how it changes it.
#include "instrument/mutate.h"

#include <llvm-c/DebugInfo.h>

struct MutantKind {
  const char *name;
  // Can operand `i` of this instruction be changed? Kinds that change the whole
  // instruction say so for operand 0.
  bool (*fits)(LLVMValueRef inst, unsigned i);
  void (*apply)(LLVMValueRef inst, unsigned i);
  void (*describe)(LLVMValueRef inst, unsigned i, Str *out);
};

static LLVMOpcode opcode(LLVMValueRef inst) {
  return LLVMGetInstructionOpcode(inst);
}

// --- another operator ---------------------------------------------------------

static const struct {
  LLVMOpcode from, to;
  const char *from_text, *to_text;
} operators[] = {
    {LLVMAdd, LLVMSub, "+", "-"},    {LLVMSub, LLVMAdd, "-", "+"},
    {LLVMMul, LLVMAdd, "*", "+"},    {LLVMSDiv, LLVMMul, "/", "*"},
    {LLVMUDiv, LLVMMul, "/", "*"},   {LLVMSRem, LLVMSDiv, "%", "/"},
    {LLVMURem, LLVMUDiv, "%", "/"},  {LLVMAnd, LLVMOr, "&", "|"},
    {LLVMOr, LLVMAnd, "|", "&"},     {LLVMXor, LLVMOr, "^", "|"},
    {LLVMShl, LLVMAShr, "<<", ">>"}, {LLVMAShr, LLVMShl, ">>", "<<"},
    {LLVMLShr, LLVMShl, ">>", "<<"}, {LLVMFAdd, LLVMFSub, "+", "-"},
    {LLVMFSub, LLVMFAdd, "-", "+"},  {LLVMFMul, LLVMFAdd, "*", "+"},
    {LLVMFDiv, LLVMFMul, "/", "*"},
};
enum { NOPERATORS = sizeof operators / sizeof *operators };

static int operator_of(LLVMValueRef inst) {
  for (int k = 0; k < NOPERATORS; k++)
    if (opcode(inst) == operators[k].from)
      return k;
  return -1;
}

static bool operator_fits(LLVMValueRef inst, unsigned i) {
  return i == 0 && operator_of(inst) >= 0;
}

static void replace(LLVMValueRef inst, LLVMValueRef with) {
  LLVMReplaceAllUsesWith(inst, with);
  LLVMInstructionEraseFromParent(inst);
}

static LLVMBuilderRef builder_at(LLVMValueRef inst) {
  LLVMBuilderRef b =
      LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(inst)));
  LLVMPositionBuilderBefore(b, inst);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(inst));
  return b;
}

static void operator_apply(LLVMValueRef inst, unsigned i) {
  (void)i;
  LLVMBuilderRef b = builder_at(inst);
  LLVMValueRef other =
      LLVMBuildBinOp(b, operators[operator_of(inst)].to,
                     LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1), "");
  LLVMDisposeBuilder(b);
  replace(inst, other);
}

static void operator_describe(LLVMValueRef inst, unsigned i, Str *out) {
  (void)i;
  int k = operator_of(inst);
  str_addf(out, "%s becomes %s", operators[k].from_text, operators[k].to_text);
}

// --- another comparison -------------------------------------------------------

static const struct {
  int from, to;
  const char *from_text, *to_text;
} comparisons[] = {
    {LLVMIntSLT, LLVMIntSLE, "<", "<="}, {LLVMIntSLE, LLVMIntSLT, "<=", "<"},
    {LLVMIntSGT, LLVMIntSGE, ">", ">="}, {LLVMIntSGE, LLVMIntSGT, ">=", ">"},
    {LLVMIntULT, LLVMIntULE, "<", "<="}, {LLVMIntULE, LLVMIntULT, "<=", "<"},
    {LLVMIntUGT, LLVMIntUGE, ">", ">="}, {LLVMIntUGE, LLVMIntUGT, ">=", ">"},
    {LLVMIntEQ, LLVMIntSGE, "==", ">="}, {LLVMIntNE, LLVMIntSGT, "!=", ">"},
};
enum { NCOMPARISONS = sizeof comparisons / sizeof *comparisons };

static int comparison_of(LLVMValueRef inst) {
  if (opcode(inst) != LLVMICmp)
    return -1;
  // A pointer compared with null, or a truth value, has no neighbours.
  LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(inst, 0));
  if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
      LLVMGetIntTypeWidth(type) == 1)
    return -1;
  for (int k = 0; k < NCOMPARISONS; k++)
    if ((int)LLVMGetICmpPredicate(inst) == comparisons[k].from)
      return k;
  return -1;
}

static bool comparison_fits(LLVMValueRef inst, unsigned i) {
  return i == 0 && comparison_of(inst) >= 0;
}

static void comparison_apply(LLVMValueRef inst, unsigned i) {
  (void)i;
  LLVMBuilderRef b = builder_at(inst);
  LLVMValueRef other =
      LLVMBuildICmp(b, (LLVMIntPredicate)comparisons[comparison_of(inst)].to,
                    LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1), "");
  LLVMDisposeBuilder(b);
  replace(inst, other);
}

static void comparison_describe(LLVMValueRef inst, unsigned i, Str *out) {
  (void)i;
  int k = comparison_of(inst);
  str_addf(out, "%s becomes %s", comparisons[k].from_text,
           comparisons[k].to_text);
}

// --- branches -----------------------------------------------------------------

static bool branch_fits(LLVMValueRef inst, unsigned i) {
  return i == 0 && opcode(inst) == LLVMBr && LLVMIsConditional(inst);
}

static void negate_apply(LLVMValueRef inst, unsigned i) {
  (void)i;
  LLVMBasicBlockRef yes = LLVMGetSuccessor(inst, 0);
  LLVMBasicBlockRef no = LLVMGetSuccessor(inst, 1);
  LLVMSetSuccessor(inst, 0, no);
  LLVMSetSuccessor(inst, 1, yes);
}

static void negate_describe(LLVMValueRef inst, unsigned i, Str *out) {
  (void)inst, (void)i;
  str_add(out, "the condition is negated");
}

static void wrong_branch_apply(LLVMValueRef inst, unsigned i) {
  (void)i;
  LLVMSetCondition(inst, LLVMConstNull(LLVMTypeOf(LLVMGetCondition(inst))));
}

static void wrong_branch_describe(LLVMValueRef inst, unsigned i, Str *out) {
  (void)inst, (void)i;
  str_add(out, "the condition is always false");
}

// --- constants ----------------------------------------------------------------

// Not the constants of addresses, allocations and intrinsics: no programmer
// wrote those.
static bool constant_fits(LLVMValueRef inst, unsigned i) {
  LLVMOpcode op = opcode(inst);
  bool arithmetic = operator_of(inst) >= 0 || op == LLVMICmp;
  bool store = op == LLVMStore && i == 0;
  bool argument = op == LLVMCall && i < LLVMGetNumArgOperands(inst) &&
                  LLVMIsAFunction(LLVMGetCalledValue(inst)) &&
                  !LLVMGetIntrinsicID(LLVMGetCalledValue(inst));
  if (!arithmetic && !store && !argument)
    return false;
  LLVMValueRef v = LLVMGetOperand(inst, i);
  return LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 1 &&
         LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64;
}

static void constant_apply(LLVMValueRef inst, unsigned i) {
  LLVMValueRef v = LLVMGetOperand(inst, i);
  unsigned long long n = (unsigned long long)LLVMConstIntGetSExtValue(v) + 1;
  LLVMSetOperand(inst, i, LLVMConstInt(LLVMTypeOf(v), n, true));
}

static void constant_describe(LLVMValueRef inst, unsigned i, Str *out) {
  long long n = LLVMConstIntGetSExtValue(LLVMGetOperand(inst, i));
  str_addf(out, "%lld becomes %lld", n, n + 1);
}

// --- things left out ----------------------------------------------------------

static bool delete_store_fits(LLVMValueRef inst, unsigned i) {
  return i == 0 && opcode(inst) == LLVMStore;
}

static bool delete_call_fits(LLVMValueRef inst, unsigned i) {
  return i == 0 && opcode(inst) == LLVMCall && !LLVMGetFirstUse(inst) &&
         !LLVMIsAInlineAsm(LLVMGetCalledValue(inst)) &&
         !(LLVMIsAFunction(LLVMGetCalledValue(inst)) &&
           LLVMGetIntrinsicID(LLVMGetCalledValue(inst))) &&
         !LLVMIsAUnreachableInst(LLVMGetNextInstruction(inst));
}

static void delete_apply(LLVMValueRef inst, unsigned i) {
  (void)i;
  LLVMInstructionEraseFromParent(inst);
}

static void delete_store_describe(LLVMValueRef inst, unsigned i, Str *out) {
  (void)inst, (void)i;
  str_add(out, "the assignment is left out");
}

static void delete_call_describe(LLVMValueRef inst, unsigned i, Str *out) {
  (void)i;
  size_t n;
  str_addf(out, "the call of %s is left out",
           LLVMGetValueName2(LLVMGetCalledValue(inst), &n));
}

// --- arguments ----------------------------------------------------------------

static bool swap_fits(LLVMValueRef inst, unsigned i) {
  if (opcode(inst) != LLVMCall || i + 1 >= LLVMGetNumArgOperands(inst) ||
      !LLVMIsAFunction(LLVMGetCalledValue(inst)) ||
      LLVMGetIntrinsicID(LLVMGetCalledValue(inst)))
    return false;
  LLVMValueRef a = LLVMGetOperand(inst, i), b = LLVMGetOperand(inst, i + 1);
  return a != b && LLVMTypeOf(a) == LLVMTypeOf(b);
}

static void swap_apply(LLVMValueRef inst, unsigned i) {
  LLVMValueRef a = LLVMGetOperand(inst, i), b = LLVMGetOperand(inst, i + 1);
  LLVMSetOperand(inst, i, b);
  LLVMSetOperand(inst, i + 1, a);
}

static void swap_describe(LLVMValueRef inst, unsigned i, Str *out) {
  (void)inst;
  str_addf(out, "arguments %u and %u are swapped", i + 1, i + 2);
}

// --- all kinds ----------------------------------------------------------------

static const MutantKind kinds[] = {
    {"operator", operator_fits, operator_apply, operator_describe},
    {"comparison", comparison_fits, comparison_apply, comparison_describe},
    {"negate", branch_fits, negate_apply, negate_describe},
    {"wrong-branch", branch_fits, wrong_branch_apply, wrong_branch_describe},
    {"constant", constant_fits, constant_apply, constant_describe},
    {"delete-store", delete_store_fits, delete_apply, delete_store_describe},
    {"delete-call", delete_call_fits, delete_apply, delete_call_describe},
    {"swap-arguments", swap_fits, swap_apply, swap_describe},
};
enum { NKINDS = sizeof kinds / sizeof *kinds };

static void find_in(Plan *p, LLVMValueRef inst, Mutants *out) {
  Place place;
  if (!place_of_statement(p, inst, &place))
    return;
  int n = LLVMGetNumOperands(inst);
  for (int k = 0; k < NKINDS; k++)
    for (int i = 0; i < (n ? n : 1); i++)
      if (kinds[k].fits(inst, (unsigned)i))
        array_push(out, (Mutant){inst, &kinds[k], (unsigned)i, place});
}

void mutants_find(Plan *p, LLVMModuleRef module, Mutants *out) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && plan_covers(f);
         b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
           i = LLVMGetNextInstruction(i))
        find_in(p, i, out);
}

void mutants_list(const Plan *p, const Mutants *mutants, Str *out) {
  for (size_t n = 0; n < mutants->len; n++) {
    const Mutant *m = &mutants->items[n];
    str_addf(out, "%zu\t%s\t%u\t%u\t%s\t", n,
             p->sources.items[m->place.source].path, m->place.line,
             m->place.col_lo, m->kind->name);
    m->kind->describe(m->inst, m->operand, out);
    str_addc(out, '\n');
  }
}

void mutant_apply(const Mutant *m) { m->kind->apply(m->inst, m->operand); }
