// The smallest pieces of the code that a trace build adds: see trace_stream.h.
#include "trace/trace_stream.h"

#include <string.h>

#include "runtime/trace_format.h"

// --- small things -----------------------------------------------------------

void stream_stand_before(Inserter *t, LLVMValueRef inst) {
  LLVMPositionBuilderBefore(t->builder, inst);
  LLVMSetCurrentDebugLocation2(t->builder, t->place);
}

LLVMValueRef stream_number(const Inserter *t, uint64_t v) {
  return LLVMConstInt(t->i64, v, false);
}

static LLVMValueRef field(const Inserter *t, uint64_t offset) {
  LLVMValueRef at = stream_number(t, offset);
  return LLVMConstInBoundsGEP2(t->i8, t->header, &at, 1);
}
#define FIELD(t, member) field(t, offsetof(TraceHeader, member))

static LLVMValueRef mark_ours(const Inserter *t, LLVMValueRef inst) {
  LLVMSetMetadata(inst, t->alias_scope, t->ours);
  return inst;
}

LLVMValueRef stream_get_cursor(const Inserter *t) {
  return LLVMBuildLoad2(t->builder, t->ptr, t->cursor, "");
}

void stream_set_cursor(const Inserter *t, LLVMValueRef v) {
  LLVMBuildStore(t->builder, v, t->cursor);
}

LLVMValueRef stream_beyond(const Inserter *t, LLVMValueRef p, uint64_t n) {
  LLVMValueRef by = stream_number(t, n);
  return LLVMBuildGEP2(t->builder, t->i8, p, &by, 1, "");
}

static void put_at(const Inserter *t, LLVMValueRef at, LLVMValueRef v) {
  LLVMValueRef store = mark_ours(t, LLVMBuildStore(t->builder, v, at));
  LLVMSetAlignment(store, 1);
}

void stream_look_at_limit(Inserter *t) {
  LLVMValueRef cursor = stream_get_cursor(t);
  stream_set_cursor(
      t, LLVMBuildCall2(t->builder, t->check_type, t->check, &cursor, 1, ""));
  t->unchecked = 0;
  t->owed = false;
}

// Appends a value of a whole number of bytes.
void stream_append(Inserter *t, LLVMValueRef v, uint32_t size) {
  if (t->owed || t->unchecked + size > TRACE_SLACK / 4)
    stream_look_at_limit(t);
  t->unchecked += size;
  t->told = false;
  LLVMValueRef at = stream_get_cursor(t);
  put_at(t, at, v);
  stream_set_cursor(t, stream_beyond(t, at, size));
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
void stream_append_value(Inserter *t, LLVMValueRef v, uint32_t bytes) {
  LLVMTypeRef type = LLVMTypeOf(v);
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind) {
    uint64_t n = kind == LLVMStructTypeKind ? LLVMCountStructElementTypes(type)
                                            : LLVMGetArrayLength2(type);
    for (unsigned i = 0; i < n; i++)
      stream_append_value(t, LLVMBuildExtractValue(t->builder, v, i, ""),
                          bytes);
    return;
  }
  Scalars s = {0};
  trace_code_scalars(t->code, type, &s);
  if (s.len && s.items[0].width) {
    uint32_t size = bytes ? bytes : trace_code_bytes(&s.items[0]);
    stream_append(t, to_bits(t, v, size), size);
  }
  array_release(&s);
}

void stream_flush(Inserter *t, bool visible) {
  LLVMValueRef store =
      LLVMBuildStore(t->builder, stream_get_cursor(t), FIELD(t, cursor));
  LLVMSetVolatile(store, visible);
  mark_ours(t, store);
  t->told = true;
}

void stream_reload(Inserter *t) {
  stream_set_cursor(t, mark_ours(t, LLVMBuildLoad2(t->builder, t->ptr,
                                                   FIELD(t, cursor), "")));
  t->unchecked = 0;
  t->told = true;
}

// Memory is not what the stream says any more (runtime/trace_seen.h).
void stream_count_change(Inserter *t, LLVMValueRef by) {
  LLVMValueRef was =
      mark_ours(t, LLVMBuildLoad2(t->builder, t->i64, FIELD(t, changes), ""));
  LLVMValueRef now = LLVMBuildAdd(
      t->builder, was, LLVMBuildZExt(t->builder, by, t->i64, ""), "");
  mark_ours(t, LLVMBuildStore(t->builder, now, FIELD(t, changes)));
}

LLVMValueRef stream_outside(Inserter *t) {
  return mark_ours(t,
                   LLVMBuildLoad2(t->builder, t->i32, FIELD(t, outside), ""));
}

void stream_set_outside(Inserter *t, LLVMValueRef v) {
  mark_ours(t, LLVMBuildStore(t->builder, v, FIELD(t, outside)));
}

// --- functions of the runtime -----------------------------------------------

static void hide(LLVMValueRef v) { LLVMSetVisibility(v, LLVMHiddenVisibility); }

static void add_attribute(Inserter *t, LLVMValueRef f, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(t->context, kind, 0));
}

LLVMValueRef stream_declare(Inserter *t, const char *name, LLVMTypeRef type) {
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
  LLVMValueRef full = stream_declare(t, "__culprit_trace_full", type);
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
    t->note[i] =
        unless_end(t, f, stream_beyond(t, LLVMGetParam(f, 1), 1u << i));
  }
  f = unless_begin(t, "__culprit_flush_unless", NULL);
  mark_ours(t,
            LLVMBuildStore(t->builder, LLVMGetParam(f, 1), FIELD(t, cursor)));
  t->flush_unless = unless_end(t, f, LLVMGetParam(f, 1));
}

void stream_call_unless(Inserter *t, LLVMValueRef f, LLVMValueRef unrecorded,
                        LLVMValueRef more) {
  LLVMValueRef args[3] = {unrecorded, stream_get_cursor(t), more};
  stream_set_cursor(t, LLVMBuildCall2(t->builder, LLVMGlobalGetValueType(f), f,
                                      args, more ? 3 : 2, ""));
}

// NULL: the block is not the head of such a loop.
LLVMValueRef stream_is_unrecorded(const Inserter *t, LLVMBasicBlockRef head) {
  uint64_t v;
  return hashmap_get(&t->unrecorded, &head, sizeof head, &v)
             ? (LLVMValueRef)(uintptr_t)v
             : NULL;
}

// What the load gave, if the loop is recorded.
void stream_note(Inserter *t, LLVMValueRef load, LLVMValueRef unrecorded) {
  Scalars s = {0};
  trace_code_scalars(t->code, LLVMTypeOf(load), &s);
  uint32_t bytes = trace_code_bytes(&s.items[0]);
  array_release(&s);
  if (t->owed)
    stream_look_at_limit(t);
  t->unchecked += bytes;
  stream_call_unless(t, t->note[__builtin_ctz(bytes)], unrecorded,
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

void stream_open(Inserter *t) {
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
