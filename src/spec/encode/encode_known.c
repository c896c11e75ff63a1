// What is known at the current place: the statement of an instruction, whether
// it is off, and the conditions that hold there. See encode.h.
#include <stdlib.h>
#include <string.h>

#include "spec/encode/encode_internal.h"

enum {
  FACTS_MAX = 64, // looked back at
  FACT_DEPTH = 4, // conjunctions taken apart
  SEEN_MAX = 256,
};

// --- statements -------------------------------------------------------------

uint32_t encode_statement(Encoder *e, const IrInst *i) {
  const Program *p = e->target.program;
  IrPlace place = p->places.items[i->place];
  uint64_t fresh = e->first->statements.len;
  const char *file = program_name(p, p->sources.items[place.source]);
  size_t n = strlen(file);
  char *key = mem_alloc(n + sizeof place.line);
  memcpy(key, file, n);
  memcpy(key + n, &place.line, sizeof place.line);
  uint64_t s = hashmap_intern(&e->first->statement_index, key,
                              n + sizeof place.line, fresh);
  free(key);
  if (s == fresh)
    array_push(&e->first->statements,
               (Statement){.file = file, .line = place.line});
  return (uint32_t)s;
}

typedef ARRAY(uint32_t) ReachedList; // functions

// Assigns, decides, calls or returns something?
static bool can_be_off(const Program *p, const IrInst *i) {
  switch (i->op) {
  case IR_STORE:
  case IR_MEMCPY:
  case IR_MEMSET:
  case IR_CALL:
  case IR_RET:
    return true;
  case IR_CONDBR:
  case IR_SWITCH:
    return p->branches.items[i->b].nedges > 1;
  default:
    return false;
  }
}

bool encode_is_statement(const Encoder *e, const IrInst *i) {
  return e->frame->soft && !e->frame->made && i->flags & IR_STATEMENT &&
         i->place && e->target.program->places.items[i->place].line;
}

bool encode_is_off(Encoder *e, const IrInst *i, bool branch) {
  if (!encode_is_statement(e, i))
    return false;
  uint32_t number = encode_statement(e, i);
  Statement *s = &e->first->statements.items[number];
  s->assigns |= !branch;
  s->branches |= branch;
  if (e->mode == ENCODE_RUN) {
    s->ran = true;
    s->order = ++e->steps;
  }
  e->executed = number;
  return (e->mode == ENCODE_OFF || e->mode == ENCODE_TRY) &&
         !bitset_has(e->on, number);
}

// All statements of a function; those it calls go to `todo`.
static void list_function(Encoder *e, uint32_t function, ReachedList *todo) {
  const Program *p = e->target.program;
  const IrFunction *f = &p->functions.items[function];
  for (uint32_t b = 0; b < f->nblocks; b++) {
    const IrBlock *block = &p->blocks.items[f->first_block + b];
    for (uint32_t k = 0; k < block->n; k++) {
      const IrInst *i = &p->insts.items[block->first + k];
      if (i->flags & IR_STATEMENT && i->place &&
          p->places.items[i->place].line && can_be_off(p, i))
        encode_statement(e, i);
      if (i->op == IR_CALL && p->calls.items[i->a].symbol != IR_NONE)
        array_push(todo,
                   p->symbols.items[p->calls.items[i->a].symbol].function);
    }
  }
}

static uint32_t find_body(const Encoder *e) {
  const Program *p = e->target.program;
  const char *name =
      program_name(p, p->functions.items[e->target.wrapper].name);
  uint64_t body;
  return hashmap_get(&e->wrappers, name, strlen(name), &body) ? (uint32_t)body
                                                              : IR_NONE;
}

void encoder_list_statements(Encoder *e) {
  ReachedList todo = {0};
  Bitset seen = {0};
  array_push(&todo, find_body(e));
  while (todo.len) {
    uint32_t function = todo.items[--todo.len];
    if (function == IR_NONE || bitset_has(&seen, function))
      continue;
    bitset_add(&seen, function);
    list_function(e, function, &todo);
  }
  bitset_release(&seen);
  array_release(&todo);
}

// --- what is written and named ----------------------------------------------

typedef struct {
  uint64_t statement, address;
} WriteKey;

void encode_note_write(Encoder *e, uint64_t address) {
  WriteKey key = {e->executed, address};
  hashmap_put(&e->writes, &key, sizeof key, 1);
}

// Is a clause of the call being evaluated, or a function that one calls?
static bool in_clause(const Encoder *e) {
  const EncodeFrame *f = e->frame;
  while (f && !f->root)
    f = f->caller;
  return f && e->behind_body;
}

void encode_note_named(Encoder *e, uint64_t address) {
  bool variable = address >= VARIABLE_BASE && address < HEAP_BASE;
  if (e->mode == ENCODE_RUN && !variable && in_clause(e))
    array_push(&e->named, (NamedCell){UINT32_MAX, address});
}

static bool sets(const Encoder *e, uint64_t address, const uint32_t *list,
                 size_t n) {
  for (size_t i = 0; i < n; i++) {
    WriteKey key = {list[i], address};
    uint64_t found;
    if (hashmap_get(&e->writes, &key, sizeof key, &found))
      return true;
  }
  return false;
}

bool encoder_sets_none(const Encoder *e, uint32_t clause, const uint32_t *list,
                       size_t n) {
  bool names = false;
  for (size_t i = 0; i < e->nnamed; i++) {
    const NamedCell *c = &e->named.items[i];
    if (c->clause != clause)
      continue;
    names = true;
    if (sets(e, c->address, list, n))
      return false;
  }
  return names;
}

// --- trying -----------------------------------------------------------------

uint64_t encode_random(Encoder *e, uint64_t below) {
  uint64_t x = dice_next(&e->dice.random);
  return below ? x % below : 0;
}

bool encode_deviates(Encoder *e) {
  Dice *d = &e->dice;
  bool often = e->executed == d->often;
  d->executed += often;
  if (often && d->only)
    return d->executed == d->only;
  uint32_t one_in = often ? d->rarely : d->others;
  return one_in && encode_random(e, one_in) == 0;
}

void encode_note_seen(Encoder *e, uint64_t value) {
  uint64_t fresh = e->seen.len;
  if (fresh < SEEN_MAX &&
      hashmap_intern(&e->seen_index, &value, sizeof value, fresh) == fresh)
    array_push(&e->seen, value);
}

uint64_t encode_other(Encoder *e, uint64_t now) {
  const Encoder *first = e->first;
  uint64_t how = encode_random(e, 4), small = encode_random(e, 16);
  if (how == 0 || !first->seen.len)
    return small;
  if (how == 1)
    return now + (small & 1 ? 1 : ~0ull);
  uint64_t seen = first->seen.items[encode_random(e, first->seen.len)];
  return how == 2 ? seen : seen + (small & 1 ? 1 : ~0ull);
}

// --- facts ------------------------------------------------------------------

const Fact *encode_add_fact(Encoder *e, const Fact *before, Expr cond,
                            bool value) {
  if (expr_is_const(e->pool, cond))
    return before;
  Fact *f = arena_new(&e->arena, Fact);
  *f = (Fact){cond, value, before};
  return f;
}

static void know(Encoder *e, Expr cond, bool value, int depth) {
  if (expr_map_get(&e->facts, cond))
    return;
  expr_map_put(&e->facts, cond, value);
  Expr opposite = expr_not(e->pool, cond);
  expr_map_put(&e->facts, opposite, !value);
  for (int side = 0; side < 2 && depth; side++) {
    Expr c = side ? opposite : cond;
    bool v = side ? !value : value;
    if ((expr_op(e->pool, c) == EXPR_AND && v) ||
        (expr_op(e->pool, c) == EXPR_OR && !v)) {
      know(e, expr_arg(e->pool, c, 0), v, depth - 1);
      know(e, expr_arg(e->pool, c, 1), v, depth - 1);
    }
  }
}

void encode_load_facts(Encoder *e, const Fact *f) {
  expr_map_clear(&e->facts);
  for (int i = 0; f && i < FACTS_MAX; i++, f = f->before)
    know(e, f->cond, f->value, FACT_DEPTH);
}

static Expr simplify(const Encoder *e, Expr cond, int depth) {
  const uint64_t *known = expr_map_get(&e->facts, cond);
  if (known)
    return expr_bool(e->pool, *known);
  ExprOp op = expr_op(e->pool, cond);
  if (!depth || (op != EXPR_AND && op != EXPR_OR) ||
      expr_width(e->pool, cond) != 1)
    return cond;
  Expr a = simplify(e, expr_arg(e->pool, cond, 0), depth - 1);
  Expr b = simplify(e, expr_arg(e->pool, cond, 1), depth - 1);
  return op == EXPR_AND ? expr_and(e->pool, a, b) : expr_or(e->pool, a, b);
}

Expr encode_simplify(const Encoder *e, Expr cond) {
  return e->facts.len ? simplify(e, cond, FACT_DEPTH) : cond;
}
