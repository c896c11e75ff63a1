// Unrolling and merging: see encode.h.
//
// A function is unrolled block by block, in an order in which everything that
// leads to a block has been done before it (flow.h). Where ways meet again, a
// cell that they left different becomes a choice by the branches in between:
//
//   D: if (c)   ->  a: x = 1      J: x = on ? (c ? 1 : 2) : anything
//               ->  b: x = 2
//
// found by going back from J to D, the last block that all ways to J pass.
// A way that leads elsewhere says nothing. So nothing needs the whole path's
// condition, and the branches that decide a cell are exactly those that it
// depends on.
#include "spec/encode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "spec/encode_internal.h"

enum {
  BLOCKS_MAX = 400000,
  NEST_MAX = 400, // calls
};

// --- small things -----------------------------------------------------------

uint64_t ghost_dead(void) { return GHOST_BASE; }
uint64_t ghost_clause(uint32_t index) { return GHOST_BASE + 16 + index; }
uint64_t ghost_register(const Frame *f, uint32_t reg) {
  return GHOST_BASE * 2 + ((uint64_t)f->id << 24) + reg;
}
uint64_t ghost_returned(const Frame *f, uint32_t k) {
  return GHOST_BASE * 4 + ((uint64_t)f->id << 24) + k;
}

// The functions that have a contract: wrapper and body.
static void find_wrappers(Encoder *e) {
  const Program *p = e->target.program;
  static const char prefix[] = "__culprit_body_";
  for (size_t i = 0; i < p->functions.len; i++) {
    const char *name = program_name(p, p->functions.items[i].name);
    if (text_starts(name, prefix))
      hashmap_put(&e->wrappers, name + sizeof prefix - 1,
                  strlen(name) - (sizeof prefix - 1), i);
  }
}

void encoder_init(Encoder *e, const EncodeTarget *t, ExprPool *pool) {
  *e = (Encoder){.target = *t, .pool = pool, .max_blocks = BLOCKS_MAX};
  values_init(&e->values, pool);
  memory_init(&e->memory, &e->values, t->read, t->context);
  e->flows = arena_array(&e->arena, Flow *, t->program->functions.len + 1);
  find_wrappers(e);
}

void encoder_release(Encoder *e) {
  values_release(&e->values);
  memory_release(&e->memory);
  pointees_release(&e->pointees);
  arena_release(&e->arena);
  array_release(&e->statements);
  hashmap_release(&e->statement_index);
  array_release(&e->clauses);
  array_release(&e->path);
  array_release(&e->path_statement);
  array_release(&e->path_dead);
  hashmap_release(&e->touched);
  array_release(&e->losses);
  hashmap_release(&e->wrappers);
  expr_map_release(&e->facts);
}

Flow *encode_flow(Encoder *e, uint32_t function) {
  if (!e->flows[function])
    e->flows[function] = flow_new(e->target.program, function, &e->arena);
  return e->flows[function];
}

void encode_lost(Encoder *e, const char *name) {
  for (size_t i = 0; i < e->losses.len; i++)
    if (!strcmp(e->losses.items[i].name, name)) {
      e->losses.items[i].count++;
      return;
    }
  array_push(&e->losses, (EncodeLoss){name, 1});
}

// --- what is assumed away ---------------------------------------------------

static Val look_up(Encoder *e, Pmap state, uint64_t key, unsigned width);

bool encode_is_dead(Encoder *e, Pmap state) {
  uint64_t value;
  Val v = look_up(e, state, ghost_dead(), 1);
  return val_is_const(&e->values, v, &value) && value;
}

Pmap encode_assume_not(Encoder *e, Pmap state, Expr cond) {
  cond = encode_simplify(e, cond);
  if (expr_is_const(e->pool, cond) && !expr_value(e->pool, cond))
    return state;
  Expr dead = val_expr(&e->values, look_up(e, state, ghost_dead(), 1));
  return memory_store(&e->memory, state, ghost_dead(),
                      val_of(&e->values, expr_or(e->pool, dead, cond)));
}

// --- merging ----------------------------------------------------------------

// What a state has in a cell; 0: nothing.
static Val look_up(Encoder *e, Pmap state, uint64_t key, unsigned width) {
  uint32_t v;
  if (pmap_get(state, key, &v) && v)
    return v;
  if (key == ghost_dead())
    return val_const(&e->values, 1, 0);
  if (key >= GHOST_BASE)
    return key < GHOST_BASE * 2 ? val_const(&e->values, 1, 1) : 0;
  Val x = memory_load(&e->memory, &state, key, width, false);
  return x;
}

// Variables of calls that are over, and registers of others, matter no more.
static bool is_over(const Frame *f, uint64_t key) {
  if (key < VARIABLE_BASE || (key >= HEAP_BASE && key < GHOST_BASE * 2))
    return false;
  if (key < HEAP_BASE)
    return memory_frame(key) > f->id;
  uint64_t base = key >= GHOST_BASE * 4 ? GHOST_BASE * 4 : GHOST_BASE * 2;
  return (key - base) >> 24 != f->id;
}

// A region: the unrolled blocks between D and J, latest first.
typedef struct {
  Encoder *e;
  Frame *f;
  uint32_t to;            // J
  ARRAY(uint32_t) blocks; // D is the last
  uint32_t *mark;         // of each unrolled block: in it?
  Val *at;
  unsigned width;
} Meeting;

static uint32_t meet(const Frame *f, uint32_t a, uint32_t b) {
  const Unrolled *u = f->blocks.items;
  while (a != b) {
    if (u[a].depth >= u[b].depth)
      a = u[a].above;
    else
      b = u[b].above;
  }
  return a;
}

static void collect_region(Meeting *m, uint32_t block, uint32_t top) {
  if (m->mark[block])
    return;
  m->mark[block] = 1;
  array_push(&m->blocks, block);
  if (block == top)
    return;
  const Unrolled *u = &m->f->blocks.items[block];
  for (size_t i = 0; i < u->in.len; i++)
    collect_region(m, u->in.items[i].from, top);
}

static int latest_first(const void *a, const void *b, void *frame) {
  const Frame *f = frame;
  uint32_t x = f->blocks.items[*(const uint32_t *)a].order,
           y = f->blocks.items[*(const uint32_t *)b].order;
  return x > y ? -1 : x < y;
}

// What arrives at J with that way out; 0: nothing does.
static Val arriving(Meeting *m, const Leaving *l, uint64_t key) {
  if (l->to == UNROLLED_NONE)
    return 0;
  if (l->to != m->to)
    return m->mark[l->to] ? m->at[l->to] : 0;
  const Incoming *in = &m->f->blocks.items[l->to].in.items[l->in];
  if (in->cut && key != ghost_dead())
    return 0;
  return look_up(m->e, in->state, key, m->width);
}

// Guards of a branch's edges: exclusive, and one holds.
static Expr edge_guard(Encoder *e, const Unrolled *u, uint32_t k) {
  const Program *p = e->target.program;
  const IrBranch *b = &p->branches.items[u->last->b];
  Expr x = val_expr(&e->values, u->subject);
  if (u->last->op == IR_CONDBR)
    return k == 0 ? x : cond_not(&e->values, x);
  Expr none = expr_bool(e->pool, true);
  for (uint32_t i = 0; i < b->ncases; i++) {
    uint64_t value =
        p->values.items[p->cases.items[b->first_case + i] & ~IR_CONST];
    Expr is =
        expr_eq(e->pool, x, expr_const(e->pool, expr_width(e->pool, x), value));
    uint32_t edge = u->last->op == IR_SWITCH ? i + 1 : i;
    if (edge == k)
      return is;
    none = expr_and(e->pool, none, cond_not(&e->values, is));
  }
  return none;
}

// Numbers that a phi moves do not know their width.
static void same_width(Encoder *e, Val *values, size_t n) {
  unsigned width = 64;
  for (size_t i = 0; i < n; i++)
    if (val_width(&e->values, values[i]) < width)
      width = val_width(&e->values, values[i]);
  for (size_t i = 0; i < n; i++)
    values[i] = val_resize(&e->values, values[i], width);
}

static Val choose(Meeting *m, const Unrolled *u, uint64_t key) {
  enum { MOST = 512 };
  Encoder *e = m->e;
  Expr guards[MOST];
  Val values[MOST];
  size_t n = 0;
  bool same = true;
  for (uint32_t k = 0; k < u->nout && n < MOST; k++) {
    Val v = arriving(m, &u->out[k], key);
    if (!v)
      continue;
    guards[n] = k;
    values[n++] = v;
    same &= v == values[0];
  }
  if (!n || same)
    return n ? values[0] : 0;
  for (size_t i = 0; i < n; i++)
    guards[i] = edge_guard(e, u, guards[i]);
  same_width(e, values, n);
  Val v = val_select(&e->values, guards, values, n);
  if (!u->on)
    return v;
  Val off = key == ghost_dead()
                ? val_const(&e->values, 1, 0)
                : encode_any(e, v, false, 0, encode_cell_name(e, key));
  return val_ite(&e->values, u->on, v, off);
}

static Val merge_cell(Meeting *m, uint64_t key) {
  for (size_t i = 0; i < m->blocks.len; i++) {
    uint32_t b = m->blocks.items[i];
    m->at[b] = choose(m, &m->f->blocks.items[b], key);
  }
  return m->at[array_last(&m->blocks)];
}

// The keys that differ among the incoming states, each once.
static void changed_keys(const Unrolled *j, Pmap before, PmapKeys *out) {
  PmapKeys all = {0};
  for (size_t i = 0; i < j->in.len; i++)
    pmap_diff(before, j->in.items[i].state, &all);
  Hashmap seen = {0};
  for (size_t i = 0; i < all.len; i++)
    if (hashmap_intern(&seen, &all.items[i], sizeof(uint64_t), i) == i)
      array_push(out, all.items[i]);
  hashmap_release(&seen);
  array_release(&all);
}

// The width of a cell in all the states; 0: they do not agree.
static unsigned common_width(const Encoder *e, const Unrolled *j,
                             uint64_t key) {
  unsigned width = 0;
  for (size_t i = 0; i < j->in.len; i++) {
    uint32_t v;
    if (!pmap_get(j->in.items[i].state, key, &v) || !v)
      continue;
    unsigned w = val_width(&e->values, v);
    if (width && w != width)
      return 0;
    width = w;
  }
  return width ? width : 8;
}

// Cells of different sizes at one place are taken apart everywhere.
static bool take_apart(Encoder *e, Unrolled *j, const PmapKeys *keys) {
  bool any = false;
  for (size_t k = 0; k < keys->len; k++) {
    if (keys->items[k] >= GHOST_BASE || common_width(e, j, keys->items[k]))
      continue;
    any = true;
    for (size_t i = 0; i < j->in.len; i++)
      memory_load(&e->memory, &j->in.items[i].state, keys->items[k] + 1, 8,
                  false);
  }
  return any;
}

static Pmap merge_states(Encoder *e, Frame *f, uint32_t to, uint32_t top) {
  Meeting m = {.e = e, .f = f, .to = to};
  Unrolled *j = &f->blocks.items[to];
  m.mark = mem_array(uint32_t, f->blocks.len);
  m.at = mem_array(Val, f->blocks.len);
  for (size_t i = 0; i < j->in.len; i++)
    collect_region(&m, j->in.items[i].from, top);
  qsort_r(m.blocks.items, m.blocks.len, sizeof(uint32_t), latest_first, f);
  Pmap before = f->blocks.items[top].end, state = before;
  PmapKeys keys = {0};
  changed_keys(j, before, &keys);
  if (take_apart(e, j, &keys)) {
    keys.len = 0;
    changed_keys(j, before, &keys);
  }
  for (size_t i = 0; i < keys.len; i++) {
    if (is_over(f, keys.items[i]))
      continue;
    m.width = common_width(e, j, keys.items[i]);
    Val v = merge_cell(&m, keys.items[i]);
    state = pmap_put(&e->memory.arena, state, keys.items[i], v);
  }
  array_release(&keys);
  array_release(&m.blocks);
  free(m.mark);
  free(m.at);
  return state;
}

// --- unrolling --------------------------------------------------------------

// Where in the order: see flow.h.
static int compare(const Frame *f, const Unrolled *a, const Unrolled *b) {
  const uint32_t *order = f->flow->order;
  for (uint32_t l = 0;; l++) {
    bool in_a = l < a->nloops, in_b = l < b->nloops;
    uint32_t x = order[in_a ? f->flow->loops[a->loops[l]].head : a->block],
             y = order[in_b ? f->flow->loops[b->loops[l]].head : b->block];
    if (x != y)
      return x < y ? -1 : 1;
    if (!in_a || !in_b)
      return 0;
    if (a->rounds[l] != b->rounds[l])
      return a->rounds[l] < b->rounds[l] ? -1 : 1;
  }
}

static uint32_t take_first(Frame *f) {
  size_t best = 0;
  for (size_t i = 1; i < f->pending.len; i++)
    if (compare(f, &f->blocks.items[f->pending.items[i]],
                &f->blocks.items[f->pending.items[best]]) < 0)
      best = i;
  uint32_t u = f->pending.items[best];
  f->pending.items[best] = array_last(&f->pending);
  f->pending.len--;
  return u;
}

static bool may_go_round(Encoder *e, FlowLoop *loop, uint32_t rounds) {
  if (e->mode == ENCODE_RUN) {
    loop->rounds = loop->rounds > rounds ? loop->rounds : rounds;
    return true;
  }
  return rounds <= (e->mode == ENCODE_CHECK ? e->bound : loop->rounds + 1);
}

// The unrolled block that an edge leads to; false: it is beyond the bounds.
static bool next_place(Encoder *e, const Frame *f, const Unrolled *from,
                       uint32_t block, Unrolled *out) {
  *out = (Unrolled){.block = block};
  out->nloops = flow_loops(f->flow, block, out->loops);
  bool back = f->flow->order[block] <= f->flow->order[from->block];
  for (uint32_t l = 0; l < out->nloops; l++) {
    bool same = l < from->nloops && from->loops[l] == out->loops[l];
    if (!same)
      break;
    out->rounds[l] = from->rounds[l];
    FlowLoop *loop = &f->flow->loops[out->loops[l]];
    if (back && l + 1 == out->nloops && loop->head == block)
      return may_go_round(e, loop, ++out->rounds[l]);
  }
  return !back; // else a loop with two entries
}

static uint32_t find_pending(Frame *f, const Unrolled *u) {
  for (size_t i = 0; i < f->pending.len; i++) {
    uint32_t k = f->pending.items[i];
    if (f->blocks.items[k].block == u->block &&
        compare(f, &f->blocks.items[k], u) == 0)
      return k;
  }
  array_push(&f->blocks, *u);
  array_push(&f->pending, (uint32_t)f->blocks.len - 1);
  return (uint32_t)f->blocks.len - 1;
}

static void arrive(Frame *f, uint32_t from, Leaving *l, uint32_t to, Pmap state,
                   bool cut) {
  Unrolled *u = &f->blocks.items[to];
  *l = (Leaving){to, (uint32_t)u->in.len};
  array_push(&u->in, (Incoming){from, state, cut});
}

static void leave_cut(Encoder *e, Frame *f, uint32_t from, Leaving *l,
                      Pmap state) {
  state = memory_store(&e->memory, state, ghost_dead(),
                       val_const(&e->values, 1, 1));
  arrive(f, from, l, 0, state, true);
}

// The registers that an edge sets, all at once.
static Pmap make_moves(Encoder *e, const IrEdge *edge, Pmap state) {
  const Program *p = e->target.program;
  Val *values = mem_array(Val, edge->n + 1);
  for (uint32_t i = 0; i < edge->n; i++)
    values[i] =
        encode_operand(e, state, p->moves.items[edge->first + i].src, 64);
  for (uint32_t i = 0; i < edge->n; i++)
    if (values[i])
      encode_set(e, &state, p->moves.items[edge->first + i].dst, values[i]);
  free(values);
  return state;
}

static void leave_by(Encoder *e, Frame *f, uint32_t from, uint32_t k,
                     Pmap state) {
  const Program *p = e->target.program;
  const IrBranch *b = flow_branch(p, f->function, f->blocks.items[from].block);
  const IrEdge *edge = &p->edges.items[b->first_edge + k];
  Unrolled to;
  Leaving l;
  bool fits = next_place(e, f, &f->blocks.items[from], edge->target, &to);
  if (fits && e->blocks < e->max_blocks) {
    state = make_moves(e, edge, state);
    arrive(f, from, &l, find_pending(f, &to), state, false);
  } else {
    e->cut_loops += !fits;
    e->cut_size += fits;
    leave_cut(e, f, from, &l, state);
  }
  f->blocks.items[from].out[k] = l;
}

// The edge that is taken, if that is certain.
static bool decided(Encoder *e, Unrolled *u, uint32_t *edge) {
  const Program *p = e->target.program;
  const IrBranch *b = &p->branches.items[u->last->b];
  if (b->nedges == 1) {
    *edge = 0;
    return true;
  }
  for (uint32_t k = 0; k < b->nedges; k++) {
    Expr g = encode_simplify(e, edge_guard(e, u, k));
    if (expr_is_const(e->pool, g) && expr_value(e->pool, g)) {
      *edge = k;
      return true;
    }
  }
  return false;
}

static uint32_t edge_in_run(Encoder *e, const Unrolled *u) {
  for (uint32_t k = 0; k < u->nout; k++)
    if (expr_value(e->pool, edge_guard(e, u, k)))
      return k;
  return 0;
}

// On the run's path: only the edge that was taken, and a condition.
static void follow(Encoder *e, Frame *f, uint32_t from, Pmap state) {
  Unrolled *u = &f->blocks.items[from];
  uint32_t k = edge_in_run(e, u);
  array_push(&e->path, (Constraint){edge_guard(e, u, k), true});
  array_push(&e->path_dead,
             val_expr(&e->values, look_up(e, state, ghost_dead(), 1)));
  array_push(&e->path_statement, encode_is_statement(e, u->last)
                                     ? encode_statement(e, u->last)
                                     : UINT32_MAX);
  leave_by(e, f, from, k, state);
}

static bool is_possible(Encoder *e, const Frame *f, uint32_t from, uint32_t k) {
  Expr g = encode_simplify(e, edge_guard(e, &f->blocks.items[from], k));
  return !expr_is_const(e->pool, g) || expr_value(e->pool, g);
}

static void leave_block(Encoder *e, Frame *f, uint32_t from, Pmap state) {
  Unrolled *u = &f->blocks.items[from];
  const IrBranch *b = &e->target.program->branches.items[u->last->b];
  u->nout = b->nedges;
  u->out = arena_array(&e->arena, Leaving, b->nedges);
  for (uint32_t k = 0; k < b->nedges; k++)
    u->out[k].to = UNROLLED_NONE;
  u->subject = u->last->op == IR_BR
                   ? 0
                   : encode_operand(e, state, u->last->a, u->last->width);
  u->on = b->nedges > 1 ? encode_on(e, u->last, true) : 0;
  uint32_t only;
  if (decided(e, u, &only))
    leave_by(e, f, from, only, state);
  else if (e->mode == ENCODE_FOLLOW && f->soft)
    follow(e, f, from, state);
  else
    for (uint32_t k = 0; k < b->nedges; k++)
      if (is_possible(e, f, from, k))
        leave_by(e, f, from, k, state);
}

static void leave_function(Encoder *e, Frame *f, uint32_t from, Pmap state,
                           bool dead) {
  Unrolled *u = &f->blocks.items[from];
  u->nout = 1;
  u->out = arena_array(&e->arena, Leaving, 1);
  Leaving l;
  if (dead)
    leave_cut(e, f, from, &l, state);
  else
    arrive(f, from, &l, 0, state, false);
  f->blocks.items[from].out[0] = l;
}

static void return_values(Encoder *e, Frame *f, const IrInst *i, Pmap *state) {
  const Program *p = e->target.program;
  Expr on = encode_on(e, i, false);
  for (uint32_t k = 0; k < i->b; k++) {
    const IrArg *a = &p->args.items[i->a + k];
    if (!a->width)
      continue;
    Val v = encode_operand(e, *state, a->operand, a->width);
    bool pointer = a->flags & IR_POINTER;
    if (on)
      v = val_ite(&e->values, on, v,
                  encode_any(e, v, pointer, (uint64_t)(i - p->insts.items),
                             ghost_returned(f, k)));
    *state = memory_store(&e->memory, *state, ghost_returned(f, k), v);
    f->nreturned = k + 1;
  }
}

// State and facts where the unrolled block begins.
static Pmap enter(Encoder *e, Frame *f, uint32_t number) {
  Unrolled *u = &f->blocks.items[number];
  u->order = ++f->order;
  if (!u->in.len || u->in.items[0].from == UNROLLED_NONE) { // the first
    u->above = number;
    u->facts = f->facts;
    return u->in.len ? u->in.items[0].state : NULL;
  }
  uint32_t top = u->in.items[0].from;
  for (size_t i = 1; i < u->in.len; i++)
    top = meet(f, top, u->in.items[i].from);
  u->above = top;
  u->depth = f->blocks.items[top].depth + 1;
  u->facts = f->blocks.items[top].facts;
  if (u->in.len > 1)
    return merge_states(e, f, number, top);
  const Unrolled *from = &f->blocks.items[top];
  if (from->subject && from->last->op == IR_CONDBR)
    for (uint32_t k = 0; k < from->nout; k++)
      if (from->out[k].to == number)
        u->facts = encode_add_fact(e, u->facts,
                                   val_expr(&e->values, from->subject), k == 0);
  return u->in.items[0].state;
}

static void do_block(Encoder *e, Frame *f, uint32_t number) {
  const Program *p = e->target.program;
  Pmap state = enter(e, f, number);
  Unrolled *u = &f->blocks.items[number];
  const IrBlock *b =
      &p->blocks.items[p->functions.items[f->function].first_block + u->block];
  e->blocks++;
  f->current = number;
  encode_load_facts(e, u->facts);
  encode_block(e, b, &state);
  u = &f->blocks.items[number];
  u->last = &p->insts.items[b->first + b->n - 1];
  bool dead = encode_is_dead(e, state);
  if (!dead && u->last->op == IR_RET)
    return_values(e, f, u->last, &state);
  f->blocks.items[number].end = state;
  if (dead || u->last->op == IR_STOP || u->last->op == IR_RET)
    leave_function(e, f, number, state, dead || u->last->op == IR_STOP);
  else
    leave_block(e, f, number, state);
  f->blocks.items[number].done = true;
}

// --- functions --------------------------------------------------------------

static void begin_frame(Encoder *e, Frame *f, const Val *args, size_t nargs,
                        Pmap state) {
  const IrFunction *fn = &e->target.program->functions.items[f->function];
  f->regs = mem_array(Val, fn->nregs + 1);
  for (size_t i = 0; i < nargs && i < fn->nparams; i++)
    f->regs[i] = args[i];
  array_push(&f->blocks, (Unrolled){.block = IR_NONE});
  Unrolled first = {.block = 0};
  first.nloops = flow_loops(f->flow, 0, first.loops);
  array_push(&first.in, (Incoming){UNROLLED_NONE, state, false});
  array_push(&f->blocks, first);
  array_push(&f->pending, 1);
}

static void end_frame(Frame *f) {
  for (size_t i = 0; i < f->blocks.len; i++)
    array_release(&f->blocks.items[i].in);
  array_release(&f->blocks);
  array_release(&f->pending);
  free(f->regs);
}

static Pmap finish(Encoder *e, Frame *f, Pmap before) {
  if (!f->blocks.items[0].in.len) // nothing came to its end
    return memory_store(&e->memory, before, ghost_dead(),
                        val_const(&e->values, 1, 1));
  return enter(e, f, 0);
}

uint64_t encode_mix(uint64_t a, uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2);
  return a * 0xff51afd7ed558ccdull;
}

uint64_t encode_site_key(const Encoder *e, const IrInst *site) {
  const Frame *caller = e->frame;
  const Program *p = e->target.program;
  if (!caller)
    return 1;
  const Unrolled *u = &caller->blocks.items[caller->current];
  uint64_t key = encode_mix(caller->key, (uint64_t)(site - p->insts.items) + 1);
  for (uint32_t l = 0; l < u->nloops; l++)
    key = encode_mix(key, u->rounds[l] + 1);
  return key;
}

static bool may_call(Encoder *e, Flow *flow, uint32_t function) {
  uint32_t active = 1, all = 0;
  for (const Frame *f = e->frame; f; f = f->caller, all++)
    active += f->function == function;
  if (e->mode == ENCODE_RUN) {
    flow->calls = flow->calls > active ? flow->calls : active;
    return all < NEST_MAX;
  }
  uint32_t most = e->mode == ENCODE_CHECK ? e->bound : flow->calls;
  return active <= most + 1 && all < NEST_MAX;
}

static bool is_made(const Encoder *e, uint32_t function) {
  const Program *p = e->target.program;
  const char *name = program_name(p, p->functions.items[function].name);
  if (text_starts(name, "__culprit_"))
    return !text_starts(name, "__culprit_body_");
  uint64_t found;
  return hashmap_get(&e->wrappers, name, strlen(name), &found);
}

void encode_call_function(Encoder *e, uint32_t function, bool soft, bool root,
                          const IrInst *site, const Val *args, size_t nargs,
                          Pmap *state, Val *results, size_t nresults) {
  Flow *flow = encode_flow(e, function);
  Frame *caller = e->frame;
  if (!may_call(e, flow, function)) {
    e->cut_calls++;
    *state = memory_store(&e->memory, *state, ghost_dead(),
                          val_const(&e->values, 1, 1));
    return;
  }
  Frame f = {.caller = caller,
             .function = function,
             .id = ++e->nframes,
             .key = encode_site_key(e, site),
             .soft = soft,
             .root = root,
             .made = is_made(e, function),
             .flow = flow,
             .facts =
                 caller ? caller->blocks.items[caller->current].facts : NULL};
  e->frame = &f;
  begin_frame(e, &f, args, nargs, *state);
  while (f.pending.len)
    do_block(e, &f, take_first(&f));
  *state = finish(e, &f, *state);
  for (size_t k = 0; k < nresults; k++)
    results[k] = look_up(e, *state, ghost_returned(&f, (uint32_t)k), 64);
  end_frame(&f);
  e->frame = caller;
  if (caller)
    encode_load_facts(e, caller->blocks.items[caller->current].facts);
}

// --- all of it --------------------------------------------------------------

static void begin(Encoder *e, EncodeMode mode) {
  e->mode = mode;
  e->memory.concrete = mode == ENCODE_RUN;
  e->clauses.len = 0;
  e->path.len = e->path_statement.len = e->path_dead.len = 0;
  e->losses.len = 0;
  e->cut_loops = e->cut_calls = e->cut_size = 0;
  e->blocks = 0;
  e->table = 0;
  e->dead = 0;
  e->nframes = 0;
  e->memory.regions.len = 0;
  hashmap_release(&e->memory.initial);
  expr_map_clear(&e->facts);
}

// The wrapper's own parameters are not looked at: it takes them from `args`.
// A result by reference needs some place, though.
static void encode(Encoder *e) {
  const IrFunction *fn = &e->target.program->functions.items[e->target.wrapper];
  Val *params = mem_array(Val, fn->nparams + 1);
  for (uint32_t i = 0; i < fn->nparams; i++) {
    unsigned width =
        e->target.program->scalars.items[fn->first_scalar + i].width;
    params[i] = val_const(&e->values, width ? width : 64,
                          memory_new_heap(&e->memory, 4096, true, i + 2));
  }
  e->end = NULL;
  encode_call_function(e, e->target.wrapper, false, true, NULL, params,
                       fn->nparams, &e->end, NULL, 0);
  e->ended = !expr_value(e->pool, encoder_dead(e));
  free(params);
}

int encoder_run(Encoder *e, Err *err) {
  begin(e, ENCODE_RUN);
  e->memory.read_first.len = 0;
  encode(e);
  e->npre = e->memory.read_first.len;
  if (e->ended)
    return pointees_learn(&e->pointees), 0;
  Str limits = {0};
  encoder_show_limits(e, &limits);
  err_set(
      err, "the call of %s cannot be followed to its end (%s)",
      program_name(e->target.program,
                   e->target.program->functions.items[e->target.wrapper].name),
      limits.len ? str_text(&limits) : "it stops before");
  str_release(&limits);
  return -1;
}

static int check_end(const Encoder *e, Err *err) {
  if (e->ended)
    return 0;
  return err_set(err, "internal error: the encoding does not have the run");
}

int encoder_all(Encoder *e, Err *err) {
  begin(e, ENCODE_ALL);
  encode(e);
  return check_end(e, err);
}

int encoder_follow(Encoder *e, Err *err) {
  begin(e, ENCODE_FOLLOW);
  encode(e);
  return check_end(e, err);
}

int encoder_check(Encoder *e, uint32_t bound, Err *err) {
  (void)err; // that the run itself lies beyond the bound is no error
  e->bound = bound;
  begin(e, ENCODE_CHECK);
  encode(e);
  return 0;
}

Expr encoder_dead(Encoder *e) {
  return val_expr(&e->values, look_up(e, e->end, ghost_dead(), 1));
}

static const EncodedClause *find_clause(const Encoder *e, uint32_t number) {
  for (size_t i = 0; i < e->clauses.len; i++)
    if (e->clauses.items[i].table == e->table &&
        e->clauses.items[i].number == number)
      return &e->clauses.items[i];
  return NULL;
}

Expr encoder_clause(Encoder *e, uint32_t number) {
  const EncodedClause *c = find_clause(e, number);
  return c ? val_expr(&e->values, look_up(e, e->end, c->cell, 1)) : 0;
}

Expr encoder_clause_dead(Encoder *e, uint32_t number) {
  const EncodedClause *c = find_clause(e, number);
  uint32_t v;
  return c && pmap_get(e->end, c->dead, &v) ? val_expr(&e->values, v) : 0;
}

void encoder_show_limits(const Encoder *e, Str *out) {
  if (e->cut_loops)
    str_addf(out, "loops that go round more than %s",
             e->mode == ENCODE_RUN     ? "can be followed"
             : e->mode == ENCODE_CHECK ? "the bound"
                                       : "once more than in the run");
  if (e->cut_calls)
    str_addf(out, "%scalls that nest deeper than %s", out->len ? ", " : "",
             e->mode == ENCODE_RUN     ? "can be followed"
             : e->mode == ENCODE_CHECK ? "the bound"
                                       : "in the run");
  if (e->cut_size)
    str_addf(out, "%smore than %zu blocks", out->len ? ", " : "",
             e->max_blocks);
  if (out->len) {
    str_add(out, " are assumed away");
  }
  for (size_t i = 0; i < e->losses.len; i++)
    str_addf(out, "%s%s",
             i          ? ", "
             : out->len ? "; not modelled: "
                        : "not modelled: ",
             e->losses.items[i].name);
}
