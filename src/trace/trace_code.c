// The form of code that tracing and lowering share: see trace_code.h.
#include "trace/trace_code.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

#include "plan/passes.h"
#include "plan/place.h"
#include "plan/points_to.h"
#include "util/fs.h"

#define EACH_FUNCTION(f, m)                                                    \
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
#define EACH_BLOCK(b, f)                                                       \
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;                     \
       b = LLVMGetNextBasicBlock(b))
#define EACH_INST(i, b)                                                        \
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;                         \
       i = LLVMGetNextInstruction(i))

// --- normal form ------------------------------------------------------------

static void drop_metadata(LLVMValueRef inst) {
  static const char *const kinds[] = {"range",           "nonnull",
                                      "noundef",         "align",
                                      "dereferenceable", "invariant.load"};
  LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(inst));
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    LLVMSetMetadata(
        inst, LLVMGetMDKindIDInContext(c, kinds[i], (unsigned)strlen(kinds[i])),
        NULL);
}

// What the code promises, a faulty program may not keep.
static void drop_promises(LLVMValueRef inst) {
  switch (LLVMGetInstructionOpcode(inst)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
    LLVMSetNSW(inst, false);
    LLVMSetNUW(inst, false);
    break;
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMLShr:
  case LLVMAShr:
    LLVMSetExact(inst, false);
    break;
  case LLVMGetElementPtr:
    LLVMSetIsInBounds(inst, false);
    break;
  case LLVMLoad:
    drop_metadata(inst);
    break;
  default:
    break;
  }
}

// Shift counts beyond the width: the processor takes them modulo the width, and
// LLVM may do anything.
static void mask_shift(LLVMBuilderRef builder, LLVMValueRef inst) {
  LLVMOpcode op = LLVMGetInstructionOpcode(inst);
  LLVMTypeRef type = LLVMTypeOf(inst);
  if ((op != LLVMShl && op != LLVMLShr && op != LLVMAShr) ||
      LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
    return;
  unsigned width = LLVMGetIntTypeWidth(type);
  LLVMValueRef by = LLVMGetOperand(inst, 1);
  if (width & (width - 1) ||
      (LLVMIsAConstantInt(by) && LLVMConstIntGetZExtValue(by) < width))
    return;
  LLVMPositionBuilderBefore(builder, inst);
  LLVMSetOperand(
      inst, 1,
      LLVMBuildAnd(builder, by, LLVMConstInt(type, width - 1, false), ""));
}

static void define_operands(LLVMValueRef inst) {
  if (LLVMIsAPHINode(inst) || LLVMIsACallInst(inst) || !is_debug_call(inst))
    for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
      LLVMValueRef v = LLVMGetOperand(inst, (unsigned)i);
      if (v && (LLVMIsUndef(v) || LLVMIsPoison(v)) &&
          LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMMetadataTypeKind &&
          LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMTokenTypeKind)
        LLVMSetOperand(inst, (unsigned)i, LLVMConstNull(LLVMTypeOf(v)));
    }
}

static bool is_static_alloca(LLVMValueRef inst) {
  return LLVMIsAAllocaInst(inst) && LLVMIsAConstantInt(LLVMGetOperand(inst, 0));
}

static void collect_allocas(LLVMBuilderRef builder, LLVMValueRef function) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  LLVMValueRef place = LLVMGetFirstInstruction(entry), next;
  while (place && is_static_alloca(place))
    place = LLVMGetNextInstruction(place);
  for (LLVMValueRef i = place; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (!is_static_alloca(i))
      continue;
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderBefore(builder, place);
    LLVMInsertIntoBuilder(builder, i);
  }
}

// A null pointer that is read through is a crash to be recorded, not a reason
// to take the code that leads there for impossible.
static void expect_null(LLVMValueRef function) {
  static const char name[] = "null_pointer_is_valid";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(function));
  LLVMAddAttributeAtIndex(function,
                          (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(c, kind, 0));
}

// A function that records is not pure, whatever its author says. Of functions
// that other units define we cannot tell whether they record.
static void drop_purity(LLVMValueRef v) {
  static const char *const names[] = {
      "memory",    "willreturn",   "nosync",      "nofree",
      "norecurse", "speculatable", "mustprogress"};
  const LLVMAttributeIndex whole =
      (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
    if (LLVMIsACallInst(v))
      LLVMRemoveCallSiteEnumAttribute(v, whole, kind);
    else
      LLVMRemoveEnumAttributeAtIndex(v, whole, kind);
  }
}

static void drop_all_promises(LLVMModuleRef m) {
  EACH_FUNCTION(f, m) {
    if (!LLVMGetIntrinsicID(f))
      drop_purity(f);
    if (LLVMIsDeclaration(f))
      continue;
    expect_null(f);
    EACH_BLOCK(b, f) {
      EACH_INST(i, b) {
        drop_promises(i);
        if (LLVMIsACallInst(i) && !*trace_code_intrinsic(i))
          drop_purity(i);
      }
    }
  }
}

static void define_all(LLVMModuleRef m) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
  EACH_FUNCTION(f, m) {
    if (LLVMIsDeclaration(f))
      continue;
    EACH_BLOCK(b, f) {
      EACH_INST(i, b) {
        drop_promises(i);
        define_operands(i);
        mask_shift(builder, i);
      }
    }
    collect_allocas(builder, f);
  }
  LLVMDisposeBuilder(builder);
}

static bool has_feature(LLVMValueRef function, const char *feature) {
  static const char name[] = "target-features";
  LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
      sizeof name - 1);
  unsigned n;
  const char *text = a ? LLVMGetStringAttributeValue(a, &n) : NULL;
  return text && memmem(text, n, feature, strlen(feature));
}

static void split_fused(LLVMBuilderRef builder, LLVMValueRef inst) {
  LLVMPositionBuilderBefore(builder, inst);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(inst));
  LLVMValueRef product = LLVMBuildFMul(builder, LLVMGetOperand(inst, 0),
                                       LLVMGetOperand(inst, 1), "");
  LLVMValueRef sum =
      LLVMBuildFAdd(builder, product, LLVMGetOperand(inst, 2), "");
  LLVMReplaceAllUsesWith(inst, sum);
  LLVMInstructionEraseFromParent(inst);
}

// a * b + c is two operations on a processor that has none for both: replay can
// compute that.
static void split_all_fused(LLVMModuleRef m) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
  EACH_FUNCTION(f, m) {
    if (LLVMIsDeclaration(f) || has_feature(f, "+fma"))
      continue;
    EACH_BLOCK(b, f) {
      for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (text_starts(trace_code_intrinsic(i), "llvm.fmuladd."))
          split_fused(builder, i);
      }
    }
  }
  LLVMDisposeBuilder(builder);
}

static int normalise(LLVMModuleRef m, bool promote, Err *err) {
  drop_all_promises(m);
  split_all_fused(m);
  if (passes_run(
          m,
          promote ? "elim-avail-extern,function(sroa<preserve-cfg>,early-cse)"
                  : "elim-avail-extern",
          err))
    return -1;
  define_all(m);
  return 0;
}

// --- scalars ----------------------------------------------------------------

static void add_scalars(const TraceCode *c, LLVMTypeRef t, uint64_t offset,
                        Scalars *out) {
  Scalar s = {.offset = offset, .type = t};
  switch (LLVMGetTypeKind(t)) {
  case LLVMVoidTypeKind:
    return;
  case LLVMStructTypeKind:
    for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
      add_scalars(c, LLVMStructGetTypeAtIndex(t, i),
                  offset + LLVMOffsetOfElement(c->layout, t, i), out);
    return;
  case LLVMArrayTypeKind: {
    LLVMTypeRef e = LLVMGetElementType(t);
    uint64_t size = LLVMABISizeOfType(c->layout, e);
    for (uint64_t i = 0; i < LLVMGetArrayLength2(t); i++)
      add_scalars(c, e, offset + i * size, out);
    return;
  }
  case LLVMIntegerTypeKind:
    s.width = LLVMGetIntTypeWidth(t);
    break;
  case LLVMPointerTypeKind:
    s.width = 64;
    break;
  case LLVMFloatTypeKind:
    s.width = 32;
    s.fp = true;
    break;
  case LLVMDoubleTypeKind:
    s.width = 64;
    s.fp = true;
    break;
  default:
    break;
  }
  if (s.width > 64)
    s.width = 0;
  s.size = (uint32_t)LLVMStoreSizeOfType(c->layout, t);
  array_push(out, s);
}

void trace_code_scalars(const TraceCode *c, LLVMTypeRef type, Scalars *out) {
  out->len = 0;
  LLVMTypeKind k = LLVMGetTypeKind(type);
  if (k != LLVMMetadataTypeKind && k != LLVMLabelTypeKind &&
      k != LLVMTokenTypeKind)
    add_scalars(c, type, 0, out);
}

uint32_t trace_code_bytes(const Scalar *s) {
  return s->width > 32 ? 8 : s->width > 16 ? 4 : s->width > 8 ? 2 : 1;
}

// A value of one scalar that is not opaque.
static bool is_plain(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  switch (LLVMGetTypeKind(t)) {
  case LLVMIntegerTypeKind:
    return LLVMGetIntTypeWidth(t) <= 64;
  case LLVMPointerTypeKind:
  case LLVMFloatTypeKind:
  case LLVMDoubleTypeKind:
    return true;
  default:
    return false;
  }
}

static bool are_plain(LLVMValueRef inst) {
  for (int i = 0; i < LLVMGetNumOperands(inst); i++)
    if (!is_plain(LLVMGetOperand(inst, (unsigned)i)))
      return false;
  return is_plain(inst);
}

// --- what is recorded -------------------------------------------------------

const char *trace_code_intrinsic(LLVMValueRef inst) {
  LLVMValueRef callee = LLVMIsACallInst(inst) ? LLVMGetCalledValue(inst) : NULL;
  size_t n;
  if (!callee || !LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee))
    return "";
  return LLVMGetValueName2(callee, &n);
}

// Intrinsics that replay computes.
static bool is_computed_intrinsic(LLVMValueRef inst) {
  static const char *const names[] = {"llvm.expect.",
                                      "llvm.abs.",
                                      "llvm.smin.",
                                      "llvm.smax.",
                                      "llvm.umin.",
                                      "llvm.umax.",
                                      "llvm.bswap.",
                                      "llvm.fabs.",
                                      "llvm.sadd.with.overflow.",
                                      "llvm.uadd.with.overflow.",
                                      "llvm.ssub.with.overflow.",
                                      "llvm.usub.with.overflow.",
                                      "llvm.smul.with.overflow.",
                                      "llvm.umul.with.overflow.",
                                      NULL};
  const char *name = trace_code_intrinsic(inst);
  return is_plain(LLVMGetOperand(inst, 0)) && text_starts_one_of(name, names);
}

bool trace_code_is_nothing(LLVMValueRef inst) {
  static const char *const names[] = {"llvm.dbg.",
                                      "llvm.lifetime.",
                                      "llvm.va_end",
                                      "llvm.stackrestore",
                                      "llvm.assume",
                                      "llvm.prefetch",
                                      "llvm.donothing",
                                      "llvm.sideeffect",
                                      "llvm.experimental.noalias.scope.decl",
                                      "llvm.var.annotation",
                                      NULL};
  return LLVMGetInstructionOpcode(inst) == LLVMFence || is_debug_call(inst) ||
         text_starts_one_of(trace_code_intrinsic(inst), names);
}

static TraceSite call_site(const TraceCode *c, LLVMValueRef inst) {
  LLVMValueRef callee = LLVMGetCalledValue(inst);
  const char *name = trace_code_intrinsic(inst);
  if (LLVMIsAInlineAsm(callee))
    return SITE_VALUE;
  if (*name) {
    if (text_starts(name, "llvm.va_start"))
      return SITE_VA_START;
    if (text_starts(name, "llvm.mem") || text_starts(name, "llvm.va_copy") ||
        trace_code_is_nothing(inst))
      return SITE_NONE;
    return is_computed_intrinsic(inst) ? SITE_NONE : SITE_VALUE;
  }
  size_t n;
  const char *callee_name = LLVMGetValueName2(callee, &n);
  uint64_t found;
  if (LLVMIsAFunction(callee) &&
      hashmap_get(&c->inside, callee_name, n, &found))
    return SITE_INSIDE;
  return SITE_OUTSIDE;
}

// Floating point that the optimizer may reorder gives other results.
static TraceSite float_site(LLVMValueRef inst) {
  return LLVMGetFastMathFlags(inst) & LLVMFastMathAllowReassoc ? SITE_VALUE
                                                               : SITE_NONE;
}

TraceSite trace_code_site(const TraceCode *c, LLVMValueRef inst) {
  switch (LLVMGetInstructionOpcode(inst)) {
  case LLVMAlloca:
    return SITE_ALLOCA;
  case LLVMCall:
    return call_site(c, inst);
  case LLVMLoad:
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
  case LLVMFPToSI: // what lies out of range is not defined
  case LLVMFPToUI:
  case LLVMFRem:
    return SITE_VALUE;
  case LLVMFAdd:
  case LLVMFSub:
  case LLVMFMul:
  case LLVMFDiv:
  case LLVMFNeg:
    return are_plain(inst) ? float_site(inst) : SITE_VALUE;
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMURem:
  case LLVMSRem:
  case LLVMShl:
  case LLVMLShr:
  case LLVMAShr:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMTrunc:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMPtrToInt:
  case LLVMIntToPtr:
  case LLVMBitCast:
  case LLVMSIToFP:
  case LLVMUIToFP:
  case LLVMFPExt:
  case LLVMFPTrunc:
  case LLVMGetElementPtr:
    return are_plain(inst) ? SITE_NONE : SITE_VALUE;
  case LLVMSelect:
    return is_plain(LLVMGetOperand(inst, 0)) ? SITE_NONE : SITE_VALUE;
  case LLVMPHI:
  case LLVMFreeze:
  case LLVMExtractValue:
  case LLVMInsertValue:
    return SITE_NONE;
  case LLVMStore:
  case LLVMFence:
    return SITE_NONE;
  default:
    return LLVMIsATerminatorInst(inst) ? SITE_NONE : SITE_VALUE;
  }
}

// --- functions and constants ------------------------------------------------

static bool is_refused(LLVMValueRef function) {
  static const char name[] = "naked";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  return LLVMGetEnumAttributeAtIndex(
             function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) !=
         NULL;
}

bool trace_code_has(const TraceCode *c, LLVMValueRef function) {
  (void)c;
  return !LLVMIsDeclaration(function) && !is_refused(function) &&
         LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage;
}

bool trace_code_is_exposed(LLVMValueRef function) {
  LLVMLinkage l = LLVMGetLinkage(function);
  return (l != LLVMInternalLinkage && l != LLVMPrivateLinkage) ||
         function_is_taken(function);
}

uint32_t trace_code_constant(const TraceCode *c, LLVMValueRef v) {
  uint64_t n = UINT32_MAX;
  hashmap_get(&c->constant_numbers, &v, sizeof v, &n);
  return (uint32_t)n;
}

LLVMValueRef trace_code_number(const TraceCode *c, size_t i) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetModuleContext(c->module));
  LLVMValueRef v = c->constants.items[i];
  if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
    v = LLVMConstPtrToInt(v, i64);
  return LLVMTypeOf(v) == i64 ? v : LLVMConstInt(i64, 0, false);
}

static void add_constant(TraceCode *c, LLVMValueRef v) {
  uint64_t fresh = c->constants.len;
  if (hashmap_intern(&c->constant_numbers, &v, sizeof v, fresh) == fresh)
    array_push(&c->constants, v);
}

static bool is_address(LLVMValueRef v) {
  if (LLVMIsAConstantPointerNull(v) || LLVMIsUndef(v) ||
      (LLVMIsAGlobalVariable(v) && LLVMIsThreadLocal(v)))
    return false;
  if (LLVMIsAGlobalValue(v) || LLVMIsABlockAddress(v))
    return true;
  LLVMTypeKind k = LLVMGetTypeKind(LLVMTypeOf(v));
  return LLVMIsAConstantExpr(v) &&
         (k == LLVMPointerTypeKind || k == LLVMIntegerTypeKind);
}

static void collect_constants(TraceCode *c, LLVMValueRef inst) {
  bool call = LLVMIsACallInst(inst);
  if (LLVMGetInstructionOpcode(inst) == LLVMIndirectBr) {
    LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
    for (unsigned i = 0; i < LLVMGetNumSuccessors(inst); i++)
      add_constant(c, LLVMBlockAddress(f, LLVMGetSuccessor(inst, i)));
  }
  if (trace_code_is_nothing(inst) ||
      text_starts(trace_code_intrinsic(inst), "llvm.threadlocal.address"))
    return;
  for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
    LLVMValueRef v = LLVMGetOperand(inst, (unsigned)i);
    // The callee is named, not called by its address.
    if (call && v == LLVMGetCalledValue(inst) && LLVMIsAFunction(v) &&
        i == LLVMGetNumOperands(inst) - 1)
      continue;
    if (v && LLVMIsConstant(v) && is_address(v))
      add_constant(c, v);
  }
}

// Where functions can be called from outside, and where variables lie, even if
// no code of this unit names them.
static void collect_globals(TraceCode *c) {
  EACH_FUNCTION(f, c->module)
  if (trace_code_has(c, f) && trace_code_is_exposed(f))
    add_constant(c, f);
  for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g;
       g = LLVMGetNextGlobal(g)) {
    size_t n;
    if (!LLVMIsDeclaration(g) && !LLVMIsThreadLocal(g) &&
        LLVMGetLinkage(g) != LLVMAppendingLinkage &&
        LLVMGetLinkage(g) != LLVMAvailableExternallyLinkage &&
        !text_starts(LLVMGetValueName2(g, &n), "llvm."))
      add_constant(c, g);
  }
}

static int read_names(TraceCode *c, const char *path, Err *err) {
  Str text = {0};
  if (fs_read(path, 0, &text, err))
    return -1;
  for (char *at = text.data, *end; at && *at; at = end + 1) {
    end = at + strcspn(at, "\n");
    if (end > at)
      hashmap_put(&c->inside, at, (size_t)(end - at), 1);
    if (!*end)
      break;
  }
  str_release(&text);
  return 0;
}

static void collect(TraceCode *c, LLVMModuleRef m) {
  c->layout = LLVMGetModuleDataLayout(m);
  EACH_FUNCTION(f, m) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (!trace_code_has(c, f))
      continue;
    array_push(&c->functions, f);
    hashmap_put(&c->inside, name, n, 1);
  }
  collect_globals(c);
  for (size_t i = 0; i < c->functions.len; i++)
    EACH_BLOCK(b, c->functions.items[i]) {
      EACH_INST(inst, b)
      collect_constants(c, inst);
    }
}

int trace_code_init(TraceCode *c, LLVMModuleRef m, bool promote,
                    const char *defined, Err *err) {
  *c = (TraceCode){.module = m};
  if (normalise(m, promote, err) || (defined && read_names(c, defined, err)))
    return -1;
  collect(c, m);
  for (size_t i = 0; promote && i < c->functions.len; i++)
    trace_loops_find(&c->loops, c, c->functions.items[i]);
  return 0;
}

void trace_code_collect(TraceCode *c, LLVMModuleRef m) {
  *c = (TraceCode){.module = m};
  collect(c, m);
}

void trace_code_init_plain(TraceCode *c, LLVMModuleRef m) {
  trace_code_collect(c, m);
  drop_all_promises(m);
  define_all(m);
}

void trace_code_release(TraceCode *c) {
  trace_loops_release(&c->loops);
  array_release(&c->constants);
  array_release(&c->functions);
  hashmap_release(&c->constant_numbers);
  hashmap_release(&c->inside);
}
