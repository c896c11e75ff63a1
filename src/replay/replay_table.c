// Loads from tables at places that depend on the input: the table becomes a
// function from place to value (EXPR_TABLE), or a choice.
//
//   state = next[state][*p++];     // a table, looked up in what it gave before
//
// A table that is looked up in itself again and again would be an expression of
// the whole text. So a part of the place that has come out of two tables, or
// that makes the table too large, is taken as the constant it is, with a
// condition (PATH_ADDRESS), and the rest stays open: the last byte in the last
// state (ReplayOptions.split_tables).
#include <stdlib.h>
#include <string.h>

#include "expr/expr_eval.h"
#include "expr/support.h"
#include "replay/replay_internal.h"

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

enum {
  MOST_ENTRIES = 4096,
  MOST_WORK = 1 << 28
}; // bytes of tables that can be written

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

// --- parts of a place -------------------------------------------------------

enum { NESTED = 12 };

// How many tables are on the longest way down from `e`, 2 at most. What is not
// seen at once counts as none.
static unsigned tables_in(const ExprPool *p, Expr e, int depth) {
  ExprOp op = expr_op(p, e);
  unsigned most = 0;
  if (depth == 0)
    return 0;
  for (unsigned i = 0; i < expr_arity(op) && most < 2; i++) {
    unsigned n = tables_in(p, expr_arg(p, e, i), depth - 1);
    most = n > most ? n : most;
  }
  return most + (op == EXPR_TABLE) > 2 ? 2 : most + (op == EXPR_TABLE);
}

// Is it put together from parts, as places are?
static bool is_joint(const ExprPool *p, Expr e) {
  ExprOp op = expr_op(p, e);
  return op == EXPR_ADD || op == EXPR_OR || op == EXPR_CONCAT ||
         op == EXPR_ZEXT;
}

static Expr join(ExprPool *p, Expr like, Expr a, Expr b) {
  switch (expr_op(p, like)) {
  case EXPR_ADD:
    return expr_add(p, a, b);
  case EXPR_OR:
    return expr_or(p, a, b);
  case EXPR_CONCAT:
    return expr_concat(p, a, b);
  default:
    return expr_zext(p, a, expr_width(p, like));
  }
}

// What is put together to a place: table * 256 | byte, all of it added to the
// start of an array.
typedef struct {
  Replay *replay;
  bool large; // the table is
  bool parts; // the place has more than one part that depends on input
  bool fixed; // some part was
} PlaceSplit;

static bool is_far(const PlaceSplit *s, Expr part) {
  ExprPool *p = s->replay->pool;
  if (expr_is_const(p, part))
    return false;
  unsigned tables = tables_in(p, part, NESTED);
  bool wide = support_size(p, expr_support(p, part)) > 1;
  return tables > 1 || (s->parts && tables) || (s->large && wide);
}

// The place with its far parts fixed.
static Expr split(PlaceSplit *s, Expr e, int depth) {
  ExprPool *p = s->replay->pool;
  if (depth && is_joint(p, e)) {
    bool two = expr_arity(expr_op(p, e)) == 2;
    Expr a = split(s, expr_arg(p, e, 0), depth - 1);
    Expr b = two ? split(s, expr_arg(p, e, 1), depth - 1) : 0;
    return join(p, e, a, b);
  }
  if (!is_far(s, e))
    return e;
  s->fixed = true;
  replay_fix(s->replay, PATH_ADDRESS, (IrValue){expr_value(p, e), e});
  return expr_const(p, expr_width(p, e), expr_value(p, e));
}

static unsigned count_parts(const ExprPool *p, Expr e, int depth) {
  if (expr_is_const(p, e))
    return 0;
  if (!depth || !is_joint(p, e))
    return 1;
  unsigned n = 0;
  for (unsigned i = 0; i < expr_arity(expr_op(p, e)); i++)
    n += count_parts(p, expr_arg(p, e, i), depth - 1);
  return n;
}

// Those behind two tables, and of a table that is too large all that depend on
// more than one byte or on a table.
static IrValue split_place(Replay *r, IrValue at, unsigned size,
                           const Object *o) {
  enum { DEPTH = 6 };
  ExprPool *p = r->pool;
  PlaceSplit s = {.replay = r,
                  .large =
                      window(r, at.expr, size, o).size / size > MOST_ENTRIES,
                  .parts = count_parts(p, at.expr, DEPTH) > 1};
  if (!s.large && tables_in(p, at.expr, NESTED) < 2)
    return at;
  Expr e = split(&s, at.expr, DEPTH);
  return s.fixed ? (IrValue){at.value, expr_is_const(p, e) ? 0 : e} : at;
}

// --- places that one byte decides -------------------------------------------

// The bytes at `at` as a number; false: they are not known, or not constant.
static bool read_entry(Replay *r, uint64_t at, unsigned size, uint64_t *value) {
  uint8_t bytes[8] = {0};
  *value = 0;
  if (!shadow_read(r->shadow, at, bytes, size))
    return false;
  memcpy(value, bytes, size);
  return true;
}

// The byte of the input that is all the place depends on.
static bool find_byte(Replay *r, Expr at, VarId *byte) {
  ExprPool *p = r->pool;
  Support s = expr_support(p, at);
  VarList vars = {0};
  if (support_size(p, s) != 1)
    return false;
  support_members(p, s, &vars);
  *byte = vars.items[0];
  array_release(&vars);
  return expr_var_sort(p, *byte).kind == SORT_BV &&
         expr_var_sort(p, *byte).width == 8;
}

// What is loaded as a function of the byte, wherever in the object that leads;
// where it leads out of it, or to something unknown, it does not lead.
static Expr look_up_byte(Replay *r, IrValue at, unsigned size, uint64_t value,
                         const Object *o) {
  ExprPool *p = r->pool;
  VarId byte;
  uint64_t entries[256] = {0}, inside[256] = {0}, known[256] = {0}, to;
  if (!find_byte(r, at.expr, &byte) || (r->tabulated += 256) > MOST_WORK)
    return 0;
  ExprEval eval = {.pool = p};
  for (unsigned v = 0; v < 256; v++) {
    expr_eval_clear(&eval);
    expr_eval_set(&eval, byte, v);
    if (!expr_eval(&eval, at.expr, &to))
      continue;
    inside[v] = o->size >= size && to - o->at <= o->size - size;
    known[v] = !inside[v] || read_entry(r, to, size, &entries[v]);
  }
  expr_eval_release(&eval);
  Expr in = expr_input(p, byte);
  Expr e = expr_table(p, expr_new_table(p, 8 * size, entries, 256), in);
  Expr stays = expr_table(p, expr_new_table(p, 1, inside, 256), in);
  Expr is_known = expr_table(p, expr_new_table(p, 1, known, 256), in);
  if (expr_value(p, e) != value || !expr_value(p, stays) ||
      !expr_value(p, is_known))
    return 0;
  replay_event(r, PATH_BOUNDS, stays, true)->subject = at.expr;
  // To be negated like a condition: it leads to what this run did not show.
  replay_event(r, PATH_LIBC, is_known, true);
  return e;
}

// --- the load ---------------------------------------------------------------

// A load from a table at a place that depends on the input, the table itself
// not: the table is the function from place to value. For a table that can be
// written it is so on this path, which decided all that was written to it.
static Expr look_up_index(Replay *r, unsigned size, IrValue at, uint64_t value,
                          const Object *object, bool read_only) {
  ExprPool *p = r->pool;
  unsigned shift = (unsigned)__builtin_ctz(size);
  Object o = window(r, at.expr, size, object);
  uint64_t n = o.size / size;
  ExprTable table;
  if (n > MOST_ENTRIES || !n || (at.value - o.at) % size ||
      at.value - o.at >= o.size)
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

Expr replay_look_up(Replay *r, const IrInst *i, IrValue at, uint64_t value,
                    const Object *object, bool read_only) {
  unsigned size = bytes_of(i->width);
  bool splits = r->options.split_tables;
  if (size & (size - 1))
    return 0;
  if (splits)
    at = split_place(r, at, size, object);
  if (!at.expr)
    return 0;
  Expr e = look_up_index(r, size, at, value, object, read_only);
  return e || !splits ? e : look_up_byte(r, at, size, value, object);
}
