// Order, loops and registers of a function: see unroll_flow.h.
#include "spec/encode/unroll_flow.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  const Program *program;
  const IrFunction *function;
  uint32_t number;
  UnrollFlow *flow;
  Arena *arena;
  uint8_t *seen;                      // 1: being visited, 2: done
  uint32_t next;                      // place in postorder
  ARRAY(uint32_t) back_from, back_to; // edges that go back
} Finder;

const IrInst *unroll_flow_end(const Program *p, uint32_t function,
                              uint32_t block) {
  const IrBlock *b =
      &p->blocks.items[p->functions.items[function].first_block + block];
  return &p->insts.items[b->first + b->n - 1];
}

const IrBranch *unroll_flow_branch(const Program *p, uint32_t function,
                                   uint32_t block) {
  const IrInst *end = unroll_flow_end(p, function, block);
  return end->op == IR_RET || end->op == IR_STOP ? NULL
                                                 : &p->branches.items[end->b];
}

// --- order ------------------------------------------------------------------

static void visit(Finder *f, uint32_t block) {
  f->seen[block] = 1;
  const IrBranch *b = unroll_flow_branch(f->program, f->number, block);
  // Last edge first, so that the order is that of the source.
  for (uint32_t i = b ? b->nedges : 0; i-- > 0;) {
    uint32_t to = f->program->edges.items[b->first_edge + i].target;
    if (f->seen[to] == 1) {
      array_push(&f->back_from, block);
      array_push(&f->back_to, to);
    } else if (!f->seen[to]) {
      visit(f, to);
    }
  }
  f->seen[block] = 2;
  f->flow->order[block] = f->next++;
}

static void find_order(Finder *f) {
  for (uint32_t i = 0; i < f->flow->nblocks; i++)
    f->flow->order[i] = IR_NONE;
  visit(f, 0);
  for (uint32_t i = 0; i < f->flow->nblocks; i++)
    if (f->flow->order[i] != IR_NONE)
      f->flow->order[i] = f->next - 1 - f->flow->order[i];
}

// --- loops ------------------------------------------------------------------

// Marks what leads to `block` without passing `head`.
static void mark_body(const Finder *f, uint32_t block, uint32_t head,
                      bool *body) {
  if (body[block])
    return;
  body[block] = true;
  if (block == head)
    return;
  for (uint32_t i = 0; i < f->flow->nblocks; i++) {
    const IrBranch *b = unroll_flow_branch(f->program, f->number, i);
    if (f->flow->order[i] == IR_NONE)
      continue;
    for (uint32_t k = 0; b && k < b->nedges; k++)
      if (f->program->edges.items[b->first_edge + k].target == block)
        mark_body(f, i, head, body);
  }
}

static bool *loop_body(Finder *f, uint32_t head) {
  bool *body = arena_array(f->arena, bool, f->flow->nblocks);
  body[head] = true;
  for (size_t i = 0; i < f->back_to.len; i++)
    if (f->back_to.items[i] == head)
      mark_body(f, f->back_from.items[i], head, body);
  return body;
}

static size_t count(const bool *set, size_t n) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++)
    k += set[i];
  return k;
}

// A smaller loop that holds the block replaces a larger one.
static void claim_blocks(const UnrollFlow *flow, bool **bodies, uint32_t loop) {
  size_t size = count(bodies[loop], flow->nblocks);
  for (uint32_t i = 0; i < flow->nblocks; i++)
    if (bodies[loop][i] && (flow->loop[i] == IR_NONE ||
                            size < count(bodies[flow->loop[i]], flow->nblocks)))
      flow->loop[i] = loop;
}

static void find_parents(const UnrollFlow *flow, bool **bodies) {
  for (uint32_t l = 0; l < flow->nloops; l++) {
    UnrollLoop *loop = &flow->loops[l];
    size_t best = SIZE_MAX;
    loop->parent = IR_NONE;
    for (uint32_t k = 0; k < flow->nloops; k++) {
      size_t size = count(bodies[k], flow->nblocks);
      if (k != l && bodies[k][loop->head] && size < best &&
          size > count(bodies[l], flow->nblocks)) {
        best = size;
        loop->parent = k;
      }
    }
  }
  for (uint32_t l = 0; l < flow->nloops; l++)
    for (uint32_t k = flow->loops[l].parent; k != IR_NONE;
         k = flow->loops[k].parent)
      flow->loops[l].depth++;
}

static void find_loops(Finder *f) {
  UnrollFlow *flow = f->flow;
  size_t most = f->back_to.len;
  flow->loop = arena_array(f->arena, uint32_t, flow->nblocks);
  for (uint32_t i = 0; i < flow->nblocks; i++)
    flow->loop[i] = IR_NONE;
  flow->loops = arena_array(f->arena, UnrollLoop, most);
  bool **bodies = arena_array(f->arena, bool *, most);
  for (size_t i = 0; i < most; i++) {
    uint32_t head = f->back_to.items[i], l = 0;
    while (l < flow->nloops && flow->loops[l].head != head)
      l++;
    if (l < flow->nloops)
      continue;
    bool *body = loop_body(f, head);
    if (body[0] && head != 0) { // can be entered elsewhere
      flow->irreducible = true;
      continue;
    }
    flow->loops[l].head = head;
    bodies[l] = body;
    flow->nloops++;
  }
  for (uint32_t l = 0; l < flow->nloops; l++)
    claim_blocks(flow, bodies, l);
  find_parents(flow, bodies);
}

uint32_t unroll_flow_loops(const UnrollFlow *f, uint32_t block, uint32_t *out) {
  uint32_t loop = f->loop[block];
  if (loop == IR_NONE)
    return 0;
  uint32_t n = f->loops[loop].depth + 1;
  for (uint32_t i = n; i-- > 0; loop = f->loops[loop].parent)
    if (i < LOOPS_MAX)
      out[i] = loop;
  return n < LOOPS_MAX ? n : LOOPS_MAX;
}

// --- registers --------------------------------------------------------------

typedef struct {
  const Program *program;
  uint32_t *home; // block + 1 that sets the register
  bool *shared;
  uint32_t block, nparams;
} Registers;

static void sets(Registers *r, uint32_t reg) {
  if (r->home[reg] && r->home[reg] != r->block + 1)
    r->shared[reg] = true;
  r->home[reg] = r->block + 1;
}

static void uses(Registers *r, uint32_t operand) {
  if (!(operand & IR_CONST) && operand >= r->nparams &&
      r->home[operand] != r->block + 1)
    r->shared[operand] = true;
}

static void use_args(Registers *r, uint32_t first, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    uses(r, r->program->args.items[first + i].operand);
}

static const struct {
  bool d, a, b, c;
} operands[] = {
#define IR_OP(name, d, a, b, c) {d, a, b, c},
#include "ir/ir_ops.def"
#undef IR_OP
};

static void look_at(Registers *r, const IrInst *i, bool setting) {
  const Program *p = r->program;
  if (i->op == IR_CALL || i->op == IR_RECORDED) {
    const IrCall *c = &p->calls.items[i->a];
    if (setting)
      for (uint32_t k = 0; k < c->nscalars; k++)
        sets(r, c->dst + k);
    else
      use_args(r, c->first_arg, c->nargs);
    if (!setting && c->symbol == IR_NONE)
      uses(r, c->pointer);
    return;
  }
  if (setting) {
    if (operands[i->op].d)
      sets(r, i->dst);
    return;
  }
  if (i->op == IR_RET)
    use_args(r, i->a, i->b);
  if (operands[i->op].a)
    uses(r, i->a);
  if (operands[i->op].b)
    uses(r, i->b);
  if (operands[i->op].c)
    uses(r, i->c);
}

static void look_at_block(Registers *r, const IrFunction *f, bool setting) {
  const IrBlock *b = &r->program->blocks.items[f->first_block + r->block];
  for (uint32_t i = 0; i < b->n; i++)
    look_at(r, &r->program->insts.items[b->first + i], setting);
}

static void share_moves(Registers *r, const IrBranch *b) {
  for (uint32_t k = 0; b && k < b->nedges; k++) {
    const IrEdge *e = &r->program->edges.items[b->first_edge + k];
    for (uint32_t i = 0; i < e->n; i++) {
      const IrMove *move = &r->program->moves.items[e->first + i];
      r->shared[move->dst] = true;
      uses(r, move->src);
    }
  }
}

static void find_shared(Finder *f) {
  const IrFunction *fn = f->function;
  f->flow->shared = arena_array(f->arena, bool, fn->nregs + 1);
  Registers r = {.program = f->program,
                 .home = mem_array(uint32_t, fn->nregs + 1),
                 .shared = f->flow->shared,
                 .nparams = fn->nparams};
  for (r.block = 0; r.block < fn->nblocks; r.block++)
    look_at_block(&r, fn, true);
  for (r.block = 0; r.block < fn->nblocks; r.block++) {
    look_at_block(&r, fn, false);
    share_moves(&r, unroll_flow_branch(f->program, f->number, r.block));
  }
  free(r.home);
}

UnrollFlow *unroll_flow_new(const Program *p, uint32_t function, Arena *arena) {
  const IrFunction *fn = &p->functions.items[function];
  UnrollFlow *flow = arena_new(arena, UnrollFlow);
  flow->nblocks = fn->nblocks;
  flow->order = arena_array(arena, uint32_t, fn->nblocks);
  Finder f = {.program = p,
              .function = fn,
              .number = function,
              .flow = flow,
              .arena = arena,
              .seen = mem_array(uint8_t, fn->nblocks)};
  find_order(&f);
  find_loops(&f);
  find_shared(&f);
  free(f.seen);
  array_release(&f.back_from);
  array_release(&f.back_to);
  return flow;
}
