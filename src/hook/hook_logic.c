// && and ||: see hook_logic.h.
#include "hook/hook_logic.h"

#include <llvm-c/DebugInfo.h>

#include "plan/place.h"

// Which successor of the first branch leads to X, and what the second operand
// decides.
typedef struct {
  unsigned x;
  LLVMValueRef second; // a branch or a phi
  unsigned incoming;   // of the phi
  bool there;          // which of its values leads to X
} Shape;

// Edges were split: where a block that does nothing but jump leads to. `from`:
// the last block on the way there.
static LLVMBasicBlockRef target(LLVMBasicBlockRef from, LLVMBasicBlockRef to,
                                LLVMBasicBlockRef *last) {
  enum { FAR = 8 };
  *last = from;
  for (int i = 0; i < FAR; i++) {
    LLVMValueRef end = LLVMGetFirstInstruction(to);
    if (!LLVMIsABranchInst(end) || LLVMIsConditional(end))
      break;
    *last = to;
    to = LLVMGetSuccessor(end, 0);
  }
  return to;
}

// Where a successor of a branch leads to.
static LLVMBasicBlockRef leads_to(LLVMValueRef branch, unsigned successor,
                                  LLVMBasicBlockRef *last) {
  return target(LLVMGetInstructionParent(branch),
                LLVMGetSuccessor(branch, successor), last);
}

static bool has_one_predecessor(LLVMBasicBlockRef b) {
  LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(b));
  return use && !LLVMGetNextUse(use);
}

// The phi of X to which the first operand gives a constant, the second a value.
static bool find_phi(LLVMBasicBlockRef x, LLVMBasicBlockRef first,
                     LLVMBasicBlockRef second, Shape *out) {
  LLVMValueRef phi = LLVMGetFirstInstruction(x), constant = NULL, value = NULL;
  if (!LLVMIsAPHINode(phi) ||
      LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind ||
      LLVMGetIntTypeWidth(LLVMTypeOf(phi)) != 1)
    return false;
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    LLVMValueRef v = LLVMGetIncomingValue(phi, i);
    if (LLVMGetIncomingBlock(phi, i) == first && LLVMIsAConstantInt(v))
      constant = v;
    if (LLVMGetIncomingBlock(phi, i) == second && !LLVMIsConstant(v)) {
      value = v;
      out->incoming = i;
    }
  }
  out->second = phi;
  out->there = constant && LLVMConstIntGetZExtValue(constant);
  return constant && value;
}

static bool find_shape(LLVMValueRef branch, unsigned x, Shape *out) {
  LLVMBasicBlockRef first, second;
  LLVMBasicBlockRef to = leads_to(branch, x, &first);
  LLVMBasicBlockRef rest = LLVMGetSuccessor(branch, 1 - x);
  LLVMValueRef end = LLVMGetBasicBlockTerminator(rest);
  if (rest == to || !has_one_predecessor(rest) || !LLVMIsABranchInst(end))
    return false;
  *out = (Shape){.x = x, .second = end};
  if (!LLVMIsConditional(end))
    return leads_to(end, 0, &second) == to && find_phi(to, first, second, out);
  out->there = leads_to(end, 0, &second) == to;
  return !LLVMIsConstant(LLVMGetCondition(end)) &&
         out->there != (leads_to(end, 1, &second) == to);
}

void hook_logic_find(HookSites *out, Plan *plan, LLVMValueRef branch,
                     const char *function) {
  Shape shape;
  Place place;
  Extent operand;
  if (!LLVMIsConditional(branch) ||
      (!find_shape(branch, 0, &shape) && !find_shape(branch, 1, &shape)))
    return;
  LLVMValueRef condition = LLVMGetCondition(branch);
  if (!LLVMIsAInstruction(condition) || !place_of(plan, condition, &place))
    return;
  const Code *c = source_text_code(&plan->texts.items[place.source]);
  size_t at = code_find(c, place.line, place.col_lo);
  size_t oper = at == CODE_NONE ? CODE_NONE : code_connective(c, at, &operand);
  if (oper == CODE_NONE)
    return;
  array_push(&out->sites,
             ((HookSite){.kind = SITE_LOGIC,
                         .inst = branch,
                         .second = shape.second,
                         .operand = shape.x,
                         .owner = shape.incoming,
                         .value = shape.there,
                         .width = 1,
                         .source = place.source,
                         .line = place.line,
                         .column = place.col_lo,
                         .function = function,
                         .text = code_is(c, oper, "&&") ? "&&" : "||"}));
}

// --- insertion --------------------------------------------------------------

static LLVMValueRef truth(const Hooks *h, bool yes) {
  return LLVMConstInt(LLVMInt1TypeInContext(h->context), yes, false);
}

static LLVMValueRef ask(Hooks *h, const char *name, LLVMValueRef leads) {
  LLVMValueRef f = hooks_declare(h, name, h->i64, &h->i64, 1);
  LLVMValueRef wide = hooks_widen(h, leads, false);
  return LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f), f, &wide, 1, "");
}

// The value that leads to X is the variant.
static LLVMValueRef leads_there(Hooks *h, HookFunction *f, LLVMValueRef v) {
  return f->variant ? v : LLVMBuildNot(h->builder, v, "");
}

static void rare_first(Hooks *h, HookFunction *f) {
  ask(h, "__culprit_try_first",
      leads_there(h, f, LLVMGetParam(f->function, 1)));
  f->changed = truth(h, !f->variant);
}

static void rare_second(Hooks *h, HookFunction *f) {
  LLVMValueRef leads = leads_there(h, f, LLVMGetParam(f->function, 1));
  LLVMValueRef now = ask(h, "__culprit_try_second", leads);
  f->changed =
      leads_there(h, f, hooks_narrow(h, now, LLVMTypeOf(truth(h, true))));
}

static LLVMValueRef call_before(Hooks *h, LLVMValueRef inst, HookShape shape,
                                LLVMValueRef value, bool there,
                                uint32_t number) {
  LLVMValueRef args[] = {LLVMConstInt(h->i32, number, false), value};
  LLVMPositionBuilderBefore(h->builder, inst);
  LLVMSetCurrentDebugLocation2(h->builder, LLVMInstructionGetDebugLoc(inst));
  return hooks_call(h, shape, args, 2, there);
}

void hook_logic_insert(Hooks *h, const HookSite *s, uint32_t number) {
  LLVMValueRef phi = LLVMIsAPHINode(s->second);
  LLVMSetCondition(s->inst, call_before(h, s->inst, rare_first,
                                        LLVMGetCondition(s->inst),
                                        s->operand == 0, number));
  if (!phi) {
    LLVMSetCondition(s->second, call_before(h, s->second, rare_second,
                                            LLVMGetCondition(s->second),
                                            s->value, number));
    return;
  }
  // Where the block ends that the value comes from.
  LLVMValueRef end =
      LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, s->owner));
  LLVMSetOperand(phi, s->owner,
                 call_before(h, end, rare_second,
                             LLVMGetIncomingValue(phi, s->owner), s->value,
                             number));
}
