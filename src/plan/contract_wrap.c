// Wrappers take the place of what they wrap: see contract_wrap.h.
#include "plan/contract_wrap.h"

#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/str.h"

#define WRAP "__culprit_wrap_"

static void set_attribute(LLVMValueRef f, const char *name, bool on) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
  if (on)
    LLVMAddAttributeAtIndex(f, index, LLVMCreateEnumAttribute(c, kind, 0));
  else
    LLVMRemoveEnumAttributeAtIndex(f, index, kind);
}

// Inside the wrapper its own name means the body.
static void call_body(LLVMValueRef wrapper, LLVMValueRef body) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wrapper); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (LLVMGetOperand(i, (unsigned)k) == wrapper)
          LLVMSetOperand(i, (unsigned)k, body);
}

static void change_names(LLVMValueRef wrapper, LLVMValueRef body) {
  size_t n;
  char *name = mem_strdup(LLVMGetValueName2(body, &n));
  char *inner = mem_printf(CONTRACT_BODY "%s", name);
  LLVMSetValueName2(body, inner, strlen(inner));
  LLVMSetValueName2(wrapper, name, n);
  LLVMSetLinkage(wrapper, LLVMGetLinkage(body));
  LLVMSetVisibility(wrapper, LLVMGetVisibility(body));
  LLVMSetComdat(wrapper, LLVMGetComdat(body));
  LLVMSetComdat(body, NULL);
  LLVMSetVisibility(body, LLVMDefaultVisibility);
  LLVMSetLinkage(body, LLVMInternalLinkage);
  free(name);
  free(inner);
}

static void wrap(LLVMModuleRef m, LLVMValueRef wrapper, const char *name) {
  LLVMValueRef body = LLVMGetNamedFunction(m, name);
  if (!body || LLVMIsDeclaration(body) || body == wrapper ||
      LLVMGlobalGetValueType(body) != LLVMGlobalGetValueType(wrapper))
    return;
  LLVMReplaceAllUsesWith(body, wrapper);
  call_body(wrapper, body);
  change_names(wrapper, body);
  set_attribute(body, "alwaysinline", false);
  set_attribute(body, "noinline", true);
}

// --- assertions inside functions --------------------------------------------

// The scope around a lexical block, NULL if it is none.
static LLVMMetadataRef outer_scope(LLVMContextRef c, LLVMMetadataRef scope) {
  LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
  if (kind != LLVMDILexicalBlockMetadataKind &&
      kind != LLVMDILexicalBlockFileMetadataKind)
    return NULL;
  LLVMValueRef node = LLVMMetadataAsValue(c, scope);
  LLVMValueRef operands[8];
  unsigned n = LLVMGetMDNodeNumOperands(node);
  if (n < 2 || n > 8)
    return NULL;
  LLVMGetMDNodeOperands(node, operands);
  return operands[1] ? LLVMValueAsMetadata(operands[1]) : NULL;
}

typedef ARRAY(LLVMMetadataRef) Scopes;

static bool is_inside(LLVMContextRef c, LLVMMetadataRef scope,
                      const Scopes *blocks) {
  for (; scope; scope = outer_scope(c, scope))
    for (size_t i = 0; i < blocks->len; i++)
      if (blocks->items[i] == scope)
        return true;
  return false;
}

static bool is_check(LLVMValueRef inst, LLVMValueRef on) {
  return LLVMIsACallInst(inst) && LLVMGetCalledValue(inst) == on;
}

// The blocks that begin by asking whether contracts are checked at all.
static void find_checks(LLVMValueRef f, LLVMValueRef on, Scopes *out) {
  LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(i);
      if (!loc || !is_check(i, on))
        continue;
      LLVMMetadataRef scope = LLVMDILocationGetScope(loc);
      if (outer_scope(c, scope)) // not the function itself
        array_push(out, scope);
    }
}

static void hide_one(LLVMContextRef c, LLVMValueRef inst) {
  LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(inst);
  if (loc)
    LLVMInstructionSetDebugLoc(inst,
                               LLVMDIBuilderCreateDebugLocation(
                                   c, 0, 0, LLVMDILocationGetScope(loc), NULL));
}

// The comparison of the answer and the branch by it stand outside of the block.
static void hide_answer(LLVMContextRef c, LLVMValueRef call) {
  for (LLVMUseRef u = LLVMGetFirstUse(call); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    hide_one(c, user);
    for (LLVMUseRef v = LLVMGetFirstUse(user); v; v = LLVMGetNextUse(v))
      hide_one(c, LLVMGetUser(v));
  }
}

// Takes the line from what stands in these blocks; NULL: from everything.
static void hide(LLVMValueRef f, const Scopes *blocks) {
  LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(i);
      LLVMMetadataRef scope = loc ? LLVMDILocationGetScope(loc) : NULL;
      if (scope && (!blocks || is_inside(c, scope, blocks)))
        hide_one(c, i);
    }
}

// Made for contracts, and not the user's own code under another name: the
// module may have been here before.
static bool is_ours(const char *name) {
  return text_starts(name, "__culprit_") && !text_starts(name, CONTRACT_BODY);
}

// Where the code tells that a label or loop is reached (contract_marks.h).
static void hide_marks(LLVMModuleRef m) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMValueRef mark = LLVMGetNamedFunction(m, "__culprit_mark");
  for (LLVMUseRef u = mark ? LLVMGetFirstUse(mark) : NULL; u;
       u = LLVMGetNextUse(u)) {
    hide_one(c, LLVMGetUser(u));
    hide_answer(c, LLVMGetUser(u));
  }
}

void contract_wrap(LLVMModuleRef m) {
  hide_marks(m);
  LLVMValueRef on = LLVMGetNamedFunction(m, "__culprit_contract_on");
  for (LLVMUseRef u = on ? LLVMGetFirstUse(on) : NULL; u; u = LLVMGetNextUse(u))
    hide_answer(LLVMGetModuleContext(m), LLVMGetUser(u));
  Scopes blocks = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
       f = LLVMGetNextFunction(f)) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    blocks.len = 0;
    if (on)
      find_checks(f, on, &blocks);
    if (blocks.len)
      hide(f, &blocks);
    if (is_ours(name))
      hide(f, NULL);
    if (text_starts(name, WRAP))
      wrap(m, f, name + strlen(WRAP));
  }
  array_release(&blocks);
}

bool contract_is_used(LLVMModuleRef m) {
  static const char *const names[] = {"__culprit_contract_on",
                                      "__culprit_contract_begin"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (LLVMGetNamedFunction(m, names[i]))
      return true;
  return false;
}

const char *contract_source_name(const char *symbol) {
  return text_starts(symbol, CONTRACT_BODY) ? symbol + strlen(CONTRACT_BODY)
                                            : symbol;
}

LLVMValueRef contract_face(LLVMValueRef function) {
  size_t n;
  const char *symbol = LLVMGetValueName2(function, &n);
  const char *name = contract_source_name(symbol);
  LLVMValueRef wrapper =
      name == symbol
          ? NULL
          : LLVMGetNamedFunction(LLVMGetGlobalParent(function), name);
  return wrapper ? wrapper : function;
}
