// The small functions that hooks are made of: see hook_calls.h.
#include "hook/hook_calls.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "plan/probe.h"

#define SELECTION_SECTION "culprit_try"

static void add_attribute(const Hooks *h, LLVMValueRef f, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(h->context, kind, 0));
}

// --- the unit ---------------------------------------------------------------

// What runtime/try_hooks.c looks through: the unit's id, and its variable.
static void add_selection(Hooks *h, const UnitId *id) {
  LLVMValueRef bytes = LLVMConstStringInContext2(
      h->context, (const char *)id->bytes, sizeof id->bytes, true);
  LLVMValueRef none = LLVMConstInt(h->i64, 0, false);
  LLVMValueRef parts[] = {bytes, none};
  LLVMValueRef init = LLVMConstStructInContext(h->context, parts, 2, false);
  LLVMValueRef g =
      LLVMAddGlobal(h->module, LLVMTypeOf(init), "__culprit_try_unit");
  LLVMSetInitializer(g, init);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetSection(g, SELECTION_SECTION);
  LLVMSetAlignment(g, 8);
  LLVMSetExternallyInitialized(g, true);
  probe_keep(h->module, g);
  LLVMValueRef at = LLVMConstInt(h->i64, sizeof id->bytes, false);
  h->selected =
      LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(h->context), g, &at, 1);
}

static LLVMValueRef add_variable(Hooks *h, const char *name) {
  LLVMValueRef g = LLVMAddGlobal(h->module, h->i64, name);
  LLVMSetVisibility(g, LLVMHiddenVisibility);
  return g;
}

static LLVMValueRef make_weights(Hooks *h) {
  enum { OFTEN = 2000 };
  LLVMContextRef c = h->context;
  LLVMMetadataRef parts[] = {
      LLVMMDStringInContext2(c, "branch_weights", 14),
      LLVMValueAsMetadata(LLVMConstInt(h->i32, 1, false)),
      LLVMValueAsMetadata(LLVMConstInt(h->i32, OFTEN, false))};
  return LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, parts, 3));
}

void hooks_open(Hooks *h, LLVMModuleRef module, const UnitId *id) {
  LLVMContextRef c = LLVMGetModuleContext(module);
  *h = (Hooks){.module = module,
               .context = c,
               .builder = LLVMCreateBuilderInContext(c),
               .i32 = LLVMInt32TypeInContext(c),
               .i64 = LLVMInt64TypeInContext(c),
               .real = LLVMDoubleTypeInContext(c),
               .ptr = LLVMPointerTypeInContext(c, 0),
               .nothing = LLVMVoidTypeInContext(c),
               .invariant = LLVMGetMDKindIDInContext(c, "invariant.load", 14),
               .prof = LLVMGetMDKindIDInContext(c, "prof", 4),
               .empty =
                   LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0))};
  h->rarely = make_weights(h);
  h->values = add_variable(h, "__culprit_try_values");
  h->addresses = add_variable(h, "__culprit_try_addresses");
  h->steps = add_variable(h, "__culprit_try_steps");
  add_selection(h, id);
}

void hooks_close(Hooks *h) {
  LLVMDisposeBuilder(h->builder);
  hashmap_release(&h->functions);
  hashmap_release(&h->wrapped);
}

LLVMValueRef hooks_declare(Hooks *h, const char *name, LLVMTypeRef result,
                           LLVMTypeRef *types, unsigned n) {
  LLVMValueRef f = LLVMGetNamedFunction(h->module, name);
  if (f)
    return f;
  f = LLVMAddFunction(h->module, name,
                      LLVMFunctionType(result, types, n, false));
  LLVMSetVisibility(f, LLVMHiddenVisibility);
  add_attribute(h, f, "cold");
  add_attribute(h, f, "nounwind");
  return f;
}

// --- values -----------------------------------------------------------------

LLVMValueRef hooks_widen(Hooks *h, LLVMValueRef v, bool is_unsigned) {
  LLVMTypeRef type = LLVMTypeOf(v);
  switch (value_kind(type)) {
  case VALUE_POINTER:
    return LLVMBuildPtrToInt(h->builder, v, h->i64, "");
  case VALUE_REAL:
    return LLVMBuildFPCast(h->builder, v, h->real, "");
  default:
    if (type == h->i64)
      return v;
    return is_unsigned || LLVMGetIntTypeWidth(type) == 1
               ? LLVMBuildZExt(h->builder, v, h->i64, "")
               : LLVMBuildSExt(h->builder, v, h->i64, "");
  }
}

LLVMValueRef hooks_narrow(Hooks *h, LLVMValueRef v, LLVMTypeRef type) {
  switch (value_kind(type)) {
  case VALUE_POINTER:
    return LLVMBuildIntToPtr(h->builder, v, type, "");
  case VALUE_REAL:
    return LLVMBuildFPCast(h->builder, v, type, "");
  default:
    return type == h->i64 ? v : LLVMBuildTrunc(h->builder, v, type, "");
  }
}

// --- hooks ------------------------------------------------------------------

static LLVMValueRef add_small(Hooks *h, const char *name, LLVMTypeRef result,
                              LLVMTypeRef *types, unsigned n) {
  LLVMTypeRef type = LLVMFunctionType(result, types, n, false);
  LLVMValueRef f = LLVMAddFunction(h->module, name, type);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  add_attribute(h, f, "alwaysinline");
  add_attribute(h, f, "nounwind");
  return f;
}

static LLVMBasicBlockRef add_block(Hooks *h, LLVMValueRef f) {
  return LLVMAppendBasicBlockInContext(h->context, f, "");
}

void hooks_branch(Hooks *h, LLVMValueRef site, LLVMBasicBlockRef rare,
                  LLVMBasicBlockRef usual) {
  LLVMValueRef selected = LLVMBuildLoad2(h->builder, h->i32, h->selected, "");
  LLVMSetMetadata(selected, h->invariant, h->empty);
  LLVMValueRef hit = LLVMBuildICmp(h->builder, LLVMIntEQ, selected, site, "");
  LLVMValueRef branch = LLVMBuildCondBr(h->builder, hit, rare, usual);
  LLVMSetMetadata(branch, h->prof, h->rarely);
}

static LLVMValueRef make_hook(Hooks *h, HookShape shape, unsigned variant,
                              LLVMTypeRef *types, unsigned n) {
  HookFunction f = {.variant = variant};
  LLVMBasicBlockRef blocks[3];
  f.function = add_small(h, "__culprit_hook", types[1], types, n);
  for (int i = 0; i < 3; i++)
    blocks[i] = add_block(h, f.function);
  LLVMPositionBuilderAtEnd(h->builder, blocks[0]);
  hooks_branch(h, LLVMGetParam(f.function, 0), blocks[1], blocks[2]);
  LLVMPositionBuilderAtEnd(h->builder, blocks[1]);
  shape(h, &f);
  LLVMBasicBlockRef last = LLVMGetInsertBlock(h->builder);
  LLVMBuildBr(h->builder, blocks[2]);
  LLVMPositionBuilderAtEnd(h->builder, blocks[2]);
  LLVMValueRef phi = LLVMBuildPhi(h->builder, types[1], "");
  LLVMValueRef values[] = {LLVMGetParam(f.function, 1), f.changed};
  LLVMBasicBlockRef from[] = {blocks[0], last};
  LLVMAddIncoming(phi, values, from, 2);
  LLVMBuildRet(h->builder, phi);
  return f.function;
}

typedef struct {
  HookShape shape;
  uint64_t variant;
  LLVMTypeRef types[HOOK_PARAMS];
} HookKey;

LLVMValueRef hooks_call(Hooks *h, HookShape shape, LLVMValueRef *args,
                        unsigned n, unsigned variant) {
  HookKey key;
  memset(&key, 0, sizeof key);
  key.shape = shape;
  key.variant = variant;
  for (unsigned i = 0; i < n; i++)
    key.types[i] = LLVMTypeOf(args[i]);
  uint64_t known;
  if (!hashmap_get(&h->functions, &key, sizeof key, &known)) {
    LLVMBuilderRef outer = h->builder;
    h->builder = LLVMCreateBuilderInContext(h->context);
    known = (uintptr_t)make_hook(h, shape, variant, key.types, n);
    LLVMDisposeBuilder(h->builder);
    h->builder = outer;
    hashmap_put(&h->functions, &key, sizeof key, known);
  }
  LLVMValueRef f = (LLVMValueRef)(uintptr_t)known;
  return LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f), f, args, n, "");
}

// --- steps ------------------------------------------------------------------

static LLVMValueRef make_step(Hooks *h) {
  LLVMBuilderRef outer = h->builder, b = LLVMCreateBuilderInContext(h->context);
  h->builder = b;
  LLVMValueRef f = add_small(h, "__culprit_step", h->nothing, NULL, 0);
  LLVMBasicBlockRef first = add_block(h, f), rare = add_block(h, f),
                    done = add_block(h, f);
  LLVMPositionBuilderAtEnd(b, first);
  LLVMValueRef one = LLVMConstInt(h->i64, 1, false);
  LLVMValueRef left =
      LLVMBuildSub(b, LLVMBuildLoad2(b, h->i64, h->steps, ""), one, "");
  LLVMBuildStore(b, left, h->steps);
  LLVMValueRef none =
      LLVMBuildICmp(b, LLVMIntSLT, left, LLVMConstInt(h->i64, 0, false), "");
  LLVMValueRef branch = LLVMBuildCondBr(b, none, rare, done);
  LLVMSetMetadata(branch, h->prof, h->rarely);
  LLVMPositionBuilderAtEnd(b, rare);
  LLVMValueRef stop =
      hooks_declare(h, "__culprit_try_stop", h->nothing, NULL, 0);
  LLVMBuildCall2(b, LLVMGlobalGetValueType(stop), stop, NULL, 0, "");
  LLVMBuildBr(b, done);
  LLVMPositionBuilderAtEnd(b, done);
  LLVMBuildRetVoid(b);
  LLVMDisposeBuilder(b);
  h->builder = outer;
  return f;
}

void hooks_step(Hooks *h) {
  if (!h->step)
    h->step = make_step(h);
  LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(h->step), h->step, NULL, 0,
                 "");
}

// --- calls ------------------------------------------------------------------

// Parameters of a wrapper before the call's own: the site, and the callee.
enum { OWN_PARAMS = 2 };

static void copy_attributes(LLVMValueRef from, LLVMValueRef to,
                            LLVMAttributeIndex at) {
  unsigned n = LLVMGetCallSiteAttributeCount(from, at);
  LLVMAttributeRef *list = mem_array(LLVMAttributeRef, n + 1);
  LLVMGetCallSiteAttributes(from, at, list);
  for (unsigned i = 0; i < n; i++)
    LLVMAddCallSiteAttribute(to, at, list[i]);
  free(list);
}

// The call of `like`, with the wrapper's parameters.
static LLVMValueRef call_as(Hooks *h, LLVMValueRef like, LLVMValueRef wrapper) {
  unsigned n = LLVMGetNumArgOperands(like);
  LLVMValueRef *args = mem_array(LLVMValueRef, n + 1);
  for (unsigned i = 0; i < n; i++)
    args[i] = LLVMGetParam(wrapper, OWN_PARAMS + i);
  LLVMValueRef callee = LLVMGetCalledValue(like);
  if (!LLVMIsAFunction(callee))
    callee = LLVMGetParam(wrapper, 1);
  LLVMValueRef call = LLVMBuildCall2(
      h->builder, LLVMGetCalledFunctionType(like), callee, args, n, "");
  LLVMSetInstructionCallConv(call, LLVMGetInstructionCallConv(like));
  copy_attributes(like, call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
  for (unsigned i = 0; i <= n; i++)
    copy_attributes(like, call, i);
  free(args);
  return call;
}

// What a call that is left out returns.
static LLVMValueRef skipped_value(Hooks *h, LLVMTypeRef type) {
  ValueKind kind = value_kind(type);
  const char *name =
      kind == VALUE_REAL ? "__culprit_try_skip_real" : "__culprit_try_skip";
  LLVMValueRef f =
      hooks_declare(h, name, kind == VALUE_REAL ? h->real : h->i64, NULL, 0);
  LLVMValueRef v =
      LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f), f, NULL, 0, "");
  return kind == VALUE_NONE ? v : hooks_narrow(h, v, type);
}

// Functions that give memory: which argument is its size.
static const struct {
  const char *name;
  unsigned size;
} allocators[] = {{"malloc", 0},        {"calloc", 1},   {"realloc", 1},
                  {"aligned_alloc", 1}, {"memalign", 1}, {"mmap", 1},
                  {"mmap64", 1}};

// Tells the runtime what such a function has returned.
static void note_memory(Hooks *h, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t len;
  const char *name = LLVMIsAFunction(callee) && LLVMIsDeclaration(callee)
                         ? LLVMGetValueName2(callee, &len)
                         : "";
  for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
    unsigned size = allocators[i].size;
    if (strcmp(name, allocators[i].name) != 0 ||
        LLVMGetNumArgOperands(call) <= size || LLVMTypeOf(call) != h->ptr ||
        LLVMTypeOf(LLVMGetOperand(call, size)) != h->i64)
      continue;
    LLVMTypeRef types[] = {h->ptr, h->i64};
    LLVMValueRef args[] = {call, LLVMGetOperand(call, size)};
    LLVMValueRef f =
        hooks_declare(h, "__culprit_try_memory", h->nothing, types, 2);
    LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f), f, args, 2, "");
  }
}

// A program that forks for ever must not get as far as anyone noticing it.
static void count_fork(Hooks *h, LLVMValueRef like) {
  LLVMValueRef callee = LLVMGetCalledValue(like);
  size_t len;
  if (!LLVMIsAFunction(callee) ||
      strcmp(LLVMGetValueName2(callee, &len), "fork") != 0)
    return;
  LLVMValueRef f = hooks_declare(h, "__culprit_try_fork", h->nothing, NULL, 0);
  LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f), f, NULL, 0, "");
}

static LLVMValueRef make_wrapper(Hooks *h, LLVMValueRef call,
                                 LLVMTypeRef *types, unsigned n) {
  LLVMTypeRef result = LLVMTypeOf(call);
  bool nothing = LLVMGetTypeKind(result) == LLVMVoidTypeKind;
  LLVMBasicBlockRef blocks[4];
  LLVMValueRef f = add_small(h, "__culprit_call", result, types, n);
  for (int i = 0; i < 4; i++)
    blocks[i] = add_block(h, f);
  LLVMPositionBuilderAtEnd(h->builder, blocks[0]);
  hooks_branch(h, LLVMGetParam(f, 0), blocks[1], blocks[2]);
  LLVMPositionBuilderAtEnd(h->builder, blocks[1]);
  LLVMValueRef values[2] = {skipped_value(h, result), NULL};
  LLVMBuildBr(h->builder, blocks[3]);
  LLVMPositionBuilderAtEnd(h->builder, blocks[2]);
  count_fork(h, call);
  values[1] = call_as(h, call, f);
  note_memory(h, values[1]);
  LLVMBuildBr(h->builder, blocks[3]);
  LLVMPositionBuilderAtEnd(h->builder, blocks[3]);
  if (nothing) {
    LLVMBuildRetVoid(h->builder);
    return f;
  }
  LLVMValueRef phi = LLVMBuildPhi(h->builder, result, "");
  LLVMAddIncoming(phi, values, blocks + 1, 2);
  LLVMBuildRet(h->builder, phi);
  return f;
}

// Calls of the same function with arguments of the same types share a wrapper.
static LLVMValueRef wrapper_of(Hooks *h, LLVMValueRef call, LLVMTypeRef *types,
                               unsigned n) {
  Str key = {0};
  LLVMValueRef callee = LLVMGetCalledValue(call);
  bool direct = LLVMIsAFunction(callee);
  str_addn(&key, (const char *)&callee, sizeof callee);
  for (unsigned i = 0; i < n; i++)
    str_addn(&key, (const char *)&types[i], sizeof types[i]);
  uint64_t known;
  if (!direct || !hashmap_get(&h->wrapped, str_text(&key), key.len, &known)) {
    LLVMBuilderRef outer = h->builder;
    h->builder = LLVMCreateBuilderInContext(h->context);
    known = (uintptr_t)make_wrapper(h, call, types, n);
    LLVMDisposeBuilder(h->builder);
    h->builder = outer;
    if (direct)
      hashmap_put(&h->wrapped, str_text(&key), key.len, known);
  }
  str_release(&key);
  return (LLVMValueRef)(uintptr_t)known;
}

void hooks_wrap_call(Hooks *h, LLVMValueRef call, uint32_t site) {
  unsigned n = LLVMGetNumArgOperands(call);
  LLVMTypeRef *types = mem_array(LLVMTypeRef, n + OWN_PARAMS);
  LLVMValueRef *args = mem_array(LLVMValueRef, n + OWN_PARAMS);
  args[0] = LLVMConstInt(h->i32, site, false);
  args[1] = LLVMGetCalledValue(call);
  for (unsigned i = 0; i < n; i++)
    args[OWN_PARAMS + i] = LLVMGetOperand(call, i);
  for (unsigned i = 0; i < n + OWN_PARAMS; i++)
    types[i] = LLVMTypeOf(args[i]);
  LLVMValueRef f = wrapper_of(h, call, types, n + OWN_PARAMS);
  LLVMPositionBuilderBefore(h->builder, call);
  LLVMSetCurrentDebugLocation2(h->builder, LLVMInstructionGetDebugLoc(call));
  LLVMValueRef wrapped = LLVMBuildCall2(h->builder, LLVMGlobalGetValueType(f),
                                        f, args, n + OWN_PARAMS, "");
  if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
    LLVMReplaceAllUsesWith(call, wrapped);
  LLVMInstructionEraseFromParent(call);
  free(types);
  free(args);
}
