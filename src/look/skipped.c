// What the other outcome of a branch would have written: see skipped.h.
#include "look/skipped.h"

#include "util/mem.h"

enum {
  EDGE_MAX = 48,     // stores and calls behind one edge
  FUNCTION_MAX = 48, // ... of one function
  CALLS_DEEP = 2,
  TERMS_DEEP = 24,
  BUDGET = 30 * 1000 * 1000,
};

// --- beforehand -------------------------------------------------------------

static const IrInst *terminator(const Program *p, uint32_t block) {
  const IrBlock *b = &p->blocks.items[block];
  return &p->insts.items[b->first + b->n - 1];
}

static bool branches(const IrInst *i) {
  return i->op >= IR_BR && i->op <= IR_JUMP;
}

static void add_block(SkippedCode *s, uint32_t block, SkippedRange *r,
                      uint32_t most) {
  const IrBlock *b = &s->program->blocks.items[block];
  for (uint32_t i = b->first; i < b->first + b->n && r->n < most; i++) {
    uint8_t op = s->program->insts.items[i].op;
    if (op != IR_STORE && op != IR_CALL)
      continue;
    array_push(&s->insts, i);
    r->n++;
  }
}

typedef struct {
  Bitset seen;
  ARRAY(uint32_t) todo;
} SkippedWalk;

// Stores and calls of blocks on the way from the edge to the join.
static SkippedRange walk_edge(SkippedCode *s, const Control *c, SkippedWalk *w,
                              uint32_t first_block, uint32_t edge,
                              uint32_t from) {
  const Program *p = s->program;
  SkippedRange r = {.first = (uint32_t)s->insts.len};
  w->todo.len = 0;
  array_push(&w->todo, first_block + p->edges.items[edge].target);
  while (w->todo.len && r.n < EDGE_MAX) {
    uint32_t block = w->todo.items[--w->todo.len];
    if (block == c->join[from] || block == from || bitset_has(&w->seen, block))
      continue;
    bitset_add(&w->seen, block);
    add_block(s, block, &r, EDGE_MAX);
    const IrInst *end = terminator(p, block);
    if (!branches(end))
      continue;
    const IrBranch *b = &p->branches.items[end->b];
    for (uint32_t i = 0; i < b->nedges; i++)
      array_push(&w->todo,
                 first_block + p->edges.items[b->first_edge + i].target);
  }
  bitset_release(&w->seen);
  return r;
}

static void index_edges(SkippedCode *s, const Control *c,
                        const IrFunction *function, SkippedWalk *w) {
  const Program *p = s->program;
  for (uint32_t i = 0; i < function->nblocks; i++) {
    uint32_t block = function->first_block + i;
    const IrInst *end = terminator(p, block);
    if (!branches(end) || end->op == IR_BR)
      continue;
    const IrBranch *b = &p->branches.items[end->b];
    for (uint32_t k = 0; k < b->nedges; k++)
      s->edges[b->first_edge + k] =
          walk_edge(s, c, w, function->first_block, b->first_edge + k, block);
  }
}

// Only instructions that a term can be made of.
static bool defines(const IrInst *i) {
  switch (i->op) {
  case IR_ADD:
  case IR_SUB:
  case IR_MUL:
  case IR_SHL:
  case IR_ZEXT:
  case IR_SEXT:
  case IR_TRUNC:
  case IR_MOVE:
  case IR_LOAD:
  case IR_ALLOCA:
    return !(i->flags & IR_FROM_TRACE) || i->op == IR_LOAD ||
           i->op == IR_ALLOCA;
  default:
    return false;
  }
}

static void index_registers(SkippedCode *s, const IrFunction *f) {
  const Program *p = s->program;
  size_t base = s->defs.len;
  for (uint32_t i = 0; i < f->nregs; i++) {
    array_push(&s->defs, IR_NONE);
    array_push(&s->home_of, IR_NONE);
  }
  for (uint32_t b = 0; b < f->nblocks; b++) {
    const IrBlock *block = &p->blocks.items[f->first_block + b];
    for (uint32_t i = block->first; i < block->first + block->n; i++) {
      const IrInst *inst = &p->insts.items[i];
      if (defines(inst))
        s->defs.items[base + inst->dst] = i;
      if (inst->op == IR_STORE && !b && !(inst->a & IR_CONST) &&
          inst->b < f->nparams)
        s->home_of.items[base + inst->a] = inst->b;
    }
  }
}

void skipped_init(SkippedCode *s, const Control *c) {
  const Program *p = c->program;
  SkippedWalk w = {0};
  *s = (SkippedCode){.program = p, .budget = BUDGET};
  s->edges = mem_array(SkippedRange, p->edges.len + 1);
  s->functions = mem_array(SkippedRange, p->functions.len + 1);
  s->first_reg = mem_array(uint32_t, p->functions.len + 1);
  for (size_t i = 0; i < p->functions.len; i++) {
    const IrFunction *f = &p->functions.items[i];
    s->first_reg[i] = (uint32_t)s->defs.len;
    index_registers(s, f);
    index_edges(s, c, f, &w);
    s->functions[i].first = (uint32_t)s->insts.len;
    for (uint32_t b = 0; b < f->nblocks; b++)
      add_block(s, f->first_block + b, &s->functions[i], FUNCTION_MAX);
  }
  array_release(&w.todo);
}

void skipped_release(SkippedCode *s) {
  array_release(&s->insts);
  array_release(&s->defs);
  array_release(&s->home_of);
  free(s->edges);
  free(s->functions);
  free(s->first_reg);
}

// --- terms ------------------------------------------------------------------

// A call that was not made, or (call NULL) the function of the branch.
typedef struct Would {
  const struct Would *caller;
  const IrCall *call;
  uint32_t function;
  const uint64_t *regs;
} Would;

static bool value_of(const SkippedCode *s, WatchMemory *m, const Would *in,
                     uint32_t operand, unsigned deep, uint64_t *v);

static bool parameter(const SkippedCode *s, WatchMemory *m, const Would *in,
                      uint32_t i, unsigned deep, uint64_t *v) {
  if (!in->call) {
    *v = in->regs[i];
    return true;
  }
  return i < in->call->nargs &&
         value_of(s, m, in->caller,
                  s->program->args.items[in->call->first_arg + i].operand,
                  deep + 1, v);
}

static bool load(const SkippedCode *s, WatchMemory *m, const Would *in,
                 const IrInst *i, unsigned deep, uint64_t *v) {
  uint64_t at;
  if (in->call && !(i->a & IR_CONST)) {
    uint32_t home = s->home_of.items[s->first_reg[in->function] + i->a];
    if (home != IR_NONE)
      return parameter(s, m, in, home, deep, v);
  }
  return i->width && value_of(s, m, in, i->a, deep + 1, &at) &&
         watched_number(m, at, (i->width + 7u) / 8, v);
}

static uint64_t mask(unsigned width) {
  return width >= 64 ? UINT64_MAX : (1ull << width) - 1;
}

static uint64_t sign_extend(uint64_t v, unsigned from) {
  unsigned shift = from ? 64 - from : 0;
  return (uint64_t)((int64_t)(v << shift) >> shift);
}

static bool compute(const IrInst *i, uint64_t a, uint64_t b, uint64_t *v) {
  switch (i->op) {
  case IR_ADD:
    *v = a + b;
    break;
  case IR_SUB:
    *v = a - b;
    break;
  case IR_MUL:
    *v = a * b;
    break;
  case IR_SHL:
    *v = a << (b & 63);
    break;
  case IR_SEXT:
    *v = sign_extend(a, i->from);
    break;
  default: // ZEXT, TRUNC, MOVE
    *v = a;
  }
  *v &= mask(i->width);
  return true;
}

// What the operand would be if nothing it is made of had changed meanwhile.
static bool value_of(const SkippedCode *s, WatchMemory *m, const Would *in,
                     uint32_t operand, unsigned deep, uint64_t *v) {
  const Program *p = s->program;
  if (operand & IR_CONST) {
    *v = p->values.items[operand & ~IR_CONST];
    return true;
  }
  if (deep > TERMS_DEEP)
    return false;
  uint32_t def = s->defs.items[s->first_reg[in->function] + operand];
  if (def == IR_NONE)
    return operand < p->functions.items[in->function].nparams &&
           parameter(s, m, in, operand, deep, v);
  const IrInst *i = &p->insts.items[def];
  if (i->op == IR_LOAD)
    return load(s, m, in, i, deep, v);
  if (i->op == IR_ALLOCA) {
    *v = in->call ? 0 : in->regs[operand];
    return !in->call; // a local of a function that was not called
  }
  uint64_t a, b = 0;
  bool binary = i->op <= IR_SHL;
  return value_of(s, m, in, i->a, deep + 1, &a) &&
         (!binary || value_of(s, m, in, i->b, deep + 1, &b)) &&
         compute(i, a, b, v);
}

// --- when a branch is taken -------------------------------------------------

static void find_in(SkippedCode *s, WatchMemory *m, const Would *in,
                    SkippedRange range, unsigned calls, SkippedStore *found,
                    void *context) {
  const Program *p = s->program;
  for (uint32_t k = range.first; k < range.first + range.n; k++) {
    const IrInst *i = &p->insts.items[s->insts.items[k]];
    uint64_t at;
    if (!s->budget)
      return;
    s->budget--;
    if (i->op == IR_STORE) {
      if (i->width && value_of(s, m, in, i->a, 0, &at))
        found(context, at, (i->width + 7u) / 8);
      continue;
    }
    const IrCall *c = &p->calls.items[i->a];
    uint32_t callee =
        c->symbol == IR_NONE ? IR_NONE : p->symbols.items[c->symbol].function;
    if (callee == IR_NONE || calls >= CALLS_DEEP)
      continue;
    Would inner = {in, c, callee, NULL};
    find_in(s, m, &inner, s->functions[callee], calls + 1, found, context);
  }
}

void skipped_find(SkippedCode *s, WatchMemory *memory, uint32_t function,
                  const uint64_t *regs, uint32_t first, uint32_t n,
                  uint32_t edge, SkippedStore *found, void *context) {
  const IrEdge *edges = s->program->edges.items;
  Would here = {NULL, NULL, function, regs};
  for (uint32_t e = first; e < first + n; e++)
    if (edges[e].target != edges[edge].target)
      find_in(s, memory, &here, s->edges[e], 0, found, context);
}
