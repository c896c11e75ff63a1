// Adds the recording of a trace to a module: see trace_insert.h.
#include "trace/trace_insert.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Support.h>
#include <stdlib.h>
#include <string.h>

#include "plan/passes.h"
#include "plan/probe.h"
#include "runtime/trace_format.h"
#include "trace/trace_effects.h"
#include "trace/trace_stream.h"
#include "util/graph.h"

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
  LLVMBuildCall2(t->builder, type,
                 stream_declare(t, "__culprit_trace_wrote", type), args, 2, "");
}

static void wrote_text(Inserter *t, LLVMValueRef at) {
  LLVMTypeRef type =
      LLVMFunctionType(LLVMVoidTypeInContext(t->context), &t->ptr, 1, false);
  LLVMBuildCall2(t->builder, type,
                 stream_declare(t, "__culprit_trace_wrote_text", type), &at, 1,
                 "");
}

// `v` as a signed 64-bit number.
static LLVMValueRef wide(Inserter *t, LLVMValueRef v) {
  return LLVMBuildIntCast2(t->builder, v, t->i64, true, "");
}

static LLVMValueRef only_if(Inserter *t, LLVMValueRef cond, LLVMValueRef v) {
  return LLVMBuildSelect(t->builder, cond, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

static LLVMValueRef at_least(Inserter *t, LLVMValueRef v, uint64_t least) {
  return LLVMBuildICmp(t->builder, LLVMIntSGE, v, stream_number(t, least), "");
}

static void record_line(Inserter *t, LLVMValueRef call, LLVMValueRef result) {
  LLVMValueRef line = LLVMGetOperand(call, 0);
  LLVMValueRef good = at_least(t, result, 0);
  wrote_bytes(t, line, stream_number(t, 8));
  wrote_bytes(t, LLVMGetOperand(call, 1), stream_number(t, 8));
  LLVMValueRef text = LLVMBuildLoad2(t->builder, t->ptr, line, "");
  LLVMValueRef n = LLVMBuildAdd(t->builder, result, stream_number(t, 1), "");
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
    wrote_bytes(t, at, stream_number(t, 8));
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
    wrote_bytes(t, at, stream_number(t, 8));
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
                                      "clone3", NULL};
  return text_is_one_of(name, names);
}

static bool is_must_tail(LLVMValueRef call) {
  return LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;
}

static void go_outside(Inserter *t, LLVMValueRef call) {
  stream_stand_before(t, call);
  stream_flush(t, false);
  stream_count_change(t, stream_number(t, 1));
  stream_set_outside(t, LLVMConstInt(t->i32, 1, false));
  if (starts_thread(callee_name(call)))
    LLVMBuildCall2(
        t->builder, t->threads_type,
        stream_declare(t, "__culprit_trace_threads", t->threads_type), NULL, 0,
        "");
  if (is_must_tail(call))
    return;
  stream_stand_before(t, LLVMGetNextInstruction(call));
  stream_set_outside(t, LLVMConstInt(t->i32, 0, false));
  record_effect(t, call);
  stream_reload(t);
  stream_append(t, LLVMConstInt(t->i8, TRACE_RETURN, false), 1);
  if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
    stream_append_value(t, call, 8);
  stream_flush(t, true); // a crash right behind the call must find it over
  stream_look_at_limit(t);
}

static void stay_inside(Inserter *t, LLVMValueRef call) {
  stream_stand_before(t, call);
  if (!t->told || t->noted)
    stream_flush(t, false);
  if (is_must_tail(call))
    return;
  stream_stand_before(t, LLVMGetNextInstruction(call));
  stream_reload(t);
  t->owed = true;
}

// --- instructions -----------------------------------------------------------

static void record_va_list(Inserter *t, LLVMValueRef call) {
  LLVMValueRef list = LLVMGetOperand(call, 0);
  for (uint64_t i = 0; i < 3; i++) {
    LLVMValueRef v =
        LLVMBuildLoad2(t->builder, t->i64, stream_beyond(t, list, 8 * i), "");
    stream_append(t, v, 8);
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

static void insert_at(Inserter *t, LLVMValueRef inst) {
  TraceSite site = trace_code_site(t->code, inst);
  if (changes_memory(t, inst)) {
    stream_stand_before(t, inst);
    stream_count_change(t, stream_number(t, 1));
  }
  if (site == SITE_NONE)
    return;
  const TraceLoop *loop = trace_loops_of_load(&t->code->loops, inst);
  if (loop) {
    stream_stand_before(t, LLVMGetNextInstruction(inst));
    stream_note(t, inst, stream_is_unrecorded(t, loop->head));
    t->noted = loop->head;
    return;
  }
  if (site == SITE_INSIDE || site == SITE_OUTSIDE) {
    (site == SITE_INSIDE ? stay_inside : go_outside)(t, inst);
    return;
  }
  stream_stand_before(t, LLVMGetNextInstruction(inst));
  if (site == SITE_VA_START)
    record_va_list(t, inst);
  else if (LLVMGetTypeKind(LLVMTypeOf(inst)) != LLVMVoidTypeKind)
    stream_append_value(t, inst, 0);
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

// Called from outside? Then no record has the arguments. Written in
// any case, kept only if so: no branch.
static void record_entry(Inserter *t, LLVMValueRef function, uint32_t index) {
  LLVMValueRef start = stream_get_cursor(t);
  t->was = stream_outside(t);
  stream_append(t, LLVMConstInt(t->i8, TRACE_ENTER, false), 1);
  stream_append(t, LLVMConstInt(t->i32, t->options->number, false), 4);
  stream_append(t, LLVMConstInt(t->i32, index, false), 4);
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    stream_append_value(t, LLVMGetParam(function, i), 8);
  LLVMValueRef inside = LLVMBuildICmp(t->builder, LLVMIntEQ, t->was,
                                      LLVMConstInt(t->i32, 0, false), "");
  stream_set_cursor(
      t, LLVMBuildSelect(t->builder, inside, start, stream_get_cursor(t), ""));
  stream_set_outside(t, LLVMConstInt(t->i32, 0, false));
}

static void begin_function(Inserter *t, LLVMValueRef function, Piece *entry,
                           uint32_t index) {
  LLVMContextRef c = t->context;
  LLVMMetadataRef scope = LLVMGetSubprogram(function);
  t->place =
      scope ? LLVMDIBuilderCreateDebugLocation(c, 0, 0, scope, NULL) : NULL;
  t->was = NULL;
  stream_stand_before(t, LLVMGetFirstInstruction(entry->block));
  t->cursor = LLVMBuildAlloca(t->builder, t->ptr, "");
  stream_stand_before(t, behind_allocas(entry));
  stream_reload(t);
  stream_look_at_limit(t);
  if (trace_code_is_exposed(function))
    record_entry(t, function, index);
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    if (is_by_value(function, i))
      stream_append_value(t, LLVMGetParam(function, i), 8);
}

// Is something recorded in this loop, even if it is unrecorded?
static bool records_anyway(const Inserter *t, LLVMBasicBlockRef head) {
  const TraceLoop *l = trace_loops_at(&t->code->loops, head);
  return t->options->check || l->mixed;
}

// The stream's order within a block: number, then what its instructions record.
static void begin_block(Inserter *t, const Piece *p, uint32_t index) {
  if (index) {
    t->unchecked = 0;
    t->told = true;
    stream_stand_before(t, first_place(p));
    LLVMValueRef unrecorded = stream_is_unrecorded(t, p->block);
    if (p->loops && unrecorded && !records_anyway(t, p->block))
      stream_call_unless(t, t->check_unless, unrecorded, NULL);
    else if (p->loops)
      stream_look_at_limit(t);
  }
  t->noted = NULL;
  if (t->options->check)
    stream_append(t, LLVMConstInt(t->i32, index, false), 4);
  for (size_t i = 0; index == 0 && i < nallocas(p); i++)
    stream_append_value(t, p->insts.items[i], 8);
}

static bool leaves(const Piece *p) {
  return LLVMGetInstructionOpcode(p->end) == LLVMRet;
}

// Does nothing follow but the return? Then nothing more is appended, and a call
// of ours that was the last thing done may become a jump, as it is in the
// program itself.
static bool leads_out(const Inserter *t, const Piece *p) {
  if (leaves(p) || t->options->check || LLVMGetNumSuccessors(p->end) != 1)
    return leaves(p);
  LLVMValueRef next = LLVMGetFirstInstruction(LLVMGetSuccessor(p->end, 0));
  while (LLVMIsAPHINode(next))
    next = LLVMGetNextInstruction(next);
  return LLVMGetInstructionOpcode(next) == LLVMRet;
}

// The header has the cursor behind every block: nothing is flushed where
// nothing was recorded.
static void end_block(Inserter *t, const Piece *p) {
  LLVMValueRef end = p->end;
  // A tail call that must be one stands before its return: nothing goes
  // between.
  LLVMValueRef last = p->insts.len ? array_last(&p->insts) : NULL;
  if (last && LLVMIsACallInst(last) && is_must_tail(last))
    end = last;
  stream_stand_before(t, end);
  if (t->owed && !leads_out(t, p))
    stream_look_at_limit(t);
  t->owed = false;
  if (!t->told)
    stream_flush(t, !leaves(p));
  else if (t->noted)
    stream_call_unless(t, t->flush_unless, stream_is_unrecorded(t, t->noted),
                       NULL);
  if (leaves(p) && t->was) {
    stream_count_change(t, t->was);
    stream_set_outside(t, t->was);
  }
}

static void insert_block(Inserter *t, Piece *p, uint32_t index) {
  begin_block(t, p, index);
  for (size_t i = 0; i < p->insts.len; i++) {
    // Those of the entry block's start were recorded together.
    if (index || i >= nallocas(p))
      insert_at(t, p->insts.items[i]);
  }
  end_block(t, p);
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
  LLVMValueRef last = LLVMBuildSub(t->builder, count, stream_number(t, 1), "");
  for (size_t i = 0; i < l->loads.len; i++) {
    LLVMValueRef load = l->loads.items[i], at = LLVMGetOperand(load, 0);
    LLVMValueRef parts[4] = {
        trace_loop_value(l, t->builder, at, NULL),
        trace_loop_value(l, t->builder, at, stream_number(t, 1)),
        trace_loop_value(l, t->builder, at, last),
        stream_number(t,
                      LLVMStoreSizeOfType(t->code->layout, LLVMTypeOf(load)))};
    for (size_t k = 0; k < 4; k++)
      LLVMBuildStore(
          t->builder, parts[k],
          stream_beyond(t, t->accesses, i * sizeof(TraceAccess) + k * 8));
  }
  LLVMTypeRef params[3] = {t->i64, t->ptr, t->i64};
  LLVMTypeRef type = LLVMFunctionType(t->i32, params, 3, false);
  LLVMValueRef args[3] = {count, t->accesses, stream_number(t, l->loads.len)};
  stream_flush(t, false);
  LLVMValueRef answer = LLVMBuildCall2(
      t->builder, type, stream_declare(t, "__culprit_trace_range", type), args,
      3, "");
  stream_reload(t);
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
      LLVMBuildICmp(t->builder, LLVMIntSGE, count, stream_number(t, OFTEN), ""),
      asks, rare);
  LLVMPositionBuilderAtEnd(t->builder, asks);
  LLVMBuildStore(t->builder, ask(t, l, count), t->answer);
  LLVMBuildBr(t->builder, l->before);
  LLVMPositionBuilderAtEnd(t->builder, rare);
  stream_append(t, LLVMConstInt(t->i8, 0, false), 1);
  stream_flush(t, true);
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
  bool told = t->told; // by the entry block, which is not finished
  for (size_t k = 0; k < n; k++) {
    const TraceLoop *l = trace_loops_behind(&t->code->loops, pieces[k].block);
    if (l)
      insert_range(t, &pieces[k], l);
  }
  t->told = told;
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

// Where the recorder learns what a loop will read.
static void make_room(Inserter *t, const Piece *pieces, size_t n) {
  size_t most = most_loads(t, pieces, n);
  if (!most)
    return;
  stream_stand_before(t, LLVMGetFirstInstruction(pieces[0].block));
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
    stream_stand_before(t, behind_allocas(&pieces[0]));
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
  stream_open(&t);
  separate(&t);
  for (size_t i = 0; i < c->functions.len; i++)
    insert_function(&t, c->functions.items[i], (uint32_t)i);
  add_record(&t);
  hashmap_release(&t.unrecorded);
  LLVMDisposeBuilder(t.builder);
  return separate_loops(c, err);
}
