// Instructions: see encode.h.
#include <stdlib.h>
#include <string.h>

#include "runtime/contract_format.h"
#include "spec/encode/encode_internal.h"

enum { ARGS_MAX = 64 };

// --- registers --------------------------------------------------------------

Val encode_operand(Encoder *e, Pmap state, uint32_t operand, unsigned width) {
  const Program *p = e->target.program;
  const EncodeFrame *f = e->frame;
  if (operand & IR_CONST)
    return val_const(&e->values, width, p->values.items[operand & ~IR_CONST]);
  uint32_t v = f->regs[operand];
  if (f->flow->shared[operand] &&
      operand >= p->functions.items[f->function].nparams &&
      !pmap_get(state, ghost_register(f, operand), &v))
    v = 0;
  if (!v)
    return e->memory.concrete ? val_const(&e->values, width, 0)
                              : val_free(&e->values, width, 0);
  return val_resize(&e->values, v, width);
}

void encode_set(Encoder *e, Pmap *state, uint32_t reg, Val v) {
  const EncodeFrame *f = e->frame;
  f->regs[reg] = v;
  if (f->flow->shared[reg])
    *state = memory_store(&e->memory, *state, ghost_register(f, reg), v);
}

static uint64_t site_of(const Encoder *e, const IrInst *i) {
  return (uint64_t)(i - e->target.program->insts.items);
}

// --- memory -----------------------------------------------------------------

static void do_alloca(Encoder *e, const IrInst *i, Pmap *state) {
  uint64_t n = val_in_run(&e->values, encode_operand(e, *state, i->a, 64));
  uint64_t size = n < 1 << 20 ? n * i->c : 0;
  uint64_t at =
      memory_new_variable(&e->memory, e->frame->id, size, site_of(e, i));
  encode_set(e, state, i->dst, val_const(&e->values, 64, at));
}

static void do_load(Encoder *e, const IrInst *i, Pmap *state) {
  Val at = encode_operand(e, *state, i->a, 64);
  bool pointer = i->flags & IR_POINTER;
  encode_set(e, state, i->dst,
             encode_load(e, state, at, i->width, pointer, site_of(e, i)));
}

// A cell for the kinds of pointers: where it is written.
static uint64_t one_cell(Encoder *e, Val at) {
  return encode_cell_name(e, val_in_run(&e->values, at));
}

static void do_store(Encoder *e, const IrInst *i, Pmap *state) {
  Val at = encode_operand(e, *state, i->a, 64);
  Val v = encode_operand(e, *state, i->b, i->width);
  bool pointer = i->flags & IR_POINTER;
  bool off = encode_is_off(e, i, false);
  if (off)
    v = encode_any(e, v, pointer, site_of(e, i), one_cell(e, at));
  if (off && e->elsewhere)
    at = encode_elsewhere(e, at, i->width, pointer);
  if (e->mode == ENCODE_RUN && !pointer)
    encode_note_seen(e, val_in_run(&e->values, v));
  if (e->mode == ENCODE_RUN && encode_is_statement(e, i))
    encode_note_write(e, val_in_run(&e->values, at));
  encode_store(e, state, at, v, pointer, site_of(e, i));
}

static void do_forget(Encoder *e, const IrInst *i, Pmap *state) {
  encode_lost(e, "values wider than 64 bits");
  encode_forget(e, state, encode_operand(e, *state, i->a, 64));
}

// Copying and filling are functions of the library as well.
static void do_memory(Encoder *e, const IrInst *i, Pmap *state) {
  unsigned width = i->op == IR_MEMSET ? 8 : 64;
  Val args[3] = {encode_operand(e, *state, i->a, 64),
                 encode_operand(e, *state, i->b, width),
                 encode_operand(e, *state, i->c, 64)};
  encode_library(e, i->op == IR_MEMSET ? "memset" : "memmove", i, NULL, args,
                 encode_is_off(e, i, false), state);
}

// --- calls ------------------------------------------------------------------

static void set_results(Encoder *e, const IrCall *c, const Val *results,
                        Pmap *state) {
  const Program *p = e->target.program;
  for (uint32_t k = 0; k < c->nscalars; k++) {
    const IrScalar *s = &p->scalars.items[c->first_scalar + k];
    if (!s->width)
      continue;
    Val v = results[k]           ? val_resize(&e->values, results[k], s->width)
            : e->memory.concrete ? val_const(&e->values, s->width, 0)
                                 : val_free(&e->values, s->width, 0);
    encode_set(e, state, c->dst + k, v);
  }
}

// What is not known of a call: results, and what its arguments point to.
static void lose_call(Encoder *e, const char *name, const IrCall *c,
                      const Val *args, Pmap *state) {
  const Program *p = e->target.program;
  const Val none[ARGS_MAX] = {0};
  encode_lost(e, name);
  for (uint32_t k = 0; k < c->nargs && k < ARGS_MAX; k++)
    if (p->args.items[c->first_arg + k].flags & IR_POINTER && args[k])
      encode_forget(e, state, args[k]);
  if (c->nscalars <= ARGS_MAX)
    set_results(e, c, none, state);
}

// A struct by value: the callee has a copy.
static Val copy_struct(Encoder *e, const IrArg *a, Val v, uint64_t site,
                       Pmap *state) {
  uint64_t to = memory_new_heap(&e->memory, a->by_value, false, site);
  *state = memory_copy(&e->memory, *state, to, val_in_run(&e->values, v),
                       a->by_value);
  return val_const(&e->values, 64, to);
}

static void get_args(Encoder *e, const IrInst *i, const IrCall *c, bool off,
                     Val *args, Pmap *state) {
  const Program *p = e->target.program;
  for (uint32_t k = 0; k < c->nargs && k < ARGS_MAX; k++) {
    const IrArg *a = &p->args.items[c->first_arg + k];
    if (!a->width)
      continue;
    bool pointer = a->flags & IR_POINTER;
    Val v = encode_operand(e, *state, a->operand, a->width);
    if (a->by_value)
      v = copy_struct(e, a, v, encode_mix(encode_site_key(e, i), k), state);
    else if (off)
      v = encode_any(e, v, pointer, site_of(e, i) << 8 | k | 1ull << 50,
                     1ull << 62 | site_of(e, i) << 8 | k);
    if (pointer && e->mode == ENCODE_RUN)
      pointees_note(&e->first->pointees, site_of(e, i) << 8 | k | 1ull << 50,
                    1ull << 62 | site_of(e, i) << 8 | k,
                    val_in_run(&e->values, v));
    args[k] = v;
  }
}

// The function a pointer leads to in the run; that it is this one is assumed.
static uint32_t pointed_function(Encoder *e, const IrCall *c, Pmap *state) {
  Val v = encode_operand(e, *state, c->pointer, 64);
  uint64_t at = val_in_run(&e->values, v);
  Expr is =
      expr_eq(e->pool, val_expr(&e->values, v), expr_const(e->pool, 64, at));
  *state = encode_assume_not(e, *state, expr_not(e->pool, is));
  return program_function_at(e->target.program, at);
}

static Val dead_now(Encoder *e, Pmap state) {
  uint32_t v;
  return pmap_get(state, ghost_dead(), &v) ? v : val_const(&e->values, 1, 0);
}

static bool calls_body(const Encoder *e, const char *name) {
  return e->frame->root && text_starts(name, "__culprit_body_");
}

static void call_inside(Encoder *e, uint32_t function, const IrInst *i,
                        const IrCall *c, const Val *args, Pmap *state) {
  const Program *p = e->target.program;
  const char *name = program_name(p, p->functions.items[function].name);
  Val results[ARGS_MAX] = {0};
  // What an assertion calls has no line there.
  bool soft =
      (e->frame->soft && (e->frame->made || encode_is_statement(e, i))) ||
      calls_body(e, name);
  encode_call_function(e, function, soft, false, i, args,
                       c->nargs < ARGS_MAX ? c->nargs : ARGS_MAX, state,
                       results, c->nscalars < ARGS_MAX ? c->nscalars : 0);
  if (calls_body(e, name)) {
    e->dead = dead_now(e, *state);
    e->behind_body = true;
  }
  if (!encode_is_dead(e, *state))
    set_results(e, c, results, state);
}

// --- what the wrapper tells -------------------------------------------------

// Calls of functions with a contract inside others are not checked here.
static bool is_own(const Encoder *e) {
  for (const EncodeFrame *f = e->frame; f; f = f->caller)
    if (f->made && !f->root && !f->bare)
      return false;
  return e->frame->root || e->frame->soft;
}

static EncodedClause find_clause(Encoder *e, uint64_t table, uint32_t number) {
  for (size_t i = 0; i < e->clauses.len; i++)
    if (e->clauses.items[i].table == table &&
        e->clauses.items[i].number == number)
      return e->clauses.items[i];
  uint32_t i = 4 * (uint32_t)e->clauses.len;
  array_push(&e->clauses,
             (EncodedClause){table, number, ghost_clause(i),
                             ghost_clause(i + 1), ghost_clause(i + 2)});
  return array_last(&e->clauses);
}

// A broken assertion ends a process. The encoding goes on, for the bounds of
// those that do not break it; but not for ever.
static void stop_soon(Encoder *e) {
  enum { MORE = 256 };
  size_t most = 2 * e->blocks + MORE;
  if (e->mode == ENCODE_RUN && !e->stopped && most < e->max_blocks)
    e->max_blocks = most;
  e->stopped = true;
}

// What evaluating one clause assumes does not matter to the next.
static void tell_clause(Encoder *e, const Val *args, Pmap *state) {
  EncodedClause c = find_clause(e, val_in_run(&e->values, args[0]),
                                (uint32_t)val_in_run(&e->values, args[1]));
  if (e->mode == ENCODE_RUN && e->frame->root)
    while (e->nnamed < e->named.len)
      e->named.items[e->nnamed++].clause = c.number;
  Expr x = val_expr(&e->values, args[2]);
  Expr holds =
      expr_ne(e->pool, x, expr_const(e->pool, expr_width(e->pool, x), 0));
  uint32_t before;
  if (pmap_get(*state, c.cell, &before))
    holds = expr_and(e->pool, val_expr(&e->values, before), holds);
  *state = memory_store(&e->memory, *state, c.cell, val_of(&e->values, holds));
  *state = memory_store(&e->memory, *state, c.dead, dead_now(e, *state));
  *state =
      memory_store(&e->memory, *state, c.untold, val_const(&e->values, 1, 0));
  if (!e->frame->root && !expr_value(e->pool, holds))
    stop_soon(e);
  if (e->frame->root && e->dead)
    *state = memory_store(&e->memory, *state, ghost_dead(), e->dead);
}

// Does a contract consist of its function's names and place only?
static bool is_bare(const Encoder *e, uint64_t table) {
  enum { MOST = 1 << 20, NAMES = 4 };
  ContractHeader h;
  if (!e->target.read(e->target.context, table, &h, sizeof h) ||
      h.magic != CONTRACT_MAGIC || h.size > MOST)
    return false;
  char *strings = mem_alloc(h.size + (size_t)1);
  size_t n = 0;
  if (e->target.read(e->target.context, table + sizeof h, strings, h.size))
    for (size_t i = 0; i < h.size; i++)
      n += !strings[i];
  free(strings);
  return n == NAMES;
}

static bool begin_contract(Encoder *e, const Val *args, Pmap *state) {
  if (!e->frame->root) {
    e->frame->bare = is_bare(e, val_in_run(&e->values, args[0]));
    return false;
  }
  e->table = val_in_run(&e->values, args[0]);
  e->dead = dead_now(e, *state);
  e->args = val_in_run(&e->values, args[1]);
  if (e->target.nargs)
    *state = memory_fill(&e->memory, *state, e->args, e->target.args,
                         e->target.nargs);
  return true;
}

static Val is_valid(Encoder *e, const Val *args) {
  ValNode n = *val_node(&e->values, args[0]);
  Expr good = expr_bool(e->pool, false);
  for (uint32_t i = 0; i < n.n; i++) {
    Choice c = e->values.choices.items[n.first + i];
    if (c.value >= 4096 && memory_has(&e->memory, c.value, 8))
      good = expr_or(e->pool, good, c.guard);
  }
  if (!n.n) {
    Expr x = val_expr(&e->values, args[0]);
    good = expr_ne(e->pool, x, expr_const(e->pool, 64, 0));
  }
  return val_of(&e->values, expr_zext(e->pool, good, 32));
}

static bool is_asked(Encoder *e, const Val *args) {
  if (e->first->about && e->first != e)
    return false;
  return !e->asked ||
         bitset_has(e->asked, (uint32_t)val_in_run(&e->values, args[1]));
}

// Functions of the contract runtime. False: it is none.
static bool call_runtime(Encoder *e, const char *name, const IrInst *i,
                         const IrCall *c, const Val *args, Pmap *state) {
  if (!text_starts(name, "__culprit_"))
    return false;
  Val result = val_const(&e->values, 32, 1);
  if (!is_own(e) && !strcmp(name, "__culprit_mark"))
    result = val_const(&e->values, 32, 0); // of another function
  else if (encode_states(e, name, i, args, state, &result))
    ;
  else if (!strcmp(name, "__culprit_contract_begin"))
    result = val_const(&e->values, 32, begin_contract(e, args, state));
  else if (!strcmp(name, "__culprit_asks"))
    result = val_const(&e->values, 32, is_asked(e, args));
  else if (!strcmp(name, "__culprit_contract_on"))
    result = val_const(&e->values, 32, is_own(e));
  else if (!strcmp(name, "__culprit_clause") ||
           !strcmp(name, "__culprit_assert")) {
    if (is_own(e))
      tell_clause(e, args, state);
  } else if (!strcmp(name, "__culprit_valid")) {
    result = is_valid(e, args);
  }
  if (c->nscalars == 1)
    set_results(e, c, &result, state);
  return true;
}

static void do_call(Encoder *e, const IrInst *i, Pmap *state) {
  const Program *p = e->target.program;
  const IrCall *c = &p->calls.items[i->a];
  const char *name = c->symbol == IR_NONE
                         ? "a function through a pointer"
                         : program_name(p, p->symbols.items[c->symbol].name);
  uint32_t function = c->symbol == IR_NONE
                          ? pointed_function(e, c, state)
                          : p->symbols.items[c->symbol].function;
  bool ours = text_starts(name, "__culprit_");
  bool off = !ours && encode_is_off(e, i, false);
  Val args[ARGS_MAX] = {0};
  if (encode_is_dead(e, *state))
    return;
  get_args(e, i, c, off, args, state);
  if (function != IR_NONE)
    call_inside(e, function, i, c, args, state);
  else if (!call_runtime(e, name, i, c, args, state) &&
           !encode_library(e, name, i, c, args, off, state))
    lose_call(e, name, c, args, state);
}

static void do_recorded(Encoder *e, const IrInst *i, Pmap *state) {
  const Program *p = e->target.program;
  const IrCall *c = &p->calls.items[i->a];
  const Val none[ARGS_MAX] = {0};
  lose_call(e, program_name(p, p->symbols.items[c->symbol].name), c, none,
            state);
}

// --- computing --------------------------------------------------------------

static const struct {
  bool d, a, b, c;
} operands[] = {
#define IR_OP(name, d, a, b, c) {d, a, b, c},
#include "ir/ir_ops.def"
#undef IR_OP
};

// How wide the operands are.
static unsigned operand_width(const IrInst *i) {
  bool cast = (i->op >= IR_TRUNC && i->op <= IR_SEXT) ||
              (i->op >= IR_FP_OF_FP && i->op <= IR_UINT_OF_FP);
  return cast ? i->from : i->width;
}

// The address of a field: an object's and a constant.
static bool is_field_address(const IrInst *i) {
  return i->op == IR_ADD && i->width == 64 && !(i->a & IR_CONST) &&
         i->b & IR_CONST;
}

static void compute(Encoder *e, const IrInst *i, Pmap *state) {
  unsigned width = operand_width(i);
  Val a = operands[i->op].a
              ? encode_operand(e, *state, i->a, i->op == IR_SELECT ? 1 : width)
              : 0;
  Val b = operands[i->op].b ? encode_operand(e, *state, i->b, width) : 0;
  Val c = operands[i->op].c ? encode_operand(e, *state, i->c, width) : 0;
  Val v = val_apply(&e->values, i, a, b, c);
  if (!v) {
    encode_lost(e, ir_op_name(i->op));
    v = e->memory.concrete ? val_const(&e->values, i->width, 0)
                           : val_free(&e->values, i->width, 0);
  }
  if (e->mode == ENCODE_RUN && is_field_address(i))
    pointees_note_field(&e->first->pointees, val_in_run(&e->values, v));
  encode_set(e, state, i->dst, v);
}

static void step(Encoder *e, const IrInst *i, Pmap *state) {
  switch (i->op) {
  case IR_NOTHING:
    break;
  case IR_ALLOCA:
    do_alloca(e, i, state);
    break;
  case IR_LOAD:
    do_load(e, i, state);
    break;
  case IR_STORE:
    do_store(e, i, state);
    break;
  case IR_FORGET:
    do_forget(e, i, state);
    break;
  case IR_MEMCPY:
  case IR_MEMSET:
    do_memory(e, i, state);
    break;
  case IR_VA_START:
    encode_lost(e, "va_start");
    break;
  case IR_RECORDED:
    do_recorded(e, i, state);
    break;
  case IR_CALL:
    do_call(e, i, state);
    break;
  default:
    if (operands[i->op].d)
      compute(e, i, state);
  }
}

void encode_block(Encoder *e, const IrBlock *b, Pmap *state) {
  const Program *p = e->target.program;
  for (uint32_t k = 0; k < b->n && !encode_is_dead(e, *state); k++)
    step(e, &p->insts.items[b->first + k], state);
}
