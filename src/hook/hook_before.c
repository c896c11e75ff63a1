// The hook in front of a statement: see hook_before.h.
#include "hook/hook_before.h"

#include <llvm-c/DebugInfo.h>

static void move_to_end(Hooks *h, LLVMValueRef inst, LLVMBasicBlockRef to) {
  LLVMInstructionRemoveFromParent(inst);
  LLVMPositionBuilderAtEnd(h->builder, to);
  LLVMInsertIntoBuilder(h->builder, inst);
}

// Splits the block in front of the instruction. The second part stays the same
// block; whatever led to it leads to the new one, which has no end yet.
static LLVMBasicBlockRef split(Hooks *h, LLVMValueRef inst) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(inst);
  LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(h->context, block, "");
  LLVMSetCurrentDebugLocation2(h->builder, NULL); // they keep their own
  for (LLVMValueRef i; (i = LLVMGetFirstInstruction(block)) != inst;)
    move_to_end(h, i, head);
  // Without its end the block has no successors whose phis would be changed.
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  LLVMInstructionRemoveFromParent(end);
  LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block),
                         LLVMBasicBlockAsValue(head));
  LLVMPositionBuilderAtEnd(h->builder, block);
  LLVMInsertIntoBuilder(h->builder, end);
  return head;
}

static LLVMValueRef element(const Hooks *h, LLVMValueRef array, uint32_t i) {
  LLVMValueRef at = LLVMConstInt(h->i64, i, false);
  return LLVMConstInBoundsGEP2(h->i64, array, &at, 1);
}

static LLVMValueRef moved(Hooks *h, LLVMValueRef base, uint64_t offset) {
  LLVMValueRef by = LLVMConstInt(h->i64, offset, false);
  return offset ? LLVMBuildGEP2(h->builder, LLVMInt8TypeInContext(h->context),
                                base, &by, 1, "")
                : base;
}

static LLVMValueRef load(Hooks *h, const HookName *name) {
  LLVMValueRef v = LLVMBuildLoad2(h->builder, name->type,
                                  moved(h, name->address, name->offset), "");
  LLVMSetAlignment(v, 1);
  return v;
}

static uint64_t size_of(const HookName *name) {
  return name->kind == VALUE_POINTER ? 8 : LLVMGetIntTypeWidth(name->type) / 8;
}

static void hand_over(Hooks *h, const HookName *name, uint32_t i) {
  LLVMBuilderRef b = h->builder;
  LLVMValueRef address = LLVMConstInt(h->i64, 0, false), value;
  if (name->through) {
    LLVMValueRef p = LLVMBuildLoad2(b, h->ptr, name->address, "");
    address = LLVMBuildPtrToInt(b, p, h->i64, "");
    address =
        LLVMBuildAdd(b, address, LLVMConstInt(h->i64, name->offset, false), "");
    // 0 would be a name without an address; 1 cannot be read either.
    LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, address,
                                      LLVMConstInt(h->i64, 0, false), "");
    address =
        LLVMBuildSelect(b, none, LLVMConstInt(h->i64, 1, false), address, "");
    value = LLVMConstInt(h->i64, size_of(name), false);
  } else {
    value = hooks_widen(h, load(h, name), false);
  }
  LLVMBuildStore(b, value, element(h, h->values, i));
  LLVMBuildStore(b, address, element(h, h->addresses, i));
}

static void take_back(Hooks *h, const HookName *name, uint32_t i,
                      LLVMValueRef what) {
  LLVMBuilderRef b = h->builder;
  LLVMValueRef now = load(h, name);
  LLVMValueRef wide = LLVMBuildLoad2(b, h->i64, element(h, h->values, i), "");
  LLVMValueRef changed =
      LLVMBuildICmp(b, LLVMIntEQ, what, LLVMConstInt(h->i64, i + 1, false), "");
  LLVMValueRef v =
      LLVMBuildSelect(b, changed, hooks_narrow(h, wide, name->type), now, "");
  LLVMValueRef store =
      LLVMBuildStore(b, v, moved(h, name->address, name->offset));
  LLVMSetAlignment(store, 1);
}

static void build_leave(Hooks *h, LLVMValueRef function) {
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(function));
  if (LLVMGetTypeKind(type) == LLVMVoidTypeKind) {
    LLVMBuildRetVoid(h->builder);
    return;
  }
  LLVMValueRef f = hooks_declare(h, "__culprit_try_leave", h->i64, NULL, 0);
  LLVMValueRef v =
      LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f), f, NULL, 0, "");
  if (value_kind(type) == VALUE_REAL)
    v = LLVMBuildSIToFP(h->builder, v, type, "");
  else
    v = hooks_narrow(h, v, type);
  LLVMBuildRet(h->builder, v);
}

static LLVMValueRef ask_runtime(Hooks *h, uint32_t nnames) {
  LLVMValueRef f = hooks_declare(h, "__culprit_try_before", h->i64, &h->i64, 1);
  LLVMValueRef n = LLVMConstInt(h->i64, nnames, false);
  return LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f), f, &n, 1, "");
}

void hook_before_insert(Hooks *h, const HookSites *all, const HookSite *s,
                        uint32_t number) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(s->inst);
  LLVMValueRef function = LLVMGetBasicBlockParent(block);
  const HookName *names = all->names.items + s->first_name;
  LLVMBasicBlockRef head = split(h, s->inst);
  LLVMBasicBlockRef rare =
      LLVMAppendBasicBlockInContext(h->context, function, "");
  LLVMSetCurrentDebugLocation2(h->builder, LLVMInstructionGetDebugLoc(s->inst));
  LLVMPositionBuilderAtEnd(h->builder, head);
  hooks_branch(h, LLVMConstInt(h->i32, number, false), rare, block);
  LLVMPositionBuilderAtEnd(h->builder, rare);
  for (uint32_t i = 0; i < s->nnames; i++)
    hand_over(h, &names[i], i);
  LLVMValueRef what = ask_runtime(h, s->nnames);
  for (uint32_t i = 0; i < s->nnames; i++)
    if (!names[i].through)
      take_back(h, &names[i], i, what);
  if (s->flags & SITE_STUCK) {
    LLVMBuildBr(h->builder, block);
    return;
  }
  LLVMBasicBlockRef leave =
      LLVMAppendBasicBlockInContext(h->context, function, "");
  LLVMValueRef left = LLVMBuildICmp(h->builder, LLVMIntSLT, what,
                                    LLVMConstInt(h->i64, 0, false), "");
  LLVMBuildCondBr(h->builder, left, leave, block);
  LLVMPositionBuilderAtEnd(h->builder, leave);
  build_leave(h, function);
}
