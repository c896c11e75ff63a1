// What is known where one is: the statement an instruction belongs to, with its
// selector, and the conditions that hold there. See encode.h.
#include <stdlib.h>
#include <string.h>

#include "spec/encode_internal.h"

enum {
  FACTS_MAX = 64, // looked back at
  FACT_DEPTH = 4, // conjunctions taken apart
};

// --- statements -------------------------------------------------------------

uint32_t encode_statement(Encoder *e, const IrInst *i) {
  const Program *p = e->target.program;
  IrPlace place = p->places.items[i->place];
  uint64_t fresh = e->statements.len;
  const char *file = program_name(p, p->sources.items[place.source]);
  size_t n = strlen(file);
  char *key = mem_alloc(n + sizeof place.line);
  memcpy(key, file, n);
  memcpy(key + n, &place.line, sizeof place.line);
  uint64_t s =
      hashmap_intern(&e->statement_index, key, n + sizeof place.line, fresh);
  free(key);
  if (s == fresh)
    array_push(&e->statements, (Statement){.file = file, .line = place.line});
  return (uint32_t)s;
}

bool encode_is_statement(const Encoder *e, const IrInst *i) {
  return e->frame->soft && !e->frame->made && i->flags & IR_STATEMENT &&
         i->place && e->target.program->places.items[i->place].line;
}

Expr encode_on(Encoder *e, const IrInst *i, bool branch) {
  if (!encode_is_statement(e, i))
    return 0;
  uint32_t number = encode_statement(e, i);
  Statement *s = &e->statements.items[number];
  s->assigns |= !branch;
  s->branches |= branch;
  if (e->mode == ENCODE_RUN && !s->ran) {
    s->ran = true;
    s->order = ++e->steps;
  }
  if (e->mode != ENCODE_ALL)
    return 0;
  if (!s->on) {
    char *name = mem_printf("on:%s:%u", s->file, s->line);
    VarId var = expr_new_var(e->pool, name, expr_bv(1), 1);
    s->on = expr_input(e->pool, var);
    free(name);
  }
  return s->on;
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
