// Unrolling: see encode.h.
//
// A function is unrolled block by block, in an order in which everything that
// leads to a block has been done before it (unroll_flow.h).
#include "spec/encode/encode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/encode/encode_internal.h"
#include "util/clock.h"

enum {
  BLOCKS_MAX = 400000,
  NEST_MAX = 400,   // calls
  ROUNDS_MORE = 24, // of a loop in a clause that certainly goes on
};

// --- small things -----------------------------------------------------------

uint64_t ghost_dead(void) { return GHOST_BASE; }
uint64_t ghost_clause(uint32_t index) { return GHOST_BASE + 16 + index; }
bool ghost_is_dead(uint64_t key) {
  return key == ghost_dead() ||
         (key > ghost_dead() && key < 2 * GHOST_BASE && key % 2);
}
uint64_t ghost_register(const EncodeFrame *f, uint32_t reg) {
  return GHOST_BASE * 2 + ((uint64_t)f->id << 24) + reg;
}
uint64_t ghost_returned(const EncodeFrame *f, uint32_t k) {
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
  *e = (Encoder){.target = *t,
                 .first = e,
                 .pool = pool,
                 .max_blocks = BLOCKS_MAX,
                 .max_exprs = SIZE_MAX,
                 .deadline = INFINITY};
  val_pool_init(&e->values, pool);
  memory_init(&e->memory, &e->values, t->read, t->context);
  e->flows =
      arena_array(&e->arena, UnrollFlow *, t->program->functions.len + 1);
  find_wrappers(e);
}

void encoder_fork(Encoder *e, Encoder *first, ExprPool *pool) {
  *e = (Encoder){.target = first->target,
                 .first = first,
                 .pool = pool,
                 .max_blocks = BLOCKS_MAX,
                 .max_exprs = SIZE_MAX,
                 .deadline = INFINITY};
  val_pool_init(&e->values, pool);
  memory_init(&e->memory, &e->values, first->target.read,
              first->target.context);
  memory_take_heap(&e->memory, &first->memory);
}

void encoder_release(Encoder *e) {
  val_pool_release(&e->values);
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
  bitset_release(&e->touched_some);
  array_release(&e->losses);
  array_release(&e->kept);
  array_release(&e->frames_of_call);
  array_release(&e->met);
  hashmap_release(&e->wrappers);
  hashmap_release(&e->frames);
  hashmap_release(&e->writes);
  array_release(&e->used);
  array_release(&e->named);
  array_release(&e->seen);
  hashmap_release(&e->seen_index);
  expr_map_release(&e->facts);
}

UnrollFlow *encode_flow(Encoder *e, uint32_t function) {
  Encoder *first = e->first;
  if (!first->flows[function])
    first->flows[function] =
        unroll_flow_new(e->target.program, function, &first->arena);
  return first->flows[function];
}

void encode_lost(Encoder *e, const char *name) {
  for (size_t i = 0; i < e->losses.len; i++)
    if (!strcmp(e->losses.items[i].name, name)) {
      e->losses.items[i].count++;
      return;
    }
  array_push(&e->losses, (EncodeLoss){name, 1});
}

// --- what is assumed not to occur -------------------------------------------

bool encode_is_dead(Encoder *e, Pmap state) {
  uint64_t value;
  Val v = encode_look_up(e, state, ghost_dead(), 1);
  return val_is_const(&e->values, v, &value) && value;
}

Pmap encode_assume_not(Encoder *e, Pmap state, Expr cond) {
  cond = encode_simplify(e, cond);
  if (expr_is_const(e->pool, cond) && !expr_value(e->pool, cond))
    return state;
  Expr dead = val_expr(&e->values, encode_look_up(e, state, ghost_dead(), 1));
  return memory_store(&e->memory, state, ghost_dead(),
                      val_of(&e->values, expr_or(e->pool, dead, cond)));
}

// --- unrolling --------------------------------------------------------------

// Where in the order: see unroll_flow.h.
static int compare(const EncodeFrame *f, const Unrolled *a, const Unrolled *b) {
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

static uint32_t take_first(EncodeFrame *f) {
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

// How often a loop may go round: see encode.h. `certain`: its branch is
// decided.
static uint32_t most_rounds(const Encoder *e, const EncodeFrame *f,
                            const UnrollLoop *loop, bool certain) {
  if (e->mode == ENCODE_CHECK)
    return e->bound;
  return loop->rounds + 1 + (certain && !f->soft ? ROUNDS_MORE : 0);
}

static bool may_go_round(Encoder *e, const EncodeFrame *f, UnrollLoop *loop,
                         uint32_t rounds, bool certain) {
  if (e->mode != ENCODE_RUN)
    return rounds <= most_rounds(e, f, loop, certain);
  loop->rounds = loop->rounds > rounds ? loop->rounds : rounds;
  return true;
}

// The unrolled block that an edge leads to; false: it is beyond the bounds.
static bool next_place(Encoder *e, const EncodeFrame *f, const Unrolled *from,
                       uint32_t block, bool certain, Unrolled *out) {
  *out = (Unrolled){.block = block};
  out->nloops = unroll_flow_loops(f->flow, block, out->loops);
  bool back = f->flow->order[block] <= f->flow->order[from->block];
  for (uint32_t l = 0; l < out->nloops; l++) {
    bool same = l < from->nloops && from->loops[l] == out->loops[l];
    if (!same)
      break;
    out->rounds[l] = from->rounds[l];
    UnrollLoop *loop = &f->flow->loops[out->loops[l]];
    if (back && l + 1 == out->nloops && loop->head == block)
      return may_go_round(e, f, loop, ++out->rounds[l], certain);
  }
  return !back; // else a loop with two entries
}

static uint32_t find_pending(EncodeFrame *f, const Unrolled *u) {
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

static void arrive(EncodeFrame *f, uint32_t from, Leaving *l, uint32_t to,
                   Pmap state, bool cut) {
  Unrolled *u = &f->blocks.items[to];
  *l = (Leaving){to, (uint32_t)u->in.len};
  array_push(&u->in, (Incoming){from, state, cut});
}

static void leave_cut(Encoder *e, EncodeFrame *f, uint32_t from, Leaving *l,
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

static bool is_room(const Encoder *e) {
  return e->blocks < e->max_blocks && e->pool->len < e->max_exprs &&
         (e->blocks % 16 || clock_now() < e->deadline);
}

static void leave_by(Encoder *e, EncodeFrame *f, uint32_t from, uint32_t k,
                     bool certain, Pmap state) {
  const Program *p = e->target.program;
  const IrBranch *b =
      unroll_flow_branch(p, f->function, f->blocks.items[from].block);
  const IrEdge *edge = &p->edges.items[b->first_edge + k];
  Unrolled to;
  Leaving l;
  bool fits =
      next_place(e, f, &f->blocks.items[from], edge->target, certain, &to);
  if (fits && is_room(e)) {
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
    Expr g = encode_simplify(e, encode_edge_guard(e, u, k));
    if (expr_is_const(e->pool, g) && expr_value(e->pool, g)) {
      *edge = k;
      return true;
    }
  }
  return false;
}

static uint32_t edge_in_run(Encoder *e, const Unrolled *u) {
  for (uint32_t k = 0; k < u->nout; k++)
    if (expr_value(e->pool, encode_edge_guard(e, u, k)))
      return k;
  return 0;
}

// On the run's path: only the edge that was taken, and a condition.
static void follow(Encoder *e, EncodeFrame *f, uint32_t from, Pmap state) {
  Unrolled *u = &f->blocks.items[from];
  uint32_t k = edge_in_run(e, u);
  array_push(&e->path, (Constraint){encode_edge_guard(e, u, k), true});
  array_push(&e->path_dead,
             val_expr(&e->values, encode_look_up(e, state, ghost_dead(), 1)));
  array_push(&e->path_statement, encode_is_statement(e, u->last)
                                     ? encode_statement(e, u->last)
                                     : UINT32_MAX);
  leave_by(e, f, from, k, false, state);
}

static bool is_possible(Encoder *e, const EncodeFrame *f, uint32_t from,
                        uint32_t k) {
  Expr g = encode_simplify(e, encode_edge_guard(e, &f->blocks.items[from], k));
  return !expr_is_const(e->pool, g) || expr_value(e->pool, g);
}

static void leave_block(Encoder *e, EncodeFrame *f, uint32_t from, Pmap state) {
  Unrolled *u = &f->blocks.items[from];
  const IrBranch *b = &e->target.program->branches.items[u->last->b];
  u->nout = b->nedges;
  u->out = arena_array(&e->arena, Leaving, b->nedges);
  for (uint32_t k = 0; k < b->nedges; k++)
    u->out[k].to = UNROLLED_NONE;
  u->subject = u->last->op == IR_BR
                   ? 0
                   : encode_operand(e, state, u->last->a, u->last->width);
  u->off = b->nedges > 1 && encode_is_off(e, u->last, true) &&
           (e->mode != ENCODE_TRY || encode_deviates(e));
  uint32_t only;
  if (!u->off && decided(e, u, &only))
    leave_by(e, f, from, only, true, state);
  else if (e->mode == ENCODE_FOLLOW && f->soft)
    follow(e, f, from, state);
  else
    for (uint32_t k = 0; k < b->nedges; k++)
      if (f->blocks.items[from].off || is_possible(e, f, from, k))
        leave_by(e, f, from, k, false, state);
}

static void leave_function(Encoder *e, EncodeFrame *f, uint32_t from,
                           Pmap state, bool dead) {
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

static void return_values(Encoder *e, EncodeFrame *f, const IrInst *i,
                          Pmap *state) {
  const Program *p = e->target.program;
  bool off = encode_is_off(e, i, false);
  if (encode_is_statement(e, i) && i->b)
    e->first->statements.items[e->executed].returns = true;
  for (uint32_t k = 0; k < i->b; k++) {
    const IrArg *a = &p->args.items[i->a + k];
    if (!a->width)
      continue;
    Val v = encode_operand(e, *state, a->operand, a->width);
    bool pointer = a->flags & IR_POINTER;
    if (off)
      v = encode_any(e, v, pointer, (uint64_t)(i - p->insts.items),
                     ghost_returned(f, k));
    *state = memory_store(&e->memory, *state, ghost_returned(f, k), v);
    f->nreturned = k + 1;
  }
}

static uint32_t meet(const EncodeFrame *f, uint32_t a, uint32_t b) {
  const Unrolled *u = f->blocks.items;
  while (a != b) {
    if (u[a].depth >= u[b].depth)
      a = u[a].above;
    else
      b = u[b].above;
  }
  return a;
}

// State and facts where the unrolled block begins.
static Pmap enter(Encoder *e, EncodeFrame *f, uint32_t number) {
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
    return encode_merge(e, f, number, top);
  const Unrolled *from = &f->blocks.items[top];
  if (from->subject && from->last->op == IR_CONDBR && !from->off)
    for (uint32_t k = 0; k < from->nout; k++)
      if (from->out[k].to == number)
        u->facts = encode_add_fact(e, u->facts,
                                   val_expr(&e->values, from->subject), k == 0);
  return u->in.items[0].state;
}

static void do_block(Encoder *e, EncodeFrame *f, uint32_t number) {
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

static void begin_frame(Encoder *e, EncodeFrame *f, const Val *args,
                        size_t nargs, Pmap state) {
  const IrFunction *fn = &e->target.program->functions.items[f->function];
  f->regs = mem_array(Val, fn->nregs + 1);
  for (size_t i = 0; i < nargs && i < fn->nparams; i++)
    f->regs[i] = args[i];
  array_push(&f->blocks, (Unrolled){.block = IR_NONE});
  Unrolled first = {.block = 0};
  first.nloops = unroll_flow_loops(f->flow, 0, first.loops);
  array_push(&first.in, (Incoming){UNROLLED_NONE, state, false});
  array_push(&f->blocks, first);
  array_push(&f->pending, 1);
}

static void end_frame(EncodeFrame *f) {
  for (size_t i = 0; i < f->blocks.len; i++)
    array_release(&f->blocks.items[i].in);
  array_release(&f->blocks);
  array_release(&f->pending);
  free(f->regs);
  free(f->mark);
  free(f->at);
}

static Pmap finish(Encoder *e, EncodeFrame *f, Pmap before) {
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
  const EncodeFrame *caller = e->frame;
  const Program *p = e->target.program;
  if (!caller)
    return 1;
  const Unrolled *u = &caller->blocks.items[caller->current];
  uint64_t key = encode_mix(caller->key, (uint64_t)(site - p->insts.items) + 1);
  for (uint32_t l = 0; l < u->nloops; l++)
    key = encode_mix(key, u->rounds[l] + 1);
  return key;
}

// The same number for the same call in every encoding, so that its variables
// have the same addresses. A callee's is larger.
static uint32_t frame_number(Encoder *e, uint64_t key) {
  Hashmap *frames = &e->first->frames;
  return (uint32_t)hashmap_intern(frames, &key, sizeof key, frames->len + 1);
}

static bool may_call(Encoder *e, UnrollFlow *flow, uint32_t function) {
  uint32_t active = 1, all = 0;
  for (const EncodeFrame *f = e->frame; f; f = f->caller, all++)
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
  return hashmap_get(&e->first->wrappers, name, strlen(name), &found);
}

void encode_call_function(Encoder *e, uint32_t function, bool soft, bool root,
                          const IrInst *site, const Val *args, size_t nargs,
                          Pmap *state, Val *results, size_t nresults) {
  UnrollFlow *flow = encode_flow(e, function);
  EncodeFrame *caller = e->frame;
  if (!may_call(e, flow, function)) {
    e->cut_calls++;
    *state = memory_store(&e->memory, *state, ghost_dead(),
                          val_const(&e->values, 1, 1));
    return;
  }
  uint64_t key = encode_site_key(e, site);
  EncodeFrame f = {.caller = caller,
                   .function = function,
                   .id = frame_number(e, key),
                   .key = key,
                   .soft = soft,
                   .root = root,
                   .made = is_made(e, function),
                   .flow = flow,
                   .facts = caller ? caller->blocks.items[caller->current].facts
                                   : NULL};
  e->frame = &f;
  begin_frame(e, &f, args, nargs, *state);
  while (f.pending.len)
    do_block(e, &f, take_first(&f));
  *state = finish(e, &f, *state);
  for (size_t k = 0; k < nresults; k++)
    results[k] = encode_look_up(e, *state, ghost_returned(&f, (uint32_t)k), 64);
  end_frame(&f);
  e->frame = caller;
  if (caller)
    encode_load_facts(e, caller->blocks.items[caller->current].facts);
}

// --- all of it --------------------------------------------------------------

static void begin(Encoder *e, EncodeMode mode) {
  e->mode = mode;
  e->memory.concrete = mode == ENCODE_RUN || mode == ENCODE_TRY;
  e->clauses.len = 0;
  e->path.len = e->path_statement.len = e->path_dead.len = 0;
  e->losses.len = 0;
  e->kept.len = e->frames_of_call.len = 0;
  e->cut_loops = e->cut_calls = e->cut_size = 0;
  e->blocks = 0;
  e->table = 0;
  e->dead = 0;
  e->behind_body = false;
  e->stopped = false;
  memory_begin(&e->memory);
  expr_map_clear(&e->facts);
}

// The wrapper's own parameters are not used: it takes them from `args`.
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
  e->ended = e->stopped || !expr_value(e->pool, encoder_dead(e));
  free(params);
}

int encoder_run(Encoder *e, Err *err) {
  size_t most = e->max_blocks;
  begin(e, ENCODE_RUN);
  e->memory.read_first.len = 0;
  encode(e);
  e->max_blocks = most;
  e->npre = e->memory.read_first.len;
  if (e->ended)
    return pointees_learn(&e->pointees), 0;
  Str limits = {0};
  encoder_show_limits(e, &limits);
  err_set(
      err, "the call of %s cannot be followed to its end (%s)",
      program_name(e->target.program,
                   e->target.program->functions.items[e->target.wrapper].name),
      limits.len ? str_text(&limits) : "it stops earlier");
  str_release(&limits);
  return -1;
}

static int check_end(const Encoder *e, Err *err) {
  if (e->ended)
    return 0;
  return err_set(err, "internal error: the encoding excludes the run itself");
}

int encoder_off(Encoder *e, const Bitset *on, Err *err) {
  begin(e, ENCODE_OFF);
  e->on = on;
  encode(e);
  return e->cut_size ? 0 : check_end(e, err);
}

void encoder_try(Encoder *e, const Bitset *on, Dice dice) {
  begin(e, ENCODE_TRY);
  e->on = on;
  e->dice = dice;
  encode(e);
}

int encoder_follow(Encoder *e, Err *err) {
  begin(e, ENCODE_FOLLOW);
  encode(e);
  return check_end(e, err);
}

int encoder_check(Encoder *e, uint32_t bound, Err *err) {
  (void)err; // the run itself may lie beyond the bound
  e->bound = bound;
  begin(e, ENCODE_CHECK);
  encode(e);
  return 0;
}

Expr encoder_dead(Encoder *e) {
  return val_expr(&e->values, encode_look_up(e, e->end, ghost_dead(), 1));
}

static const EncodedClause *find_clause(const Encoder *e, uint32_t number) {
  uint64_t table = e->first->about ? e->first->about : e->table;
  for (size_t i = 0; i < e->clauses.len; i++)
    if (e->clauses.items[i].table == table &&
        e->clauses.items[i].number == number)
      return &e->clauses.items[i];
  return NULL;
}

static Expr at_end(Encoder *e, uint64_t key) {
  return val_expr(&e->values, encode_look_up(e, e->end, key, 1));
}

Expr encoder_clause(Encoder *e, uint32_t number) {
  const EncodedClause *c = find_clause(e, number);
  if (!c)
    return e->first->about ? expr_bool(e->pool, true) : 0;
  return at_end(e, c->cell);
}

bool encoder_mean_assertion(Encoder *e, uint64_t table, uint32_t number) {
  e->about = table;
  Expr holds = encoder_clause(e, number);
  return holds && !expr_value(e->pool, holds);
}

// Where it is evaluated; and where it is not, at the end.
static Expr assertion_dead(Encoder *e, const EncodedClause *c) {
  Expr dead = encoder_dead(e);
  return c ? expr_ite(e->pool, at_end(e, c->untold), dead, at_end(e, c->dead))
           : dead;
}

Expr encoder_clause_dead(Encoder *e, uint32_t number) {
  const EncodedClause *c = find_clause(e, number);
  uint32_t v;
  if (e->first->about)
    return assertion_dead(e, c);
  return c && pmap_get(e->end, c->dead, &v) ? val_expr(&e->values, v) : 0;
}

Expr encoder_breaks_assertion(Encoder *e) {
  Expr any = expr_bool(e->pool, false);
  for (size_t i = 0; i < e->clauses.len; i++) {
    const EncodedClause *c = &e->clauses.items[i];
    if (c->table == e->table)
      continue;
    Expr fine = expr_or(e->pool, at_end(e, c->cell), at_end(e, c->dead));
    any = expr_or(e->pool, any, expr_not(e->pool, fine));
  }
  return any;
}

void encoder_show_limits(const Encoder *e, Str *out) {
  if (e->cut_loops)
    str_addf(out, "loops with %s",
             e->mode == ENCODE_RUN ? "more iterations than can be followed"
             : e->mode == ENCODE_CHECK
                 ? "more iterations than the bound"
                 : "over one iteration more than in the run");
  if (e->cut_calls)
    str_addf(out, "%scalls that nest deeper than %s", out->len ? ", " : "",
             e->mode == ENCODE_RUN     ? "can be followed"
             : e->mode == ENCODE_CHECK ? "the bound"
                                       : "in the run");
  if (e->cut_size)
    str_addf(out, "%smore than %zu blocks", out->len ? ", " : "",
             e->max_blocks);
  if (out->len) {
    str_add(out, " are assumed not to occur");
  }
  for (size_t i = 0; i < e->losses.len; i++)
    str_addf(out, "%s%s",
             i          ? ", "
             : out->len ? "; not modelled: "
                        : "not modelled: ",
             e->losses.items[i].name);
}
