// Marks at branches: see marks.h.
#include "instrument/marks.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/probe.h"
#include "trace/trace_code.h"

typedef struct {
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTypeRef i8, i64, pointer;
  LLVMTypeRef table_type;
  LLVMValueRef table;
  LLVMValueRef flag; // of the function: is this the execution that is wanted?
  LLVMBasicBlockRef block;
  LLVMValueRef slice[64]; // instructions of the block that the branch goes by
  size_t nslice;
} Marker;

// --- what the branch goes by ------------------------------------------------

static bool is_in_slice(const Marker *m, LLVMValueRef v) {
  for (size_t i = 0; i < m->nslice; i++)
    if (m->slice[i] == v)
      return true;
  return false;
}

static void add_to_slice(Marker *m, LLVMValueRef v) {
  enum { MOST = sizeof m->slice / sizeof *m->slice };
  if (!LLVMIsAInstruction(v) || LLVMIsAPHINode(v) || LLVMIsAAllocaInst(v) ||
      LLVMGetInstructionParent(v) != m->block || m->nslice == MOST ||
      is_in_slice(m, v))
    return;
  m->slice[m->nslice++] = v;
}

// Operands of operands; through memory it is not followed.
static void find_slice(Marker *m, LLVMValueRef condition) {
  m->nslice = 0;
  add_to_slice(m, condition);
  for (size_t i = 0; i < m->nslice; i++)
    for (int k = 0; k < LLVMGetNumOperands(m->slice[i]); k++)
      add_to_slice(m, LLVMGetOperand(m->slice[i], (unsigned)k));
}

static bool is_assignment(const Marker *m, LLVMValueRef inst) {
  return LLVMIsAStoreInst(inst) && is_in_slice(m, LLVMGetOperand(inst, 0));
}

// Where to stop: before the first instruction of the slice, or behind the last
// assignment of one of its values.
static LLVMValueRef find_stop(const Marker *m, LLVMValueRef end) {
  LLVMValueRef stop = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(m->block); i;
       i = LLVMGetNextInstruction(i)) {
    if (!stop && is_in_slice(m, i))
      stop = i;
    if (is_assignment(m, i))
      stop = LLVMGetNextInstruction(i);
  }
  return stop ? stop : end;
}

// Where the value is used from `stop` on, the variable is read again.
static void reload(Marker *m, LLVMValueRef store, LLVMValueRef stop) {
  LLVMValueRef v = LLVMGetOperand(store, 0), again = NULL;
  for (LLVMValueRef i = stop; i; i = LLVMGetNextInstruction(i))
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
      if (LLVMGetOperand(i, (unsigned)k) != v)
        continue;
      if (!again) {
        LLVMPositionBuilderBefore(m->builder, stop);
        again = LLVMBuildLoad2(m->builder, LLVMTypeOf(v),
                               LLVMGetOperand(store, 1), "");
      }
      LLVMSetOperand(i, (unsigned)k, again);
    }
}

static void reload_all(Marker *m, LLVMValueRef stop) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(m->block); i && i != stop;
       i = LLVMGetNextInstruction(i))
    if (is_assignment(m, i))
      reload(m, i, stop);
}

// --- the code ---------------------------------------------------------------

static void point_to(const Marker *m, LLVMValueRef call, unsigned argument,
                     LLVMTypeRef type) {
  static const char name[] = "elementtype";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  LLVMAddCallSiteAttribute(call, argument,
                           LLVMCreateTypeAttribute(m->context, kind, type));
}

static LLVMValueRef build_asm(const Marker *m, const char *text,
                              const char *operands, LLVMValueRef *args,
                              unsigned n) {
  LLVMTypeRef types[2];
  for (unsigned i = 0; i < n; i++)
    types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type =
      LLVMFunctionType(LLVMVoidTypeInContext(m->context), types, n, false);
  LLVMValueRef code =
      LLVMGetInlineAsm(type, text, strlen(text), operands, strlen(operands),
                       true, false, LLVMInlineAsmDialectATT, false);
  return LLVMBuildCall2(m->builder, type, code, args, n, "");
}

// At the start of the block: is it this execution?
static void count_block(Marker *m, uint64_t number) {
  LLVMValueRef at[2] = {LLVMConstInt(m->i64, 0, false),
                        LLVMConstInt(m->i64, number, false)};
  LLVMValueRef args[2] = {LLVMConstGEP2(m->table_type, m->table, at, 2),
                          m->flag};
  LLVMValueRef call =
      build_asm(m, "decq $0\n\tsete $1", "=*m,=*m,~{memory},~{flags}", args, 2);
  point_to(m, call, 1, m->i64);
  point_to(m, call, 2, m->i8);
}

static void trap(Marker *m) {
  LLVMValueRef call =
      build_asm(m, "cmpb $$0, $0\n\tje 1f\n\tint3\n1:", "*m,~{memory},~{flags}",
                &m->flag, 1);
  point_to(m, call, 1, m->i8);
}

// The same with a number in rax.
static void trap_with(Marker *m, LLVMValueRef number) {
  LLVMValueRef args[2] = {
      m->flag, LLVMBuildIntCast2(m->builder, number, m->i64, false, "")};
  LLVMValueRef call = build_asm(m, "cmpb $$0, $0\n\tje 1f\n\tint3\n1:",
                                "*m,{ax},~{memory},~{flags}", args, 2);
  point_to(m, call, 1, m->i8);
}

static LLVMValueRef first_place(LLVMBasicBlockRef b) {
  LLVMValueRef i = LLVMGetFirstInstruction(b);
  while (LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i))
    i = LLVMGetNextInstruction(i);
  return i;
}

// What the terminator decides by; NULL: it decides nothing.
static LLVMValueRef condition_of(LLVMValueRef end) {
  bool branch = LLVMIsABranchInst(end) && LLVMIsConditional(end);
  if (!branch && !LLVMIsASwitchInst(end))
    return NULL;
  LLVMValueRef v = LLVMGetOperand(end, 0);
  bool small = LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64;
  return small ? v : NULL;
}

static void mark_block(Marker *m, LLVMBasicBlockRef b, uint64_t number) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
  LLVMValueRef condition = end ? condition_of(end) : NULL;
  if (!condition)
    return;
  m->block = b;
  find_slice(m, condition);
  LLVMValueRef stop = find_stop(m, end);
  LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(end));
  LLVMPositionBuilderBefore(m->builder, stop);
  trap(m);
  reload_all(m, stop);
  LLVMPositionBuilderBefore(m->builder, end);
  trap_with(m, LLVMGetOperand(end, 0));
  LLVMPositionBuilderBefore(m->builder, first_place(b));
  count_block(m, number);
}

static void prepare_function(Marker *m, LLVMValueRef f) {
  static const char key[] = "frame-pointer", value[] = "all";
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateStringAttribute(m->context, key,
                                                    sizeof key - 1, value,
                                                    sizeof value - 1));
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(f);
  LLVMPositionBuilderBefore(m->builder, LLVMGetFirstInstruction(entry));
  LLVMSetCurrentDebugLocation2(m->builder, NULL);
  m->flag = LLVMBuildAlloca(m->builder, m->i8, "");
}

static void add_table(Marker *m, LLVMModuleRef module, uint32_t number,
                      uint64_t n) {
  char name[64];
  snprintf(name, sizeof name, MARKS_TABLE "%u", number);
  m->table_type = LLVMArrayType2(m->i64, n);
  LLVMValueRef *all = mem_array(LLVMValueRef, n + 1);
  for (uint64_t i = 0; i < n; i++)
    all[i] = LLVMConstInt(m->i64, UINT64_MAX, false);
  m->table = LLVMAddGlobal(module, m->table_type, name);
  LLVMSetInitializer(m->table, LLVMConstArray2(m->i64, all, n));
  LLVMSetLinkage(m->table, LLVMInternalLinkage);
  probe_keep(module, m->table);
  free(all);
}

void marks_insert(LLVMModuleRef module, uint32_t number) {
  LLVMContextRef c = LLVMGetModuleContext(module);
  Marker m = {.context = c,
              .builder = LLVMCreateBuilderInContext(c),
              .i8 = LLVMInt8TypeInContext(c),
              .i64 = LLVMInt64TypeInContext(c)};
  TraceCode code;
  uint64_t n = 0, k = 0;
  trace_code_collect(&code, module);
  for (size_t i = 0; i < code.functions.len; i++)
    n += LLVMCountBasicBlocks(code.functions.items[i]);
  add_table(&m, module, number, n);
  for (size_t i = 0; i < code.functions.len; i++) {
    LLVMValueRef f = code.functions.items[i];
    prepare_function(&m, f);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
         b = LLVMGetNextBasicBlock(b))
      mark_block(&m, b, k++);
  }
  trace_code_release(&code);
  LLVMDisposeBuilder(m.builder);
}
