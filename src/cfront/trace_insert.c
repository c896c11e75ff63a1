// Adds the recording of a trace to a module: see trace_insert.h.
#include "cfront/trace_insert.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Support.h>
#include <stdlib.h>
#include <string.h>

#include "cfront/graph.h"
#include "cfront/passes.h"
#include "cfront/probe.h"
#include "cfront/trace_effects.h"
#include "runtime/trace_format.h"

typedef struct {
  TraceCode *code;
  const TraceOptions *options;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef i8, i32, i64, ptr;
  LLVMValueRef header, check;
  LLVMTypeRef check_type, threads_type;
  // For loops that may be unrecorded: as `check`, if not; append 1, 2, 4 or 8
  // bytes, if not; store the cursor, if not.
  LLVMValueRef check_unless, note[4], flush_unless;
  LLVMValueRef ours; // scope: the stream
  unsigned alias_scope, noalias;
  // of the function at hand
  LLVMMetadataRef place;
  LLVMValueRef cursor;     // local variable
  LLVMValueRef was;        // outside? when it was entered; NULL: never
  Hashmap unrecorded;      // head of a loop -> i1
  LLVMValueRef accesses;   // local variable: TraceAccess[]
  LLVMValueRef answer;     // local variable: of the recorder
  LLVMBasicBlockRef noted; // of the block at hand: something was, in this loop
  uint32_t unchecked;      // bytes since the last look at the limit
  bool owed; // a function of ours returned: look before more is appended
} Inserter;

// --- small things -----------------------------------------------------------

static void stand_before(Inserter *t, LLVMValueRef inst) {
  LLVMPositionBuilderBefore(t->builder, inst);
  LLVMSetCurrentDebugLocation2(t->builder, t->place);
}

static LLVMValueRef number(const Inserter *t, uint64_t v) {
  return LLVMConstInt(t->i64, v, false);
}

static LLVMValueRef field(const Inserter *t, uint64_t offset) {
  LLVMValueRef at = number(t, offset);
  return LLVMConstInBoundsGEP2(t->i8, t->header, &at, 1);
}
#define FIELD(t, member) field(t, offsetof(TraceHeader, member))

static LLVMValueRef mark_ours(const Inserter *t, LLVMValueRef inst) {
  LLVMSetMetadata(inst, t->alias_scope, t->ours);
  return inst;
}

static LLVMValueRef get_cursor(const Inserter *t) {
  return LLVMBuildLoad2(t->builder, t->ptr, t->cursor, "");
}

static void set_cursor(const Inserter *t, LLVMValueRef v) {
  LLVMBuildStore(t->builder, v, t->cursor);
}

static LLVMValueRef beyond(const Inserter *t, LLVMValueRef p, uint64_t n) {
  LLVMValueRef by = number(t, n);
  return LLVMBuildGEP2(t->builder, t->i8, p, &by, 1, "");
}

static void put_at(const Inserter *t, LLVMValueRef at, LLVMValueRef v) {
  LLVMValueRef store = mark_ours(t, LLVMBuildStore(t->builder, v, at));
  LLVMSetAlignment(store, 1);
}

static void look_at_limit(Inserter *t) {
  LLVMValueRef cursor = get_cursor(t);
  set_cursor(
      t, LLVMBuildCall2(t->builder, t->check_type, t->check, &cursor, 1, ""));
  t->unchecked = 0;
  t->owed = false;
}

// Appends a value of a whole number of bytes.
static void append(Inserter *t, LLVMValueRef v, uint32_t size) {
  if (t->owed || t->unchecked + size > TRACE_SLACK / 4)
    look_at_limit(t);
  t->unchecked += size;
  LLVMValueRef at = get_cursor(t);
  put_at(t, at, v);
  set_cursor(t, beyond(t, at, size));
}

static LLVMTypeRef integer(const Inserter *t, uint32_t bytes) {
  return LLVMIntTypeInContext(t->context, bytes * 8);
}

// The bits of a scalar as an integer of `bytes` bytes.
static LLVMValueRef to_bits(Inserter *t, LLVMValueRef v, uint32_t bytes) {
  LLVMTypeRef type = LLVMTypeOf(v);
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind == LLVMPointerTypeKind)
    v = LLVMBuildPtrToInt(t->builder, v, t->i64, "");
  else if (kind == LLVMFloatTypeKind)
    v = LLVMBuildBitCast(t->builder, v, t->i32, "");
  else if (kind == LLVMDoubleTypeKind)
    v = LLVMBuildBitCast(t->builder, v, t->i64, "");
  return LLVMBuildZExt(t->builder, v, integer(t, bytes), "");
}

// Appends all scalars of a value; each takes `bytes` (0: as many as it needs).
static void append_value(Inserter *t, LLVMValueRef v, uint32_t bytes) {
  LLVMTypeRef type = LLVMTypeOf(v);
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind) {
    uint64_t n = kind == LLVMStructTypeKind ? LLVMCountStructElementTypes(type)
                                            : LLVMGetArrayLength2(type);
    for (unsigned i = 0; i < n; i++)
      append_value(t, LLVMBuildExtractValue(t->builder, v, i, ""), bytes);
    return;
  }
  Scalars s = {0};
  trace_code_scalars(t->code, type, &s);
  if (s.len && s.items[0].width) {
    uint32_t size = bytes ? bytes : trace_code_bytes(&s.items[0]);
    append(t, to_bits(t, v, size), size);
  }
  array_release(&s);
}

static void flush(Inserter *t, bool visible) {
  LLVMValueRef store =
      LLVMBuildStore(t->builder, get_cursor(t), FIELD(t, cursor));
  LLVMSetVolatile(store, visible);
  mark_ours(t, store);
}

static void reload(Inserter *t) {
  set_cursor(t, mark_ours(t, LLVMBuildLoad2(t->builder, t->ptr,
                                            FIELD(t, cursor), "")));
  t->unchecked = 0;
}

// Memory is not what the stream says any more (runtime/trace_seen.h).
static void count_change(Inserter *t, LLVMValueRef by) {
  LLVMValueRef was =
      mark_ours(t, LLVMBuildLoad2(t->builder, t->i64, FIELD(t, changes), ""));
  LLVMValueRef now = LLVMBuildAdd(
      t->builder, was, LLVMBuildZExt(t->builder, by, t->i64, ""), "");
  mark_ours(t, LLVMBuildStore(t->builder, now, FIELD(t, changes)));
}

static void set_outside(Inserter *t, LLVMValueRef v) {
  mark_ours(t, LLVMBuildStore(t->builder, v, FIELD(t, outside)));
}

// --- functions of the runtime -----------------------------------------------

static void hide(LLVMValueRef v) { LLVMSetVisibility(v, LLVMHiddenVisibility); }

static void add_attribute(Inserter *t, LLVMValueRef f, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(t->context, kind, 0));
}

static LLVMValueRef declare(Inserter *t, const char *name, LLVMTypeRef type) {
  LLVMValueRef f = LLVMGetNamedFunction(t->code->module, name);
  if (!f) {
    f = LLVMAddFunction(t->code->module, name, type);
    hide(f);
    add_attribute(t, f, "nounwind");
  }
  return f;
}

static void mark_unlikely(Inserter *t, LLVMValueRef branch) {
  LLVMMetadataRef parts[3] = {
      LLVMMDStringInContext2(t->context, "branch_weights", 14),
      LLVMValueAsMetadata(LLVMConstInt(t->i32, 1, false)),
      LLVMValueAsMetadata(LLVMConstInt(t->i32, 100000, false))};
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(t->context, "prof", 4),
                  LLVMMetadataAsValue(
                      t->context, LLVMMDNodeInContext2(t->context, parts, 3)));
}

// cursor > limit ? __culprit_trace_full(cursor) : cursor, to be inlined.
static void define_check(Inserter *t) {
  enum { PRESERVE_MOST = 14 };
  LLVMTypeRef type = LLVMFunctionType(t->ptr, &t->ptr, 1, false);
  LLVMValueRef full = declare(t, "__culprit_trace_full", type);
  LLVMSetFunctionCallConv(full, PRESERVE_MOST);
  LLVMValueRef f = LLVMAddFunction(t->code->module, "__culprit_check", type);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  add_attribute(t, f, "alwaysinline");
  add_attribute(t, f, "nounwind");
  LLVMValueRef cursor = LLVMGetParam(f, 0);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(t->context, f, ""),
                    slow = LLVMAppendBasicBlockInContext(t->context, f, ""),
                    end = LLVMAppendBasicBlockInContext(t->context, f, "");
  LLVMPositionBuilderAtEnd(t->builder, entry);
  LLVMValueRef limit =
      mark_ours(t, LLVMBuildLoad2(t->builder, t->ptr, FIELD(t, limit), ""));
  LLVMValueRef over = LLVMBuildICmp(t->builder, LLVMIntUGT, cursor, limit, "");
  mark_unlikely(t, LLVMBuildCondBr(t->builder, over, slow, end));
  LLVMPositionBuilderAtEnd(t->builder, slow);
  LLVMValueRef other = LLVMBuildCall2(t->builder, type, full, &cursor, 1, "");
  LLVMSetInstructionCallConv(other, PRESERVE_MOST);
  LLVMBuildBr(t->builder, end);
  LLVMPositionBuilderAtEnd(t->builder, end);
  LLVMValueRef phi = LLVMBuildPhi(t->builder, t->ptr, "");
  LLVMAddIncoming(phi, &cursor, &entry, 1);
  LLVMAddIncoming(phi, &other, &slow, 1);
  LLVMBuildRet(t->builder, phi);
  t->check = f;
  t->check_type = type;
}

// --- what is done only if a loop is recorded --------------------------------

// A function to be inlined, whose first two parameters are "it is not recorded"
// and the cursor; it gives the cursor back. The builder stands where it is
// recorded; unless_end() makes the rest.
static LLVMValueRef unless_begin(Inserter *t, const char *name,
                                 LLVMTypeRef more) {
  LLVMContextRef c = t->context;
  LLVMTypeRef params[3] = {LLVMInt1TypeInContext(c), t->ptr, more};
  LLVMTypeRef type = LLVMFunctionType(t->ptr, params, more ? 3 : 2, false);
  LLVMValueRef f = LLVMAddFunction(t->code->module, name, type);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  add_attribute(t, f, "alwaysinline");
  add_attribute(t, f, "nounwind");
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, f, ""),
                    recorded = LLVMAppendBasicBlockInContext(c, f, ""),
                    end = LLVMAppendBasicBlockInContext(c, f, "");
  LLVMPositionBuilderAtEnd(t->builder, entry);
  LLVMBuildCondBr(t->builder, LLVMGetParam(f, 0), end, recorded);
  LLVMPositionBuilderAtEnd(t->builder, recorded);
  return f;
}

static LLVMValueRef unless_end(Inserter *t, LLVMValueRef f, LLVMValueRef new) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(f),
                    recorded = LLVMGetNextBasicBlock(entry),
                    end = LLVMGetLastBasicBlock(f);
  LLVMValueRef old = LLVMGetParam(f, 1);
  LLVMBuildBr(t->builder, end);
  LLVMPositionBuilderAtEnd(t->builder, end);
  LLVMValueRef phi = LLVMBuildPhi(t->builder, t->ptr, "");
  LLVMAddIncoming(phi, &old, &entry, 1);
  LLVMAddIncoming(phi, &new, &recorded, 1);
  LLVMBuildRet(t->builder, phi);
  return f;
}

static void define_unless(Inserter *t) {
  static const char *const names[] = {"__culprit_note1", "__culprit_note2",
                                      "__culprit_note4", "__culprit_note8"};
  LLVMValueRef f = unless_begin(t, "__culprit_check_unless", NULL);
  LLVMValueRef cursor = LLVMGetParam(f, 1);
  t->check_unless = unless_end(
      t, f,
      LLVMBuildCall2(t->builder, t->check_type, t->check, &cursor, 1, ""));
  for (uint32_t i = 0; i < 4; i++) {
    f = unless_begin(t, names[i], integer(t, 1u << i));
    put_at(t, LLVMGetParam(f, 1), LLVMGetParam(f, 2));
    t->note[i] = unless_end(t, f, beyond(t, LLVMGetParam(f, 1), 1u << i));
  }
  f = unless_begin(t, "__culprit_flush_unless", NULL);
  mark_ours(t,
            LLVMBuildStore(t->builder, LLVMGetParam(f, 1), FIELD(t, cursor)));
  t->flush_unless = unless_end(t, f, LLVMGetParam(f, 1));
}

static void call_unless(Inserter *t, LLVMValueRef f, LLVMValueRef unrecorded,
                        LLVMValueRef more) {
  LLVMValueRef args[3] = {unrecorded, get_cursor(t), more};
  set_cursor(t, LLVMBuildCall2(t->builder, LLVMGlobalGetValueType(f), f, args,
                               more ? 3 : 2, ""));
}

// NULL: the block is not the head of such a loop.
static LLVMValueRef is_unrecorded(const Inserter *t, LLVMBasicBlockRef head) {
  uint64_t v;
  return hashmap_get(&t->unrecorded, &head, sizeof head, &v)
             ? (LLVMValueRef)(uintptr_t)v
             : NULL;
}

// What the load gave, if the loop is recorded.
static void note(Inserter *t, LLVMValueRef load, LLVMValueRef unrecorded) {
  Scalars s = {0};
  trace_code_scalars(t->code, LLVMTypeOf(load), &s);
  uint32_t bytes = trace_code_bytes(&s.items[0]);
  array_release(&s);
  if (t->owed)
    look_at_limit(t);
  t->unchecked += bytes;
  call_unless(t, t->note[__builtin_ctz(bytes)], unrecorded,
              to_bits(t, load, bytes));
}

static LLVMValueRef make_scope(Inserter *t, const char *name) {
  LLVMContextRef c = t->context;
  LLVMMetadataRef text = LLVMMDStringInContext2(c, "culprit", 7);
  LLVMMetadataRef domain = LLVMMDNodeInContext2(c, &text, 1);
  LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(c, name, strlen(name)),
                              domain};
  LLVMMetadataRef scope = LLVMMDNodeInContext2(c, parts, 2);
  return LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, &scope, 1));
}

static void init(Inserter *t) {
  LLVMModuleRef m = t->code->module;
  LLVMContextRef c = t->context = LLVMGetModuleContext(m);
  t->builder = LLVMCreateBuilderInContext(c);
  t->i8 = LLVMInt8TypeInContext(c);
  t->i32 = LLVMInt32TypeInContext(c);
  t->i64 = LLVMInt64TypeInContext(c);
  t->ptr = LLVMPointerTypeInContext(c, 0);
  t->alias_scope = LLVMGetMDKindIDInContext(c, "alias.scope", 11);
  t->noalias = LLVMGetMDKindIDInContext(c, "noalias", 7);
  t->ours = make_scope(t, "culprit.stream");
  t->header = LLVMAddGlobal(m, LLVMArrayType2(t->i8, sizeof(TraceHeader)),
                            "__culprit_trace");
  LLVMSetAlignment(t->header, 16);
  hide(t->header);
  define_check(t);
  define_unless(t);
  t->threads_type = LLVMFunctionType(LLVMVoidTypeInContext(c), NULL, 0, false);
}

// --- calls ------------------------------------------------------------------

static const char *callee_name(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t n;
  return LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &n) : "";
}

static void wrote_bytes(Inserter *t, LLVMValueRef at, LLVMValueRef n) {
  LLVMTypeRef params[2] = {t->ptr, t->i64};
  LLVMTypeRef type =
      LLVMFunctionType(LLVMVoidTypeInContext(t->context), params, 2, false);
  LLVMValueRef args[2] = {at, n};
  LLVMBuildCall2(t->builder, type, declare(t, "__culprit_trace_wrote", type),
                 args, 2, "");
}

static void wrote_text(Inserter *t, LLVMValueRef at) {
  LLVMTypeRef type =
      LLVMFunctionType(LLVMVoidTypeInContext(t->context), &t->ptr, 1, false);
  LLVMBuildCall2(t->builder, type,
                 declare(t, "__culprit_trace_wrote_text", type), &at, 1, "");
}

// `v` as a signed 64-bit number.
static LLVMValueRef wide(Inserter *t, LLVMValueRef v) {
  return LLVMBuildIntCast2(t->builder, v, t->i64, true, "");
}

static LLVMValueRef only_if(Inserter *t, LLVMValueRef cond, LLVMValueRef v) {
  return LLVMBuildSelect(t->builder, cond, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

static LLVMValueRef at_least(Inserter *t, LLVMValueRef v, uint64_t least) {
  return LLVMBuildICmp(t->builder, LLVMIntSGE, v, number(t, least), "");
}

static void record_line(Inserter *t, LLVMValueRef call, LLVMValueRef result) {
  LLVMValueRef line = LLVMGetOperand(call, 0);
  LLVMValueRef good = at_least(t, result, 0);
  wrote_bytes(t, line, number(t, 8));
  wrote_bytes(t, LLVMGetOperand(call, 1), number(t, 8));
  LLVMValueRef text = LLVMBuildLoad2(t->builder, t->ptr, line, "");
  LLVMValueRef n = LLVMBuildAdd(t->builder, result, number(t, 1), "");
  wrote_bytes(t, text, only_if(t, good, n));
}

// Fits the declaration what we know of the function? A program may have its
// own idea.
static bool fits(LLVMValueRef call, const TraceEffect *e) {
  unsigned n = LLVMGetNumArgOperands(call);
  LLVMTypeKind result = LLVMGetTypeKind(LLVMTypeOf(call));
  if (e->at >= n || e->size >= (int)n ||
      LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, e->at))) !=
          LLVMPointerTypeKind)
    return false;
  if (e->kind == EFFECT_POINTER || e->kind == EFFECT_ARRAY)
    return true;
  return result == (e->kind == EFFECT_TEXT_IF_SET ? LLVMPointerTypeKind
                                                  : LLVMIntegerTypeKind);
}

static void record_effect(Inserter *t, LLVMValueRef call) {
  const TraceEffect *e = trace_effect(callee_name(call));
  if (!e || !fits(call, e))
    return;
  LLVMValueRef at = LLVMGetOperand(call, e->at);
  LLVMValueRef size =
      e->size >= 0 ? LLVMGetOperand(call, (unsigned)e->size) : NULL;
  LLVMValueRef result = e->kind == EFFECT_POINTER || e->kind == EFFECT_ARRAY ||
                                e->kind == EFFECT_TEXT_IF_SET
                            ? NULL
                            : wide(t, call);
  switch (e->kind) {
  case EFFECT_POINTER:
    wrote_bytes(t, at, number(t, 8));
    break;
  case EFFECT_TEXT_IF_SET:
    wrote_text(t, call);
    break;
  case EFFECT_TEXT:
    wrote_text(t, only_if(t, at_least(t, result, 0), at));
    break;
  case EFFECT_SIZED_TEXT:
    wrote_text(t, only_if(t, at_least(t, result, 0),
                          only_if(t, at_least(t, wide(t, size), 1), at)));
    break;
  case EFFECT_BYTES:
    if (size)
      result = LLVMBuildMul(t->builder, result, wide(t, size), "");
    wrote_bytes(t, at, only_if(t, at_least(t, result, 1), result));
    break;
  case EFFECT_LINE:
    record_line(t, call, result);
    break;
  case EFFECT_NEW_TEXT:
    wrote_bytes(t, at, number(t, 8));
    wrote_text(t, only_if(t, at_least(t, result, 0),
                          LLVMBuildLoad2(t->builder, t->ptr, at, "")));
    break;
  case EFFECT_ARRAY:
    wrote_bytes(t, at,
                LLVMBuildMul(t->builder, wide(t, LLVMGetOperand(call, 1)),
                             wide(t, size), ""));
    break;
  }
}

static bool starts_thread(const char *name) {
  static const char *const names[] = {"pthread_create", "thrd_create", "clone",
                                      "clone3"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i]))
      return true;
  return false;
}

static bool is_must_tail(LLVMValueRef call) {
  return LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;
}

static void go_outside(Inserter *t, LLVMValueRef call) {
  stand_before(t, call);
  flush(t, false);
  count_change(t, number(t, 1));
  set_outside(t, LLVMConstInt(t->i32, 1, false));
  if (starts_thread(callee_name(call)))
    LLVMBuildCall2(t->builder, t->threads_type,
                   declare(t, "__culprit_trace_threads", t->threads_type), NULL,
                   0, "");
  if (is_must_tail(call))
    return;
  stand_before(t, LLVMGetNextInstruction(call));
  set_outside(t, LLVMConstInt(t->i32, 0, false));
  record_effect(t, call);
  reload(t);
  append(t, LLVMConstInt(t->i8, TRACE_RETURN, false), 1);
  if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
    append_value(t, call, 8);
  flush(t, true); // a crash right behind the call must find it over
  look_at_limit(t);
}

static void stay_inside(Inserter *t, LLVMValueRef call) {
  stand_before(t, call);
  flush(t, false);
  if (is_must_tail(call))
    return;
  stand_before(t, LLVMGetNextInstruction(call));
  reload(t);
  t->owed = true;
}

// --- instructions -----------------------------------------------------------

static void record_va_list(Inserter *t, LLVMValueRef call) {
  LLVMValueRef list = LLVMGetOperand(call, 0);
  for (uint64_t i = 0; i < 3; i++) {
    LLVMValueRef v =
        LLVMBuildLoad2(t->builder, t->i64, beyond(t, list, 8 * i), "");
    append(t, v, 8);
  }
}

// Does it change memory in a way that replay does not follow?
static bool changes_memory(const Inserter *t, LLVMValueRef inst) {
  LLVMOpcode op = LLVMGetInstructionOpcode(inst);
  const char *name = trace_code_intrinsic(inst);
  if (op == LLVMCall && *name)
    return text_starts(name, "llvm.memcpy") ||
           text_starts(name, "llvm.memmove") ||
           text_starts(name, "llvm.va_copy") ||
           (trace_code_site(t->code, inst) == SITE_VALUE &&
            LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMVoidTypeKind);
  if (op == LLVMCall)
    return LLVMIsAInlineAsm(LLVMGetCalledValue(inst));
  if (op != LLVMStore)
    return op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg;
  Scalars s = {0};
  bool opaque = false;
  trace_code_scalars(t->code, LLVMTypeOf(LLVMGetOperand(inst, 0)), &s);
  for (size_t i = 0; i < s.len; i++)
    opaque |= !s.items[i].width;
  array_release(&s);
  return opaque;
}

// Returns whether something was recorded.
static bool insert_at(Inserter *t, LLVMValueRef inst) {
  Site site = trace_code_site(t->code, inst);
  if (changes_memory(t, inst)) {
    stand_before(t, inst);
    count_change(t, number(t, 1));
  }
  if (site == SITE_NONE)
    return false;
  const TraceLoop *loop = trace_loops_of_load(&t->code->loops, inst);
  if (loop) {
    stand_before(t, LLVMGetNextInstruction(inst));
    note(t, inst, is_unrecorded(t, loop->head));
    t->noted = loop->head;
    return false;
  }
  if (site == SITE_INSIDE || site == SITE_OUTSIDE) {
    (site == SITE_INSIDE ? stay_inside : go_outside)(t, inst);
    return !is_must_tail(inst);
  }
  stand_before(t, LLVMGetNextInstruction(inst));
  if (site == SITE_VA_START)
    record_va_list(t, inst);
  else if (LLVMGetTypeKind(LLVMTypeOf(inst)) != LLVMVoidTypeKind)
    append_value(t, inst, 0);
  return true;
}

// --- functions --------------------------------------------------------------

// What was there before we came, in order.
typedef struct {
  ARRAY(LLVMValueRef) insts;
  LLVMValueRef end; // terminator
  LLVMBasicBlockRef block;
  bool loops; // a loop comes back here
} Piece;

static Piece *list_pieces(LLVMValueRef function, size_t *n) {
  *n = LLVMCountBasicBlocks(function);
  Piece *pieces = mem_array(Piece, *n);
  Hashmap numbers = {0};
  size_t k = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b), k++) {
    hashmap_put(&numbers, &b, sizeof b, k);
    pieces[k].block = b;
    pieces[k].end = LLVMGetBasicBlockTerminator(b);
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && i != pieces[k].end;
         i = LLVMGetNextInstruction(i))
      array_push(&pieces[k].insts, i);
  }
  Graph g;
  graph_init(&g, *n);
  for (k = 0; k < *n; k++)
    for (unsigned i = 0; i < LLVMGetNumSuccessors(pieces[k].end); i++) {
      LLVMBasicBlockRef s = LLVMGetSuccessor(pieces[k].end, i);
      uint64_t to = 0;
      hashmap_get(&numbers, &s, sizeof s, &to);
      graph_add(&g, (uint32_t)k, (uint32_t)to);
    }
  Dominators d;
  dominators_find(&d, &g, 0);
  for (k = 0; k < *n; k++)
    for (size_t i = 0; i < g.succs[k].len; i++) {
      uint32_t to = g.succs[k].items[i];
      if (d.order[k] == GRAPH_NONE || d.order[to] <= d.order[k])
        pieces[to].loops = true;
    }
  dominators_release(&d);
  graph_release(&g);
  hashmap_release(&numbers);
  return pieces;
}

static LLVMValueRef first_place(const Piece *p) {
  for (size_t i = 0; i < p->insts.len; i++)
    if (!LLVMIsAPHINode(p->insts.items[i]))
      return p->insts.items[i];
  return p->end;
}

// How many static allocas stand at the start of the entry block.
static size_t nallocas(const Piece *entry) {
  size_t n = 0;
  while (n < entry->insts.len && LLVMIsAAllocaInst(entry->insts.items[n]) &&
         LLVMIsAConstantInt(LLVMGetOperand(entry->insts.items[n], 0)))
    n++;
  return n;
}

static LLVMValueRef behind_allocas(const Piece *entry) {
  size_t n = nallocas(entry);
  return n < entry->insts.len ? entry->insts.items[n] : entry->end;
}

static bool is_by_value(LLVMValueRef function, unsigned param) {
  unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
  return LLVMGetEnumAttributeAtIndex(function, param + 1, kind) != NULL;
}

// Called from outside? Then the arguments are in nobody's record. Written in
// any case, kept only if so: no branch.
static void record_entry(Inserter *t, LLVMValueRef function, uint32_t index) {
  LLVMValueRef start = get_cursor(t);
  t->was =
      mark_ours(t, LLVMBuildLoad2(t->builder, t->i32, FIELD(t, outside), ""));
  append(t, LLVMConstInt(t->i8, TRACE_ENTER, false), 1);
  append(t, LLVMConstInt(t->i32, t->options->number, false), 4);
  append(t, LLVMConstInt(t->i32, index, false), 4);
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    append_value(t, LLVMGetParam(function, i), 8);
  LLVMValueRef inside = LLVMBuildICmp(t->builder, LLVMIntEQ, t->was,
                                      LLVMConstInt(t->i32, 0, false), "");
  set_cursor(t, LLVMBuildSelect(t->builder, inside, start, get_cursor(t), ""));
  set_outside(t, LLVMConstInt(t->i32, 0, false));
}

static void begin_function(Inserter *t, LLVMValueRef function, Piece *entry,
                           uint32_t index) {
  LLVMContextRef c = t->context;
  LLVMMetadataRef scope = LLVMGetSubprogram(function);
  t->place =
      scope ? LLVMDIBuilderCreateDebugLocation(c, 0, 0, scope, NULL) : NULL;
  t->was = NULL;
  stand_before(t, LLVMGetFirstInstruction(entry->block));
  t->cursor = LLVMBuildAlloca(t->builder, t->ptr, "");
  stand_before(t, behind_allocas(entry));
  reload(t);
  look_at_limit(t);
  if (trace_code_is_exposed(function))
    record_entry(t, function, index);
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    if (is_by_value(function, i))
      append_value(t, LLVMGetParam(function, i), 8);
}

// Is something recorded in this loop, even if it is unrecorded?
static bool records_anyway(const Inserter *t, LLVMBasicBlockRef head) {
  const TraceLoop *l = trace_loops_at(&t->code->loops, head);
  return t->options->check || l->mixed;
}

// The stream's order within a block: number, then what its instructions record.
static bool begin_block(Inserter *t, const Piece *p, uint32_t index) {
  if (index) {
    t->unchecked = 0;
    stand_before(t, first_place(p));
    LLVMValueRef unrecorded = is_unrecorded(t, p->block);
    if (p->loops && unrecorded && !records_anyway(t, p->block))
      call_unless(t, t->check_unless, unrecorded, NULL);
    else if (p->loops)
      look_at_limit(t);
  }
  t->noted = NULL;
  if (t->options->check)
    append(t, LLVMConstInt(t->i32, index, false), 4);
  for (size_t i = 0; index == 0 && i < nallocas(p); i++)
    append_value(t, p->insts.items[i], 8);
  return t->options->check || index == 0;
}

static void end_block(Inserter *t, const Piece *p, bool recorded) {
  LLVMValueRef end = p->end;
  // A tail call that must be one stands before its return: nothing goes
  // between.
  LLVMValueRef last = p->insts.len ? array_last(&p->insts) : NULL;
  if (last && LLVMIsACallInst(last) && is_must_tail(last))
    end = last;
  stand_before(t, end);
  bool leaves = LLVMGetInstructionOpcode(p->end) == LLVMRet;
  if (t->owed && !leaves)
    look_at_limit(t);
  t->owed = false;
  if (recorded || leaves)
    flush(t, !leaves);
  else if (t->noted)
    call_unless(t, t->flush_unless, is_unrecorded(t, t->noted), NULL);
  if (leaves && t->was) {
    count_change(t, t->was);
    set_outside(t, t->was);
  }
}

static void insert_block(Inserter *t, Piece *p, uint32_t index) {
  bool recorded = begin_block(t, p, index);
  for (size_t i = 0; i < p->insts.len; i++) {
    // Those of the entry block's start were recorded together.
    if (index || i >= nallocas(p))
      recorded |= insert_at(t, p->insts.items[i]);
  }
  end_block(t, p, recorded);
}

// --- loops ------------------------------------------------------------------

// Moves everything in front of the loop to a block of its own; `before` is left
// empty, and the loop's phi nodes still know it as the block they come from.
static LLVMBasicBlockRef empty_block(Inserter *t, LLVMBasicBlockRef before) {
  LLVMBasicBlockRef top = LLVMInsertBasicBlockInContext(t->context, before, "");
  LLVMPositionBuilderAtEnd(t->builder, top);
  LLVMSetCurrentDebugLocation2(t->builder, NULL);
  for (LLVMValueRef i; (i = LLVMGetFirstInstruction(before));) {
    LLVMInstructionRemoveFromParent(i);
    LLVMInsertIntoBuilder(t->builder, i);
  }
  LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(top));
  LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(before),
                         LLVMBasicBlockAsValue(top));
  return top;
}

// Asks the recorder; i32.
static LLVMValueRef ask(Inserter *t, const TraceLoop *l, LLVMValueRef count) {
  LLVMValueRef last = LLVMBuildSub(t->builder, count, number(t, 1), "");
  for (size_t i = 0; i < l->loads.len; i++) {
    LLVMValueRef load = l->loads.items[i], at = LLVMGetOperand(load, 0);
    LLVMValueRef parts[4] = {
        trace_loop_value(l, t->builder, at, NULL),
        trace_loop_value(l, t->builder, at, number(t, 1)),
        trace_loop_value(l, t->builder, at, last),
        number(t, LLVMStoreSizeOfType(t->code->layout, LLVMTypeOf(load)))};
    for (size_t k = 0; k < 4; k++)
      LLVMBuildStore(t->builder, parts[k],
                     beyond(t, t->accesses, i * sizeof(TraceAccess) + k * 8));
  }
  LLVMTypeRef params[3] = {t->i64, t->ptr, t->i64};
  LLVMTypeRef type = LLVMFunctionType(t->i32, params, 3, false);
  LLVMValueRef args[3] = {count, t->accesses, number(t, l->loads.len)};
  flush(t, false);
  LLVMValueRef answer = LLVMBuildCall2(
      t->builder, type, declare(t, "__culprit_trace_range", type), args, 3, "");
  reload(t);
  return answer;
}

// In front of a loop: will it go round often enough to ask?
static void insert_range(Inserter *t, Piece *p, const TraceLoop *l) {
  enum { OFTEN = 16 };
  LLVMBasicBlockRef top = empty_block(t, l->before);
  LLVMBasicBlockRef asks =
      LLVMInsertBasicBlockInContext(t->context, l->before, "");
  LLVMBasicBlockRef rare =
      LLVMInsertBasicBlockInContext(t->context, l->before, "");
  LLVMSetCurrentDebugLocation2(t->builder, t->place);
  LLVMPositionBuilderAtEnd(t->builder, top);
  LLVMValueRef count = trace_loop_count(l, t->builder);
  p->block = top;
  p->end = LLVMBuildCondBr(
      t->builder,
      LLVMBuildICmp(t->builder, LLVMIntSGE, count, number(t, OFTEN), ""), asks,
      rare);
  LLVMPositionBuilderAtEnd(t->builder, asks);
  LLVMBuildStore(t->builder, ask(t, l, count), t->answer);
  LLVMBuildBr(t->builder, l->before);
  LLVMPositionBuilderAtEnd(t->builder, rare);
  append(t, LLVMConstInt(t->i8, 0, false), 1);
  flush(t, true);
  LLVMBuildStore(t->builder, LLVMConstNull(t->i32), t->answer);
  LLVMBuildBr(t->builder, l->before);
  LLVMPositionBuilderAtEnd(t->builder, l->before);
  LLVMValueRef unrecorded = LLVMBuildTrunc(
      t->builder, LLVMBuildLoad2(t->builder, t->i32, t->answer, ""),
      LLVMInt1TypeInContext(t->context), "");
  LLVMBuildBr(t->builder, l->head);
  hashmap_put(&t->unrecorded, &l->head, sizeof l->head,
              (uint64_t)(uintptr_t)unrecorded);
}

static void insert_ranges(Inserter *t, Piece *pieces, size_t n) {
  for (size_t k = 0; k < n; k++) {
    const TraceLoop *l = trace_loops_behind(&t->code->loops, pieces[k].block);
    if (l)
      insert_range(t, &pieces[k], l);
  }
}

static size_t most_loads(const Inserter *t, const Piece *pieces, size_t n) {
  size_t most = 0;
  for (size_t k = 0; k < n; k++) {
    const TraceLoop *l = trace_loops_behind(&t->code->loops, pieces[k].block);
    if (l && l->loads.len > most)
      most = l->loads.len;
  }
  return most;
}

// Where the recorder is told what a loop will read.
static void make_room(Inserter *t, const Piece *pieces, size_t n) {
  size_t most = most_loads(t, pieces, n);
  if (!most)
    return;
  stand_before(t, LLVMGetFirstInstruction(pieces[0].block));
  t->answer = LLVMBuildAlloca(t->builder, t->i32, "");
  t->accesses = LLVMBuildAlloca(
      t->builder, LLVMArrayType2(t->i64, most * sizeof(TraceAccess) / 8), "");
}

static bool has_sites(const Inserter *t, const Piece *pieces, size_t n) {
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < pieces[k].insts.len; i++)
      if (trace_code_site(t->code, pieces[k].insts.items[i]) != SITE_NONE)
        return true;
  return t->options->check;
}

static void insert_function(Inserter *t, LLVMValueRef function,
                            uint32_t index) {
  size_t n;
  Piece *pieces = list_pieces(function, &n);
  bool by_value = false;
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    by_value |= is_by_value(function, i);
  if (has_sites(t, pieces, n) || trace_code_is_exposed(function) || by_value) {
    begin_function(t, function, &pieces[0], index);
    make_room(t, pieces, n);
    insert_ranges(t, pieces, n);
    stand_before(t, behind_allocas(&pieces[0]));
    for (uint32_t k = 0; k < n; k++)
      insert_block(t, &pieces[k], k);
  }
  for (size_t k = 0; k < n; k++)
    array_release(&pieces[k].insts);
  free(pieces);
}

// The program's own accesses never touch the stream.
static void separate(Inserter *t) {
  for (size_t k = 0; k < t->code->functions.len; k++)
    for (LLVMBasicBlockRef b =
             LLVMGetFirstBasicBlock(t->code->functions.items[k]);
         b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
           i = LLVMGetNextInstruction(i))
        if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
          LLVMSetMetadata(i, t->noalias, t->ours);
}

// --- the unit's record ------------------------------------------------------

static LLVMValueRef make_values(Inserter *t) {
  const TraceCode *c = t->code;
  size_t n = c->constants.len;
  LLVMValueRef *values = mem_array(LLVMValueRef, n + 1);
  for (size_t i = 0; i < n; i++)
    values[i] = trace_code_number(c, i);
  LLVMValueRef array = LLVMConstArray2(t->i64, values, n);
  LLVMValueRef g =
      LLVMAddGlobal(c->module, LLVMTypeOf(array), "__culprit_trace_values");
  LLVMSetInitializer(g, array);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  free(values);
  return g;
}

static void add_record(Inserter *t) {
  const TraceOptions *o = t->options;
  LLVMValueRef id[16];
  for (int i = 0; i < 16; i++)
    id[i] = LLVMConstInt(t->i8, o->id.bytes[i], false);
  LLVMValueRef parts[6] = {
      LLVMConstArray2(t->i8, id, 16),
      make_values(t),
      LLVMConstInt(t->i32, o->number, false),
      LLVMConstInt(t->i32, t->code->constants.len, false),
      LLVMConstInt(t->i32, o->check ? TRACE_FLAG_CHECK : 0, false),
      LLVMConstInt(t->i32, 0, false)};
  LLVMValueRef record = LLVMConstStructInContext(t->context, parts, 6, false);
  LLVMValueRef g = LLVMAddGlobal(t->code->module, LLVMTypeOf(record),
                                 "__culprit_trace_unit");
  LLVMSetInitializer(g, record);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetSection(g, TRACE_UNIT_SECTION);
  LLVMSetAlignment(g, 8);
  probe_keep(t->code->module, g);
}

// Loops that may be unrecorded become two loops: LLVM can work on the one that
// is. Else it would leave them as they are, unless asked for -O3.
static int separate_loops(const TraceCode *c, Err *err) {
  static const char *const options[] = {"", "-unswitch-threshold=1000"};
  if (!c->loops.items.len)
    return 0;
  LLVMParseCommandLineOptions(2, options, NULL);
  return passes_run(c->module,
                    "always-inline,function(sroa,early-cse,loop-simplify,lcssa,"
                    "loop-mssa(simple-loop-unswitch<nontrivial>))",
                    err);
}

int trace_insert(TraceCode *c, const TraceOptions *o, Err *err) {
  Inserter t = {.code = c, .options = o};
  init(&t);
  separate(&t);
  for (size_t i = 0; i < c->functions.len; i++)
    insert_function(&t, c->functions.items[i], (uint32_t)i);
  add_record(&t);
  hashmap_release(&t.unrecorded);
  LLVMDisposeBuilder(t.builder);
  return separate_loops(c, err);
}
