// Branch events of a replay, each with the event it depends on: see align.h.
//
// The branches whose join has not been reached are a stack, one for each call.
// Replay reports a branch before the block it leads to. Only then is it known
// which call the branch belonged to, because returns are not reported.
#include <assert.h>
#include <xxhash.h>

#include "near/align.h"

void tracker_init(Tracker *t, const Control *c, Events *out) {
  *t = (Tracker){.control = c, .events = out, .branch = IR_NONE};
}

void tracker_release(Tracker *t) {
  array_release(&t->open);
  array_release(&t->calls);
}

void tracker_branch(void *tracker, uint32_t branch, uint32_t edge) {
  Tracker *t = tracker;
  t->branch = branch;
  t->edge = edge;
}

static void leave_calls(Tracker *t, size_t depth) {
  while (t->calls.len > depth) {
    t->open.len = array_last(&t->calls).first_open;
    t->calls.len--;
  }
}

// What decides about what is executed now: the innermost open branch, or the
// call.
static OpenBranch decider_at(const Tracker *t, size_t depth) {
  if (!depth || depth > t->calls.len)
    return (OpenBranch){0};
  const OpenCall *c = &t->calls.items[depth - 1];
  size_t end = depth < t->calls.len ? c[1].first_open : t->open.len;
  if (end > c->first_open)
    return t->open.items[end - 1];
  return (OpenBranch){.key = c->key, .event = c->parent};
}

static OpenBranch decider(const Tracker *t) {
  return decider_at(t, t->calls.len);
}

uint32_t tracker_decider(const Tracker *t, size_t depth) {
  return decider_at(t, depth).event;
}

uint64_t tracker_key(const Tracker *t, size_t depth, uint32_t branch) {
  return event_key(decider_at(t, depth).key, branch);
}

// The i-th call that a block makes is aligned with the i-th.
static void enter_call(Tracker *t, uint32_t block) {
  OpenBranch by = decider(t);
  uint32_t site[3] = {block, IR_NONE, 0};
  if (t->calls.len) {
    OpenCall *caller = &array_last(&t->calls);
    site[1] = caller->block;
    site[2] = caller->calls++;
  }
  array_push(&t->calls,
             (OpenCall){.key = XXH3_64bits_withSeed(site, sizeof site, by.key),
                        .parent = by.event,
                        .first_open = (uint32_t)t->open.len,
                        .block = block,
                        .entered = IR_NONE});
}

static const IrInst *terminator(const Program *p, uint32_t block) {
  const IrBlock *b = &p->blocks.items[block];
  return &p->insts.items[b->first + b->n - 1];
}

// Does it go by a constant that the edge to its block brought along?
static bool is_echo(const Tracker *t, uint32_t block) {
  const Program *p = t->control->program;
  uint32_t entered = array_last(&t->calls).entered;
  if (entered == IR_NONE)
    return false;
  const IrEdge *e = &p->edges.items[entered];
  uint32_t operand = terminator(p, block)->a;
  for (uint32_t i = 0; i < e->n; i++)
    if (p->moves.items[e->first + i].dst == operand)
      return (p->moves.items[e->first + i].src & IR_CONST) != 0;
  return false;
}

// The edge to the block that is entered now.
static uint32_t entering_edge(const Tracker *t) {
  const Program *p = t->control->program;
  if (t->branch != IR_NONE)
    return p->branches.items[t->branch].first_edge + t->edge;
  const IrInst *i = terminator(p, array_last(&t->calls).block);
  return i->op == IR_BR ? p->branches.items[i->b].first_edge : IR_NONE;
}

static void take_branch(Tracker *t) {
  const Control *c = t->control;
  OpenBranch by = decider(t);
  uint32_t edge = c->program->branches.items[t->branch].first_edge + t->edge;
  uint32_t event =
      events_add(t->events, by.key, by.event, t->branch, c->way[edge]);
  uint32_t block = c->block_of[t->branch];
  if (is_echo(t, block))
    bitset_add(&t->events->echoes, event);
  array_push(&t->open, (OpenBranch){.key = t->events->items.items[event].key,
                                    .event = event,
                                    .join = c->join[block]});
}

static void close_branches(Tracker *t, uint32_t block) {
  uint32_t first = array_last(&t->calls).first_open;
  while (t->open.len > first && array_last(&t->open).join == block)
    t->open.len--;
}

void tracker_block(void *tracker, uint32_t block, size_t depth) {
  Tracker *t = tracker;
  assert(depth > 0);
  if (t->control->entry[block]) {
    leave_calls(t, depth - 1);
    enter_call(t, block);
    return;
  }
  leave_calls(t, depth);
  assert(t->calls.len == depth);
  uint32_t edge = entering_edge(t);
  if (t->branch != IR_NONE)
    take_branch(t);
  t->branch = IR_NONE;
  close_branches(t, block);
  array_last(&t->calls).entered = edge;
  array_last(&t->calls).block = block;
  array_last(&t->calls).calls = 0;
}
