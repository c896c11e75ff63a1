// The smallest pieces of the code that records pairs: see pairs_emit.h.
#include "close/pairs_emit.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "plan/probe.h"
#include "runtime/close_format.h"

// --- helpers of the runtime -------------------------------------------------

static PairHelper declare(Pairs *p, const char *name, LLVMTypeRef result,
                          LLVMTypeRef *args, unsigned n) {
  PairHelper h = {.type = LLVMFunctionType(result, args, n, false)};
  h.function = LLVMAddFunction(p->module, name, h.type);
  LLVMSetVisibility(h.function, LLVMHiddenVisibility);
  return h;
}

static LLVMValueRef declare_variable(Pairs *p, const char *name,
                                     LLVMTypeRef type, bool local) {
  LLVMValueRef g = LLVMAddGlobal(p->module, type, name);
  LLVMSetVisibility(g, LLVMHiddenVisibility);
  if (local)
    LLVMSetThreadLocalMode(g, LLVMInitialExecTLSModel);
  return g;
}

static void declare_runtime(Pairs *p) {
  LLVMTypeRef define[] = {p->i32, p->ptr, p->i64};
  LLVMTypeRef one[] = {p->ptr}, two[] = {p->ptr, p->ptr};
  LLVMTypeRef moved[] = {p->ptr, p->i64, p->ptr, p->i64};
  LLVMTypeRef none = p->nothing;
  p->define = declare(p, "__culprit_close_define", none, define, 3);
  p->define_text = declare(p, "__culprit_close_define_text", none, define, 3);
  p->use = declare(p, "__culprit_close_use", none, define, 3);
  p->use_text = declare(p, "__culprit_close_use_text", none, define, 3);
  p->fresh = declare(p, "__culprit_close_fresh", none, define, 3);
  p->freed = declare(p, "__culprit_close_freed", none, one, 1);
  p->size = declare(p, "__culprit_close_size", p->i64, one, 1);
  p->cut = declare(p, "__culprit_close_cut", none, two, 2);
  p->token = declare(p, "__culprit_close_token", none, define, 2);
  p->moved = declare(p, "__culprit_close_moved", none, moved, 4);
  p->shadow = declare_variable(p, "__culprit_shadow", p->i64, false);
  p->mask = declare_variable(p, "__culprit_shadow_mask", p->i64, false);
  p->call = declare_variable(p, "__culprit_close_call", p->i32, true);
  p->callee = declare_variable(p, "__culprit_close_callee", p->ptr, true);
  p->returned = declare_variable(p, "__culprit_close_returned", p->i32, true);
  p->returner = declare_variable(p, "__culprit_close_returner", p->ptr, true);
}

// --- memory that is not the program's ---------------------------------------

static LLVMMetadataRef make_scope(Pairs *p, const char *name) {
  LLVMContextRef c = p->context;
  LLVMMetadataRef text = LLVMMDStringInContext2(c, "culprit", 7);
  LLVMMetadataRef domain = LLVMMDNodeInContext2(c, &text, 1);
  LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(c, name, strlen(name)),
                              domain};
  return LLVMMDNodeInContext2(c, parts, 2);
}

static void make_scopes(Pairs *p) {
  static const char *const names[OURS] = {"shadow", "last", "calls"};
  LLVMMetadataRef scopes[OURS];
  p->alias_scope = LLVMGetMDKindIDInContext(p->context, "alias.scope", 11);
  p->noalias = LLVMGetMDKindIDInContext(p->context, "noalias", 7);
  for (int i = 0; i < OURS; i++)
    scopes[i] = make_scope(p, names[i]);
  for (int i = 0; i < OURS; i++) {
    LLVMMetadataRef others[OURS];
    unsigned n = 0;
    for (int k = 0; k < OURS; k++)
      if (k != i)
        others[n++] = scopes[k];
    p->own[i] = LLVMMetadataAsValue(
        p->context, LLVMMDNodeInContext2(p->context, &scopes[i], 1));
    p->others[i] = LLVMMetadataAsValue(
        p->context, LLVMMDNodeInContext2(p->context, others, n));
  }
  p->all = LLVMMetadataAsValue(p->context,
                               LLVMMDNodeInContext2(p->context, scopes, OURS));
}

static LLVMValueRef mark(const Pairs *p, LLVMValueRef access, PairMemory m) {
  LLVMSetMetadata(access, p->alias_scope, p->own[m]);
  LLVMSetMetadata(access, p->noalias, p->others[m]);
  return access;
}

void pairs_mark_program(const Pairs *p, LLVMValueRef access) {
  LLVMSetMetadata(access, p->noalias, p->all);
}

LLVMValueRef pairs_get(Pairs *p, LLVMTypeRef type, LLVMValueRef variable) {
  return mark(p, LLVMBuildLoad2(p->builder, type, variable, ""), OUR_CALLS);
}

void pairs_set(Pairs *p, LLVMValueRef variable, LLVMValueRef value) {
  mark(p, LLVMBuildStore(p->builder, value, variable), OUR_CALLS);
}

// --- helpers made here ------------------------------------------------------

typedef struct {
  PairHelper helper;
  LLVMBasicBlockRef rare, done;
} Small;

static void add_attribute(Pairs *p, LLVMValueRef f, const char *name,
                          uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(p->context, kind, value));
}

// It returns nothing, or 0.
static Small begin_small_with(Pairs *p, const char *name, LLVMTypeRef result,
                              LLVMTypeRef *args, unsigned n) {
  Small s = {.helper = declare(p, name, result, args, n)};
  LLVMValueRef f = s.helper.function;
  LLVMSetVisibility(f, LLVMDefaultVisibility);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  add_attribute(p, f, "alwaysinline", 0);
  add_attribute(p, f, "nounwind", 0);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(p->context, f, "");
  s.rare = LLVMAppendBasicBlockInContext(p->context, f, "");
  s.done = LLVMAppendBasicBlockInContext(p->context, f, "");
  LLVMPositionBuilderAtEnd(p->builder, s.done);
  if (result == p->nothing)
    LLVMBuildRetVoid(p->builder);
  else
    LLVMBuildRet(p->builder, LLVMConstNull(result));
  LLVMPositionBuilderAtEnd(p->builder, entry);
  return s;
}

static Small begin_small(Pairs *p, const char *name, LLVMTypeRef *args,
                         unsigned n) {
  return begin_small_with(p, name, p->nothing, args, n);
}

// To `rare` if the condition holds, which is likely or not.
static void branch(Pairs *p, const Small *s, LLVMValueRef condition,
                   bool likely) {
  LLVMValueRef br = LLVMBuildCondBr(p->builder, condition, s->rare, s->done);
  LLVMMetadataRef weights[] = {
      LLVMMDStringInContext2(p->context, "branch_weights", 14),
      LLVMValueAsMetadata(LLVMConstInt(p->i32, likely ? 2000 : 1, false)),
      LLVMValueAsMetadata(LLVMConstInt(p->i32, likely ? 1 : 2000, false))};
  LLVMMetadataRef node = LLVMMDNodeInContext2(p->context, weights, 3);
  LLVMSetMetadata(br, LLVMGetMDKindIDInContext(p->context, "prof", 4),
                  LLVMMetadataAsValue(p->context, node));
  LLVMPositionBuilderAtEnd(p->builder, s->rare);
}

// It touches nothing that the program can see.
static PairHelper declare_slow(Pairs *p, const char *name, LLVMTypeRef *args,
                               unsigned n) {
  enum { OWN_AND_ARGUMENTS = 15 };
  PairHelper slow = declare(p, name, p->nothing, args, n);
  LLVMSetFunctionCallConv(slow.function, LLVMPreserveMostCallConv);
  add_attribute(p, slow.function, "cold", 0);
  add_attribute(p, slow.function, "nounwind", 0);
  add_attribute(p, slow.function, "memory", OWN_AND_ARGUMENTS);
  return slow;
}

static void call_slow(Pairs *p, PairHelper slow, LLVMValueRef *args,
                      unsigned n) {
  LLVMSetInstructionCallConv(pairs_invoke(p, slow, args, n),
                             LLVMPreserveMostCallConv);
}

// if (last[def % CLOSE_WAYS] != def) slow(def, use, last);
static PairHelper make_record(Pairs *p, const char *slow_name,
                              const char *name) {
  LLVMTypeRef args[] = {p->i32, p->i32, p->ptr};
  PairHelper slow = declare_slow(p, slow_name, args, 3);
  Small s = begin_small(p, name, args, 3);
  LLVMValueRef values[3];
  LLVMGetParams(s.helper.function, values);
  LLVMValueRef way = LLVMBuildZExt(p->builder, values[0], p->i64, "");
  way = LLVMBuildAnd(p->builder, way, pairs_number(p, CLOSE_WAYS - 1), "");
  LLVMValueRef at =
      LLVMBuildInBoundsGEP2(p->builder, p->i32, values[2], &way, 1, "");
  LLVMValueRef last =
      mark(p, LLVMBuildLoad2(p->builder, p->i32, at, ""), OUR_LAST);
  branch(p, &s, LLVMBuildICmp(p->builder, LLVMIntNE, last, values[0], ""),
         false);
  call_slow(p, slow, values, 3);
  LLVMBuildBr(p->builder, s.done);
  return s.helper;
}

// if (mixed) use(use, at, size);
static void make_use_if(Pairs *p) {
  LLVMTypeRef args[] = {LLVMInt1TypeInContext(p->context), p->i32, p->ptr,
                        p->i64};
  Small s = begin_small(p, "__culprit_close_use_if", args, 4);
  LLVMValueRef values[4];
  LLVMGetParams(s.helper.function, values);
  branch(p, &s, values[0], false);
  pairs_invoke(p, p->use, values + 1, 3);
  LLVMBuildBr(p->builder, s.done);
  p->use_if = s.helper;
}

// if (callee == self) { callee = NULL; return call; } return 0;
static void make_given_by(Pairs *p) {
  LLVMTypeRef args[] = {p->ptr};
  Small s = begin_small_with(p, "__culprit_close_given_by", p->i32, args, 1);
  LLVMValueRef self = LLVMGetParam(s.helper.function, 0);
  LLVMValueRef whom = pairs_get(p, p->ptr, p->callee);
  branch(p, &s, LLVMBuildICmp(p->builder, LLVMIntEQ, whom, self, ""), true);
  pairs_set(p, p->callee, LLVMConstNull(p->ptr));
  LLVMBuildRet(p->builder, pairs_get(p, p->i32, p->call));
  p->given_by = s.helper;
}

// if (returner == callee) record(returned, use, last);
static void make_after(Pairs *p) {
  LLVMTypeRef args[] = {p->ptr, p->i32, p->ptr};
  Small s = begin_small(p, "__culprit_close_after", args, 3);
  LLVMValueRef values[3];
  LLVMGetParams(s.helper.function, values);
  LLVMValueRef who = pairs_get(p, p->ptr, p->returner);
  branch(p, &s, LLVMBuildICmp(p->builder, LLVMIntEQ, who, values[0], ""), true);
  values[0] = pairs_get(p, p->i32, p->returned);
  pairs_invoke(p, p->record, values, 3);
  LLVMBuildBr(p->builder, s.done);
  p->after = s.helper;
}

// if (returner != callee) define(0, at, size);
static void make_outside(Pairs *p) {
  LLVMTypeRef args[] = {p->ptr, p->ptr, p->i64};
  Small s = begin_small(p, "__culprit_close_outside", args, 3);
  LLVMValueRef values[3];
  LLVMGetParams(s.helper.function, values);
  LLVMValueRef who = pairs_get(p, p->ptr, p->returner);
  branch(p, &s, LLVMBuildICmp(p->builder, LLVMIntNE, who, values[0], ""),
         false);
  values[0] = pairs_none(p);
  pairs_invoke(p, p->define, values, 3);
  LLVMBuildBr(p->builder, s.done);
  p->outside = s.helper;
}

// --- the unit ---------------------------------------------------------------

void pairs_open(Pairs *p, CloseUnit *u) {
  LLVMModuleRef m = u->module;
  LLVMContextRef c = LLVMGetModuleContext(m);
  *p = (Pairs){.module = m,
               .context = c,
               .builder = LLVMCreateBuilderInContext(c),
               .layout = LLVMGetModuleDataLayout(m),
               .i8 = LLVMInt8TypeInContext(c),
               .i32 = LLVMInt32TypeInContext(c),
               .i64 = LLVMInt64TypeInContext(c),
               .ptr = LLVMPointerTypeInContext(c, 0),
               .nothing = LLVMVoidTypeInContext(c),
               .unit = u};
  declare_runtime(p);
  make_scopes(p);
  p->record = make_record(p, "__culprit_close_pair", "__culprit_close_record");
  p->record_memory = make_record(p, "__culprit_close_pair_memory",
                                 "__culprit_close_record_memory");
  make_use_if(p);
  make_given_by(p);
  make_after(p);
  make_outside(p);
  p->last = LLVMAddGlobal(m, p->i32, "__culprit_close_last_");
}

void pairs_close(Pairs *p) {
  LLVMTypeRef type = LLVMArrayType2(p->i32, p->nlast);
  LLVMValueRef g = LLVMAddGlobal(p->module, type, "__culprit_close_last");
  LLVMSetInitializer(g, LLVMConstNull(type));
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetSection(g, "culprit_last");
  LLVMSetAlignment(g, 4 * CLOSE_WAYS);
  LLVMReplaceAllUsesWith(p->last, g);
  LLVMDeleteGlobal(p->last);
  probe_keep(p->module, g);
  array_release(&p->locals);
  hashmap_release(&p->numbers);
  hashmap_release(&p->again);
  hashmap_release(&p->firsts);
  hashmap_release(&p->single);
  hashmap_release(&p->changes);
  array_release(&p->groups);
  LLVMDisposeBuilder(p->builder);
}

// --- code -------------------------------------------------------------------

LLVMValueRef pairs_number(const Pairs *p, uint64_t v) {
  return LLVMConstInt(p->i64, v, false);
}

uint64_t pairs_size_of(const Pairs *p, LLVMTypeRef type) {
  return LLVMStoreSizeOfType(p->layout, type);
}

LLVMValueRef pairs_none(const Pairs *p) {
  return LLVMConstInt(p->i32, 0, false);
}

bool pairs_has_id(LLVMValueRef id) { return !LLVMIsNull(id); }

LLVMValueRef pairs_id(const Pairs *p, LLVMValueRef inst) {
  uint32_t statement = close_unit_statement(p->unit, inst);
  if (statement == ENTITY_NONE)
    return pairs_none(p);
  return pairs_site_id(p, close_unit_site(p->unit, statement));
}

LLVMValueRef pairs_site_id(const Pairs *p, uint32_t counter) {
  LLVMValueRef site = close_unit_counter(p->unit, counter);
  return LLVMConstTrunc(LLVMConstPtrToInt(site, p->i64), p->i32);
}

LLVMValueRef pairs_invoke(Pairs *p, PairHelper h, LLVMValueRef *args,
                          unsigned n) {
  return LLVMBuildCall2(p->builder, h.type, h.function, args, n, "");
}

// Set before any code of the program runs.
static LLVMValueRef load_setting(Pairs *p, LLVMValueRef variable) {
  LLVMValueRef v = LLVMBuildLoad2(p->builder, p->i64, variable, "");
  LLVMSetMetadata(v, LLVMGetMDKindIDInContext(p->context, "invariant.load", 14),
                  LLVMMetadataAsValue(
                      p->context, LLVMMDNodeInContext2(p->context, NULL, 0)));
  return v;
}

// The offset of a constant step; false: it is not constant.
static bool offset_of(const Pairs *p, LLVMValueRef step, int64_t *offset) {
  LLVMTypeRef type;
  if (!LLVMIsAGetElementPtrInst(step))
    return false;
  unsigned n = LLVMGetNumIndices(step);
  type = LLVMGetGEPSourceElementType(step);
  *offset = 0;
  for (unsigned i = 0; i < n; i++) {
    LLVMValueRef index = LLVMGetOperand(step, i + 1);
    if (!LLVMIsAConstantInt(index))
      return false;
    int64_t k = LLVMConstIntGetSExtValue(index);
    if (i && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      *offset += (int64_t)LLVMOffsetOfElement(p->layout, type, (unsigned)k);
      type = LLVMStructGetTypeAtIndex(type, (unsigned)k);
      continue;
    }
    if (i)
      type = LLVMGetElementType(type);
    *offset += k * (int64_t)LLVMABISizeOfType(p->layout, type);
  }
  return true;
}

// The object of which `at` is a field, not far from its beginning: *offset.
static LLVMValueRef near_object(const Pairs *p, LLVMValueRef at,
                                uint64_t *offset) {
  int64_t step, all = 0;
  LLVMValueRef object = at;
  while (offset_of(p, object, &step)) {
    all += step;
    object = LLVMGetOperand(object, 0);
  }
  bool near = all >= 0 && all < CLOSE_REACH;
  *offset = near ? (uint64_t)all : 0;
  return near ? object : at;
}

// base + (address & mask) * 4, of an object, and the way to its field: fields of
// one object share the sum. No object lies across the end of the masked range.
static LLVMValueRef shadow_address(Pairs *p, LLVMValueRef at) {
  uint64_t offset;
  LLVMValueRef object = near_object(p, at, &offset);
  LLVMValueRef mask = load_setting(p, p->mask);
  LLVMValueRef number = LLVMBuildPtrToInt(p->builder, object, p->i64, "");
  number = LLVMBuildAnd(p->builder, number, mask, "");
  number = LLVMBuildShl(p->builder, number, pairs_number(p, 2), "");
  number = LLVMBuildAdd(p->builder, number, load_setting(p, p->shadow), "");
  LLVMValueRef shadow = LLVMBuildIntToPtr(p->builder, number, p->ptr, "");
  LLVMValueRef index = pairs_number(p, offset);
  return offset ? LLVMBuildGEP2(p->builder, p->i32, shadow, &index, 1, "")
                : shadow;
}

LLVMValueRef pairs_load_shadow(Pairs *p, LLVMValueRef at) {
  LLVMValueRef from = shadow_address(p, at);
  return mark(p, LLVMBuildLoad2(p->builder, p->i32, from, ""), OUR_SHADOW);
}

LLVMValueRef pairs_definition(Pairs *p, LLVMValueRef at) {
  const PairLocal *local = pairs_local(p, at);
  return local && local->def
             ? LLVMBuildLoad2(p->builder, p->i32, local->def, "")
             : pairs_load_shadow(p, at);
}

LLVMValueRef pairs_known_definition(Pairs *p, LLVMValueRef at) {
  const PairLocal *local = pairs_local(p, at);
  LLVMValueRef def = pairs_definition(p, at);
  if (local && local->def)
    return def;
  LLVMValueRef none = LLVMBuildICmp(
      p->builder, LLVMIntEQ, load_setting(p, p->mask), pairs_number(p, 0), "");
  return LLVMBuildSelect(p->builder, none, pairs_none(p), def, "");
}

static LLVMValueRef splat(Pairs *p, LLVMValueRef v, unsigned n) {
  LLVMTypeRef type = LLVMVectorType(p->i32, n);
  LLVMValueRef all = LLVMGetPoison(type);
  for (unsigned i = 0; i < n; i++)
    all = LLVMBuildInsertElement(p->builder, all, v,
                                 LLVMConstInt(p->i32, i, false), "");
  return all;
}

// Larger ones are left to the runtime.
static bool is_small(uint64_t size) {
  enum { MOST = 32 };
  return size && size <= MOST && (size % 4 == 0 || size <= 3);
}

void pairs_store_shadow(Pairs *p, LLVMValueRef at, uint64_t size,
                        LLVMValueRef id) {
  if (!is_small(size)) {
    LLVMValueRef args[] = {id, at, pairs_number(p, size)};
    pairs_invoke(p, p->define, args, 3);
    return;
  }
  LLVMValueRef to = shadow_address(p, at);
  LLVMValueRef v = size == 1 ? id : splat(p, id, (unsigned)size);
  LLVMValueRef store = mark(p, LLVMBuildStore(p->builder, v, to), OUR_SHADOW);
  LLVMSetAlignment(store, 4);
}

LLVMValueRef pairs_next_last(Pairs *p) {
  LLVMValueRef at = pairs_number(p, p->nlast);
  p->nlast += CLOSE_WAYS;
  return LLVMConstInBoundsGEP2(p->i32, p->last, &at, 1);
}

void pairs_record(Pairs *p, LLVMValueRef def, LLVMValueRef use) {
  LLVMValueRef args[] = {def, use, pairs_next_last(p)};
  pairs_invoke(p, p->record, args, 3);
}

void pairs_record_memory(Pairs *p, LLVMValueRef def, LLVMValueRef use) {
  LLVMValueRef args[] = {def, use, pairs_next_last(p)};
  pairs_invoke(p, p->record_memory, args, 3);
}

// Most often all bytes have one definition.
void pairs_use_range(Pairs *p, LLVMValueRef use, LLVMValueRef at,
                     LLVMValueRef size) {
  uint64_t n = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
  LLVMValueRef args[] = {NULL, use, at, size};
  if (!is_small(n)) {
    pairs_invoke(p, p->use, args + 1, 3);
    return;
  }
  LLVMValueRef first = pairs_load_shadow(p, at);
  pairs_record_memory(p, first, use);
  LLVMTypeRef type = LLVMVectorType(p->i32, (unsigned)n);
  LLVMValueRef from = shadow_address(p, at);
  LLVMValueRef all =
      mark(p, LLVMBuildLoad2(p->builder, type, from, ""), OUR_SHADOW);
  LLVMSetAlignment(all, 4);
  LLVMValueRef differ = LLVMBuildICmp(p->builder, LLVMIntNE, all,
                                      splat(p, first, (unsigned)n), "");
  LLVMTypeRef bits = LLVMIntTypeInContext(p->context, (unsigned)n);
  differ = LLVMBuildBitCast(p->builder, differ, bits, "");
  args[0] =
      LLVMBuildICmp(p->builder, LLVMIntNE, differ, LLVMConstNull(bits), "");
  pairs_invoke(p, p->use_if, args, 4);
}

void pairs_define_range(Pairs *p, LLVMValueRef id, LLVMValueRef at,
                        LLVMValueRef size) {
  LLVMValueRef args[] = {id, at, size};
  uint64_t n = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
  if (is_small(n))
    pairs_store_shadow(p, at, n, id);
  else
    pairs_invoke(p, p->define, args, 3);
}

// --- objects ----------------------------------------------------------------

static bool is_step(LLVMValueRef v) {
  LLVMOpcode op = LLVMIsAInstruction(v)    ? LLVMGetInstructionOpcode(v)
                  : LLVMIsAConstantExpr(v) ? LLVMGetConstOpcode(v)
                                           : 0;
  return op == LLVMGetElementPtr || op == LLVMBitCast ||
         op == LLVMAddrSpaceCast;
}

LLVMValueRef pairs_object(LLVMValueRef pointer) {
  while (is_step(pointer))
    pointer = LLVMGetOperand(pointer, 0);
  return pointer;
}

uint64_t pairs_object_size(const Pairs *p, LLVMValueRef pointer) {
  LLVMValueRef object = pairs_object(pointer);
  if (LLVMIsAAllocaInst(object) &&
      LLVMIsAConstantInt(LLVMGetOperand(object, 0)))
    return LLVMABISizeOfType(p->layout, LLVMGetAllocatedType(object)) *
           LLVMConstIntGetZExtValue(LLVMGetOperand(object, 0));
  if (LLVMIsAGlobalVariable(object))
    return LLVMABISizeOfType(p->layout, LLVMGlobalGetValueType(object));
  return 0;
}

const PairLocal *pairs_local(const Pairs *p, LLVMValueRef object) {
  uint64_t n;
  if (!hashmap_get(&p->numbers, &object, sizeof object, &n))
    return NULL;
  return &p->locals.items[n];
}

// Is this a place in a va_list?
static bool is_in_va_list(LLVMValueRef pointer) {
  for (; is_step(pointer); pointer = LLVMGetOperand(pointer, 0)) {
    LLVMTypeRef type = LLVMIsAGetElementPtrInst(pointer)
                           ? LLVMGetGEPSourceElementType(pointer)
                           : NULL;
    const char *name = type && LLVMGetTypeKind(type) == LLVMStructTypeKind
                           ? LLVMGetStructName(type)
                           : NULL;
    if (name && !strncmp(name, "struct.__va_list_tag", 20))
      return true;
  }
  return false;
}

// Or the place of an argument that a va_list leads to?
static bool is_variadic(LLVMValueRef pointer) {
  pointer = pairs_object(pointer);
  if (LLVMIsALoadInst(pointer))
    return is_in_va_list(LLVMGetOperand(pointer, 0));
  if (!LLVMIsAPHINode(pointer))
    return false;
  for (unsigned i = 0; i < LLVMCountIncoming(pointer); i++) {
    LLVMValueRef from = pairs_object(LLVMGetIncomingValue(pointer, i));
    if (LLVMIsALoadInst(from) && is_in_va_list(LLVMGetOperand(from, 0)))
      return true;
  }
  return false;
}

bool pairs_is_hidden(const Pairs *p, LLVMValueRef pointer) {
  LLVMValueRef object = pairs_object(pointer);
  if (LLVMIsAGlobalVariable(object))
    return LLVMIsGlobalConstant(object);
  const PairLocal *local = pairs_local(p, object);
  return (local && !local->named) || is_in_va_list(pointer) ||
         is_variadic(pointer);
}

// --- places -----------------------------------------------------------------

void pairs_stand_before(Pairs *p, LLVMValueRef inst) {
  LLVMPositionBuilderBefore(p->builder, inst);
  LLVMSetCurrentDebugLocation2(p->builder, LLVMInstructionGetDebugLoc(inst));
}

static LLVMValueRef first_behind(LLVMValueRef call) {
  if (!LLVMIsAInvokeInst(call))
    return LLVMGetNextInstruction(call);
  LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetNormalDest(call));
  while (i && LLVMIsAPHINode(i))
    i = LLVMGetNextInstruction(i);
  return i;
}

bool pairs_stand_behind(Pairs *p, LLVMValueRef call) {
  LLVMValueRef next = first_behind(call);
  if (!next || (LLVMIsACallInst(call) &&
                LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail))
    return false;
  LLVMPositionBuilderBefore(p->builder, next);
  LLVMSetCurrentDebugLocation2(p->builder, LLVMInstructionGetDebugLoc(call));
  return true;
}
