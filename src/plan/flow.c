// The control flow of one function: see flow.h.
#include "plan/flow.h"

#include <assert.h>
#include <stdlib.h>

// --- what can end a run in the middle of a block ----------------------------

// The object that a pointer with constant offset points into.
static LLVMValueRef base_of(LLVMValueRef pointer) {
  while (LLVMIsAGetElementPtrInst(pointer) ||
         (LLVMIsAConstantExpr(pointer) &&
          LLVMGetConstOpcode(pointer) == LLVMGetElementPtr)) {
    for (int i = 1; i < LLVMGetNumOperands(pointer); i++)
      if (!LLVMIsAConstantInt(LLVMGetOperand(pointer, (unsigned)i)))
        return pointer;
    pointer = LLVMGetOperand(pointer, 0);
  }
  return pointer;
}

static bool is_plain_address(LLVMValueRef pointer) {
  pointer = base_of(pointer);
  if (LLVMIsAAllocaInst(pointer))
    return true;
  return LLVMIsAGlobalVariable(pointer) && !LLVMIsThreadLocal(pointer) &&
         LLVMGetLinkage(pointer) != LLVMExternalWeakLinkage;
}

static bool divides_by_unknown(LLVMValueRef inst) {
  LLVMValueRef divisor = LLVMGetOperand(inst, 1);
  return !LLVMIsAConstantInt(divisor) || LLVMConstIntGetZExtValue(divisor) == 0;
}

static bool can_end_run(LLVMValueRef inst) {
  switch (LLVMGetInstructionOpcode(inst)) {
  case LLVMLoad:
    return !is_plain_address(LLVMGetOperand(inst, 0));
  case LLVMStore:
    return !is_plain_address(LLVMGetOperand(inst, 1));
  case LLVMUDiv:
  case LLVMSDiv:
  case LLVMURem:
  case LLVMSRem:
    return divides_by_unknown(inst);
  case LLVMCall:
  case LLVMInvoke:
  case LLVMCallBr:
    return !is_debug_call(inst);
  case LLVMVAArg:
  case LLVMFence:
  case LLVMAtomicCmpXchg:
  case LLVMAtomicRMW:
  case LLVMUnreachable:
    return true;
  default:
    return false;
  }
}

// --- blocks and nodes -------------------------------------------------------

static uint32_t block_number(const Flow *f, LLVMBasicBlockRef b) {
  uint64_t n = 0;
  bool known = hashmap_get(&f->block_numbers, &b, sizeof b, &n);
  assert(known);
  (void)known;
  return (uint32_t)n;
}

static void list_blocks(Flow *f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->function); b;
       b = LLVMGetNextBasicBlock(b)) {
    hashmap_put(&f->block_numbers, &b, sizeof b, f->blocks.len);
    array_push(&f->blocks, b);
  }
  f->succs = mem_array(NumberList, f->blocks.len);
  f->preds = mem_array(NumberList, f->blocks.len);
}

// Edges between the blocks that can be reached from the entry.
static void link_blocks(Flow *f) {
  NumberList todo = {0};
  bool *seen = mem_array(bool, f->blocks.len);
  array_push(&todo, 0);
  seen[0] = true;
  while (todo.len) {
    uint32_t b = todo.items[--todo.len];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->blocks.items[b]);
    unsigned n = LLVMGetNumSuccessors(end);
    for (unsigned i = 0; i < n; i++) {
      uint32_t s = block_number(f, LLVMGetSuccessor(end, i));
      array_push(&f->succs[b], s);
      array_push(&f->preds[s], b);
      if (!seen[s]) {
        seen[s] = true;
        array_push(&todo, s);
      }
    }
  }
  array_release(&todo);
  free(seen);
}

// Does block b go on from its only predecessor, without a branch?
static bool continues(const Flow *f, uint32_t b) {
  return b != 0 && f->preds[b].len == 1 &&
         f->succs[f->preds[b].items[0]].len == 1 && f->preds[b].items[0] != b;
}

static void make_nodes(Flow *f) {
  for (size_t b = 0; b < f->blocks.len; b++)
    array_push(&f->node_of, NONE);
  for (uint32_t b = 0; b < f->blocks.len; b++) {
    bool reachable = b == 0 || f->preds[b].len;
    if (!reachable || continues(f, b))
      continue;
    FlowNode n = {.head = f->blocks.items[b], .entity = ENTITY_NONE};
    uint32_t last = b;
    f->node_of.items[b] = (uint32_t)f->nodes.len;
    while (f->succs[last].len == 1 && continues(f, f->succs[last].items[0])) {
      last = f->succs[last].items[0];
      f->node_of.items[last] = (uint32_t)f->nodes.len;
    }
    n.tail = f->blocks.items[last];
    array_push(&f->nodes, n);
  }
}

static void link_nodes(Flow *f) {
  for (uint32_t i = 0; i < f->nodes.len; i++) {
    uint32_t tail = block_number(f, f->nodes.items[i].tail);
    for (size_t k = 0; k < f->succs[tail].len; k++) {
      uint32_t s = f->node_of.items[f->succs[tail].items[k]];
      array_push(&f->nodes.items[i].succs, s);
      array_push(&f->nodes.items[s].preds, i);
    }
  }
}

// Marks nodes that an edge goes back to while walking depth first: every cycle
// has at least one.
static void find_headers(Flow *f) {
  struct Frame {
    uint32_t node;
    size_t next;
  };
  ARRAY(struct Frame) path = {0};
  array_push(&path, (struct Frame){0, 0});
  f->nodes.items[0].reached = f->nodes.items[0].on_path = true;
  while (path.len) {
    struct Frame *top = &array_last(&path);
    FlowNode *n = &f->nodes.items[top->node];
    if (top->next == n->succs.len) {
      n->on_path = false;
      path.len--;
      continue;
    }
    uint32_t to = n->succs.items[top->next++];
    FlowNode *s = &f->nodes.items[to];
    if (s->on_path)
      s->header = true;
    if (!s->reached) {
      s->reached = s->on_path = true;
      array_push(&path, (struct Frame){to, 0});
    }
  }
  array_release(&path);
}

// --- parts ---------------------------------------------------------------

static LLVMValueRef first_after_phis(LLVMBasicBlockRef b) {
  LLVMValueRef i = LLVMGetFirstInstruction(b);
  while (LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i) || LLVMIsALandingPadInst(i))
    i = LLVMGetNextInstruction(i);
  return i;
}

static BlockPart *open_segment(Flow *f, FlowNode *n, LLVMValueRef start) {
  array_push(&f->parts, (BlockPart){.start = start, .counter = NONE});
  n->nparts++;
  return &array_last(&f->parts);
}

static void add_occurrence(Flow *f, uint32_t node, const Place *place) {
  uint32_t part = (uint32_t)f->parts.len - 1;
  for (size_t i = f->occurrences.len; i-- > 0;) {
    Occurrence *o = &f->occurrences.items[i];
    if (o->part != part)
      break;
    if (o->place.source == place->source && o->place.line == place->line) {
      if (place->col_lo && place->col_lo < o->place.col_lo)
        o->place.col_lo = place->col_lo;
      if (place->col_hi > o->place.col_hi)
        o->place.col_hi = place->col_hi;
      return;
    }
  }
  array_push(&f->occurrences, (Occurrence){*place, part, node});
}

// Cuts one node into parts and notes its statements.
static void scan_node(Flow *f, uint32_t number) {
  FlowNode *n = &f->nodes.items[number];
  n->first_part = (uint32_t)f->parts.len;
  BlockPart *open = open_segment(f, n, first_after_phis(n->head));
  bool left = false;   // a call that might not return lies behind us,
  Place left_at = {0}; // on this line
  LLVMBasicBlockRef b = n->head;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;) {
    Place place;
    if (place_of_statement(f->plan, i, &place)) {
      n->statements = true;
      if (left &&
          (place.line != left_at.line || place.source != left_at.source)) {
        open = open_segment(f, n, i);
        left = false;
      }
      add_occurrence(f, number, &place);
    }
    if (can_end_run(i)) {
      open->can_end = true;
      bool call = LLVMIsACallInst(i) != NULL;
      if (call && call_may_leave(f->leavers, i)) {
        left = true;
        left_at = (Place){0};
        place_of(f->plan, i, &left_at);
      }
    }
    LLVMValueRef next = LLVMGetNextInstruction(i);
    if (!next && b != n->tail) {
      b = LLVMGetSuccessor(i, 0);
      next = LLVMGetFirstInstruction(b);
    }
    i = next;
  }
  // The edge to a join is taken only if the call came back.
  if (left && n->succs.len == 1 &&
      f->nodes.items[n->succs.items[0]].preds.len > 1)
    open_segment(f, n, LLVMGetBasicBlockTerminator(n->tail));
}

// --- which parts need a counter ------------------------------------------

static BlockPart *first_part(const Flow *f, const FlowNode *n) {
  return &f->parts.items[n->first_part];
}

static BlockPart *last_segment(const Flow *f, const FlowNode *n) {
  return &f->parts.items[n->first_part + n->nparts - 1];
}

static bool follows_from_succs(const Flow *f, const FlowNode *n) {
  if (n->succs.len < 2 || last_segment(f, n)->can_end)
    return false;
  for (size_t i = 0; i < n->succs.len; i++)
    if (f->nodes.items[n->succs.items[i]].preds.len != 1)
      return false; // an edge that could not be split (computed goto)
  return true;
}

static bool follows_from_preds(const Flow *f, const FlowNode *n) {
  if (n->preds.len < 2 || n->header)
    return false;
  for (size_t i = 0; i < n->preds.len; i++) {
    const FlowNode *p = &f->nodes.items[n->preds.items[i]];
    if (p->succs.len != 1 || last_segment(f, p)->can_end)
      return false;
  }
  return true;
}

static void place_counters(Flow *f) {
  for (size_t i = 0; i < f->nodes.len; i++) {
    FlowNode *n = &f->nodes.items[i];
    last_segment(f, n)->from_succs = follows_from_succs(f, n);
    if (!first_part(f, n)->from_succs)
      first_part(f, n)->from_preds = follows_from_preds(f, n);
  }
  for (size_t i = 0; i < f->parts.len; i++) {
    BlockPart *s = &f->parts.items[i];
    if (s->from_succs || s->from_preds)
      continue;
    s->counter = f->plan->ncounters++;
    array_push(&f->plan->probes, (Probe){s->start, s->counter});
  }
}

void flow_part_refs(const Flow *f, const FlowNode *n, const BlockPart *s,
                    NumberList *out) {
  if (s->from_succs) {
    for (size_t i = 0; i < n->succs.len; i++) {
      const FlowNode *t = &f->nodes.items[n->succs.items[i]];
      flow_part_refs(f, t, first_part(f, t), out);
    }
  } else if (s->from_preds) {
    for (size_t i = 0; i < n->preds.len; i++) {
      const FlowNode *t = &f->nodes.items[n->preds.items[i]];
      flow_part_refs(f, t, last_segment(f, t), out);
    }
  } else {
    array_push(out, s->counter);
  }
}

void flow_entry_refs(const Flow *f, const FlowNode *n, NumberList *out) {
  flow_part_refs(f, n, first_part(f, n), out);
}

void flow_edge_refs(const Flow *f, const FlowNode *from, const FlowNode *to,
                    NumberList *out) {
  if (to->preds.len == 1 || from->succs.len != 1)
    flow_entry_refs(f, to, out); // exact unless the edge could not be split
  else
    flow_part_refs(f, from, last_segment(f, from), out);
}

// --- all together -----------------------------------------------------------

uint32_t flow_landing(const Flow *f, uint32_t n) {
  while (f->nodes.items[n].forwards)
    n = f->nodes.items[n].succs.items[0];
  return n;
}

static void contract(Flow *f) {
  for (uint32_t i = 1; i < f->nodes.len; i++) {
    FlowNode *n = &f->nodes.items[i];
    n->forwards = !n->statements && n->succs.len == 1 && !n->header &&
                  !last_segment(f, n)->can_end && n->nparts == 1;
  }
}

void flow_build(Flow *f) {
  list_blocks(f);
  link_blocks(f);
  make_nodes(f);
  link_nodes(f);
  find_headers(f);
  for (uint32_t i = 0; i < f->nodes.len; i++)
    scan_node(f, i);
  place_counters(f);
  contract(f);
}

void flow_release(Flow *f) {
  for (size_t i = 0; i < f->blocks.len; i++) {
    array_release(&f->succs[i]);
    array_release(&f->preds[i]);
  }
  free(f->succs);
  free(f->preds);
  for (size_t i = 0; i < f->nodes.len; i++) {
    array_release(&f->nodes.items[i].succs);
    array_release(&f->nodes.items[i].preds);
  }
  array_release(&f->blocks);
  array_release(&f->node_of);
  array_release(&f->nodes);
  array_release(&f->parts);
  array_release(&f->occurrences);
  hashmap_release(&f->block_numbers);
}
