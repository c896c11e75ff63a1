// The expressions of a replayed run. Each result is compared with what the run
// computed; one that differs is our bug, is counted, and replaced by the
// constant.
#include <stdlib.h>
#include <string.h>

#include "replay/replay_internal.h"

Expr replay_bits(Replay *r, IrValue v, unsigned width) {
  return ir_bits(r->pool, v, width);
}

Expr replay_compute(Replay *r, const IrInst *i, IrValue a, IrValue b, IrValue c,
                    uint64_t value) {
  r->path->stats.symbolic++;
  Expr e = ir_expr(r->pool, i, a, b, c);
  if (e && expr_value(r->pool, e) != value) {
    // What C leaves undefined, the run has decided.
    if (!(i->flags & IR_FROM_TRACE))
      r->path->stats.wrong_values++;
    e = 0;
  }
  if (e)
    return expr_is_const(r->pool, e) ? 0 : e;
  replay_fix(r, PATH_LIBC, a);
  replay_fix(r, PATH_LIBC, b);
  replay_fix(r, PATH_LIBC, c);
  replay_lost(r, ir_op_name(i->op));
  return 0;
}

// --- memory -----------------------------------------------------------------

// No value of the expression is greater. What is not seen at once is unbounded.
static uint64_t bound(const ExprPool *p, Expr e, int depth) {
  uint64_t most = expr_mask(expr_width(p, e)), a, b;
  if (depth == 0)
    return most;
  Expr x = expr_arg(p, e, 0), y = expr_arg(p, e, 1);
  switch (expr_op(p, e)) {
  case EXPR_CONST:
    return expr_value(p, e);
  case EXPR_ZEXT:
    return bound(p, x, depth - 1);
  case EXPR_AND:
    a = bound(p, x, depth - 1);
    b = bound(p, y, depth - 1);
    return a < b ? a : b;
  case EXPR_ADD:
  case EXPR_MUL:
  case EXPR_SHL:
    a = bound(p, x, depth - 1);
    b = bound(p, y, depth - 1);
    if (a > UINT32_MAX || b > UINT32_MAX ||
        (expr_op(p, e) == EXPR_SHL && b > 31))
      return most;
    a = expr_op(p, e) == EXPR_ADD   ? a + b
        : expr_op(p, e) == EXPR_MUL ? a * b
                                    : a << b;
    return a < most ? a : most;
  default:
    return most;
  }
}

// The part of an object that an address can point to.
static Object window(Replay *r, Expr at, unsigned size, const Object *o) {
  enum { DEPTH = 8, MOST = 4096 };
  ExprPool *p = r->pool;
  Expr moving = at;
  uint64_t base = 0;
  for (unsigned i = 0; expr_op(p, at) == EXPR_ADD && i < 2; i++)
    if (expr_is_const(p, expr_arg(p, at, i))) {
      base = expr_value(p, expr_arg(p, at, i));
      moving = expr_arg(p, at, 1 - i);
      break;
    }
  uint64_t range = bound(p, moving, DEPTH);
  if (base - o->at >= o->size || range > MOST * size || (base - o->at) % size)
    return *o;
  uint64_t left = o->size - (base - o->at);
  return (Object){base, range + size < left ? range + size : left};
}

enum { MOST_WORK = 1 << 28 }; // bytes of tables that can be written

// A table as it lies in memory; false: not all of it is known and constant.
static bool read_table(Replay *r, const Object *o, unsigned size, bool keep,
                       ExprTable *table) {
  for (size_t i = 0; i < r->tables.len && keep; i++) {
    const KnownTable *t = &r->tables.items[i];
    if (t->at == o->at && t->bytes == o->size && t->size == size) {
      *table = t->table;
      return t->good;
    }
  }
  if (!keep && (r->tabulated += o->size) > MOST_WORK)
    return false;
  uint32_t n = (uint32_t)(o->size / size);
  uint64_t *entries = mem_array(uint64_t, n);
  uint8_t *bytes = mem_alloc(o->size);
  KnownTable t = {o->at, o->size, size, 0, false};
  t.good = shadow_read(r->shadow, o->at, bytes, (uint64_t)n * size);
  for (uint32_t i = 0; i < n && t.good; i++)
    memcpy(&entries[i], bytes + (uint64_t)i * size, size);
  if (t.good)
    *table = t.table = expr_new_table(r->pool, 8 * size, entries, n);
  if (keep)
    array_push(&r->tables, t);
  free(bytes);
  free(entries);
  return t.good;
}

// The same for a small table that input has been put into: a choice of all
// that the index can mean. 0: it is too large, or not all of it is known.
static Expr choose(Replay *r, const Object *o, unsigned size, Expr index) {
  enum { MOST = 64 };
  ExprPool *p = r->pool;
  uint64_t n = o->size / size;
  Expr e = 0;
  if (n > MOST || (r->tabulated += o->size) > MOST_WORK)
    return 0;
  for (uint64_t k = n; k-- > 0;) {
    uint64_t at = o->at + k * size, value = 0;
    for (unsigned i = 0; i < size; i++) {
      uint8_t b;
      if (!shadow_byte(r->shadow, at + i, &b))
        return 0;
      value |= (uint64_t)b << 8 * i;
    }
    Expr entry = shadow_load(r->shadow, at, size, value);
    if (!entry)
      entry = expr_const(p, 8 * size, value);
    Expr here = expr_eq(p, index, expr_const(p, expr_width(p, index), k));
    e = e ? expr_ite(p, here, entry, e) : entry;
  }
  return e;
}

// A load from a table at a place that depends on the input, the table itself
// not: the table is the function from place to value. For a table that can be
// written it is so on this path, which decided all that was written to it.
static Expr look_up(Replay *r, const IrInst *i, IrValue at, uint64_t value,
                    const Object *object, bool read_only) {
  enum { MOST = 4096 };
  ExprPool *p = r->pool;
  unsigned size = bytes_of(i->width), shift = (unsigned)__builtin_ctz(size);
  if (size & (size - 1))
    return 0;
  Object o = window(r, at.expr, size, object);
  uint64_t n = o.size / size;
  ExprTable table;
  if (n > MOST || !n || (at.value - o.at) % size || at.value - o.at >= o.size)
    return 0;
  Expr offset = expr_sub(p, at.expr, expr_const(p, 64, o.at));
  Expr index = expr_extract(p, offset, shift, 64 - shift);
  Expr inside = expr_ult(p, index, expr_const(p, 64 - shift, n));
  Expr e = read_table(r, &o, size, read_only, &table)
               ? expr_table(p, table, index)
               : choose(r, &o, size, index);
  if (!e || expr_value(p, e) != value)
    return 0;
  replay_event(r, PATH_BOUNDS, inside, true)->subject = at.expr;
  if (shift) {
    Expr low = expr_extract(p, offset, 0, shift);
    replay_event(r, PATH_ADDRESS, expr_eq(p, low, expr_const(p, shift, 0)),
                 true);
  }
  return e;
}

static void stay_inside(Replay *r, IrValue at, unsigned size, const Object *o) {
  ExprPool *p = r->pool;
  uint64_t room = o->size >= size ? o->size - size : 0;
  Expr offset = expr_sub(p, at.expr, expr_const(p, 64, o->at));
  Expr cond = expr_ule(p, offset, expr_const(p, 64, room));
  replay_event(r, PATH_BOUNDS, cond, expr_value(p, cond))->subject = at.expr;
}

Expr replay_load(Replay *r, const IrInst *i, IrValue at, uint64_t value) {
  unsigned n = bytes_of(i->width);
  Expr e = 0;
  if (at.expr) {
    bool read_only = false;
    const Object *o = replay_object(r, at.value, &read_only);
    r->path->stats.symbolic++;
    if (o)
      e = look_up(r, i, at, value, o, read_only);
    if (!e) {
      if (o)
        stay_inside(r, at, n, o);
      replay_fix(r, PATH_ADDRESS, at);
    }
  }
  Expr stored = r->sort.count ? sort_load(r, at.value, n, value) : 0;
  if (!stored)
    stored = shadow_load(r->shadow, at.value, n, value);
  e = e ? e : stored;
  if (!e)
    return 0;
  if (i->width != 8 * n)
    e = expr_trunc(r->pool, e, i->width);
  return i->flags & IR_FP ? expr_fp_of_bits(r->pool, e) : e;
}

void replay_store(Replay *r, const IrInst *i, IrValue at, IrValue v) {
  unsigned n = bytes_of(i->width);
  if (at.expr) {
    bool read_only;
    const Object *o = replay_object(r, at.value, &read_only);
    if (o)
      stay_inside(r, at, n, o);
    replay_fix(r, PATH_ADDRESS, at);
  }
  Expr e = v.expr ? replay_bits(r, v, 8 * n) : 0;
  shadow_store(r->shadow, at.value, n, v.value, e);
}
