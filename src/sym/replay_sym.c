// The expressions of a replayed run: one function per family of opcodes. Each
// result is compared with what the run computed; one that differs is our bug,
// is counted, and replaced by the constant.
#include <stdlib.h>
#include <string.h>

#include "sym/replay_internal.h"

// --- operands ---------------------------------------------------------------

Expr replay_bits(Replay *r, Val v, unsigned width) {
  ExprPool *p = r->pool;
  if (!v.expr)
    return expr_const(p, width, v.value);
  Expr e = v.expr;
  if (expr_sort(p, e).kind == SORT_FP)
    e = expr_bits_of_fp(p, e);
  unsigned have = expr_width(p, e);
  return have < width   ? expr_zext(p, e, width)
         : have > width ? expr_trunc(p, e, width)
                        : e;
}

static Expr as_float(Replay *r, Val v, unsigned width) {
  if (!v.expr)
    return expr_const_fp(r->pool, width, v.value);
  if (expr_sort(r->pool, v.expr).kind == SORT_FP)
    return v.expr;
  return expr_fp_of_bits(r->pool, replay_bits(r, v, width));
}

// --- operations -------------------------------------------------------------

static Expr compute_integer(ExprPool *p, IrOp op, Expr a, Expr b) {
  switch (op) {
  case IR_ADD:
    return expr_add(p, a, b);
  case IR_SUB:
    return expr_sub(p, a, b);
  case IR_MUL:
    return expr_mul(p, a, b);
  case IR_UDIV:
    return expr_udiv(p, a, b);
  case IR_SDIV:
    return expr_sdiv(p, a, b);
  case IR_UREM:
    return expr_urem(p, a, b);
  case IR_SREM:
    return expr_srem(p, a, b);
  case IR_SHL:
    return expr_shl(p, a, b);
  case IR_LSHR:
    return expr_lshr(p, a, b);
  case IR_ASHR:
    return expr_ashr(p, a, b);
  case IR_AND:
    return expr_and(p, a, b);
  case IR_OR:
    return expr_or(p, a, b);
  case IR_XOR:
    return expr_xor(p, a, b);
  case IR_EQ:
    return expr_eq(p, a, b);
  case IR_NE:
    return expr_ne(p, a, b);
  case IR_ULT:
    return expr_ult(p, a, b);
  case IR_ULE:
    return expr_ule(p, a, b);
  case IR_SLT:
    return expr_slt(p, a, b);
  case IR_SLE:
    return expr_sle(p, a, b);
  case IR_UMIN:
    return expr_ite(p, expr_ult(p, a, b), a, b);
  case IR_UMAX:
    return expr_ite(p, expr_ult(p, a, b), b, a);
  case IR_SMIN:
    return expr_ite(p, expr_slt(p, a, b), a, b);
  case IR_SMAX:
    return expr_ite(p, expr_slt(p, a, b), b, a);
  default:
    return 0;
  }
}

// Twice as wide the result always fits; not for more than 32 bits.
static Expr compute_overflow(ExprPool *p, IrOp op, Expr a, Expr b) {
  unsigned w = expr_width(p, a);
  Expr zero = expr_const(p, w, 0), sum, diff;
  switch (op) {
  case IR_UADD_OVER:
    return expr_ult(p, expr_add(p, a, b), a);
  case IR_USUB_OVER:
    return expr_ult(p, a, b);
  case IR_SADD_OVER: // both signs differ from that of the sum
    sum = expr_add(p, a, b);
    return expr_slt(p, expr_and(p, expr_xor(p, a, sum), expr_xor(p, b, sum)),
                    zero);
  case IR_SSUB_OVER:
    diff = expr_sub(p, a, b);
    return expr_slt(p, expr_and(p, expr_xor(p, a, b), expr_xor(p, a, diff)),
                    zero);
  default:
    break;
  }
  if (w > 32)
    return 0;
  bool is_signed = op == IR_SMUL_OVER;
  Expr (*widen)(ExprPool *, Expr, unsigned) = is_signed ? expr_sext : expr_zext;
  Expr wide = expr_mul(p, widen(p, a, 2 * w), widen(p, b, 2 * w));
  return expr_ne(p, wide, widen(p, expr_trunc(p, wide, w), 2 * w));
}

static Expr swap_bytes(ExprPool *p, Expr a) {
  unsigned n = expr_width(p, a) / 8;
  Expr e = expr_byte(p, a, 0);
  for (unsigned i = 1; i < n; i++)
    e = expr_concat(p, e, expr_byte(p, a, i));
  return e;
}

static Expr compare_float(ExprPool *p, unsigned predicate, Expr a, Expr b) {
  Expr e = expr_bool(p, false);
  if (predicate & FCMP_EQ)
    e = expr_or(p, e, expr_feq(p, a, b));
  if (predicate & FCMP_LT)
    e = expr_or(p, e, expr_flt(p, a, b));
  if (predicate & FCMP_GT)
    e = expr_or(p, e, expr_flt(p, b, a));
  if (predicate & FCMP_UNORDERED)
    e = expr_or(p, e, expr_or(p, expr_fnan(p, a), expr_fnan(p, b)));
  return e;
}

static Expr compute_float(Replay *r, const IrInst *i, Val a, Val b, Val c) {
  ExprPool *p = r->pool;
  unsigned w = i->width;
  Expr x = as_float(r, a, w);
  switch (i->op) {
  case IR_FNEG:
    return expr_fneg(p, x);
  case IR_FABS:
    return expr_fabs(p, x);
  case IR_FSQRT:
    return expr_fsqrt(p, x);
  case IR_FROUND:
    return expr_fround(p, x, (ExprRounding)i->from);
  default:
    break;
  }
  Expr y = as_float(r, b, w);
  switch (i->op) {
  case IR_FADD:
    return expr_fadd(p, x, y);
  case IR_FSUB:
    return expr_fsub(p, x, y);
  case IR_FMUL:
    return expr_fmul(p, x, y);
  case IR_FDIV:
    return expr_fdiv(p, x, y);
  case IR_FREM:
    return expr_frem(p, x, y);
  case IR_FCMP:
    return compare_float(p, i->from, x, y);
  default:
    return expr_fadd(p, expr_fmul(p, x, y), as_float(r, c, w));
  }
}

static Expr convert(Replay *r, const IrInst *i, Val a) {
  ExprPool *p = r->pool;
  switch (i->op) {
  case IR_TRUNC:
    return expr_trunc(p, replay_bits(r, a, i->from), i->width);
  case IR_ZEXT:
    return expr_zext(p, replay_bits(r, a, i->from), i->width);
  case IR_SEXT:
    return expr_sext(p, replay_bits(r, a, i->from), i->width);
  case IR_ABS: {
    Expr e = replay_bits(r, a, i->width);
    Expr zero = expr_const(p, i->width, 0);
    return expr_ite(p, expr_slt(p, e, zero), expr_neg(p, e), e);
  }
  case IR_BSWAP:
    return swap_bytes(p, replay_bits(r, a, i->width));
  case IR_FP_OF_FP:
    return expr_fp_of_fp(p, as_float(r, a, i->from), i->width);
  case IR_FP_OF_SINT:
    return expr_fp_of_sint(p, replay_bits(r, a, i->from), i->width);
  case IR_FP_OF_UINT:
    return expr_fp_of_uint(p, replay_bits(r, a, i->from), i->width);
  case IR_SINT_OF_FP:
    return expr_sint_of_fp(p, as_float(r, a, i->from), i->width);
  case IR_UINT_OF_FP:
    return expr_uint_of_fp(p, as_float(r, a, i->from), i->width);
  case IR_FP_OF_BITS:
    return as_float(r, a, i->width);
  default: // IR_BITS_OF_FP
    return replay_bits(r, a, i->width);
  }
}

static Expr choose(Replay *r, const IrInst *i, Val a, Val b, Val c) {
  if (!a.expr)
    return a.value & 1 ? b.expr : c.expr;
  bool fp = i->flags & IR_FP;
  Expr x = fp ? as_float(r, b, i->width) : replay_bits(r, b, i->width);
  Expr y = fp ? as_float(r, c, i->width) : replay_bits(r, c, i->width);
  return expr_ite(r->pool, replay_bits(r, a, 1), x, y);
}

static Expr build(Replay *r, const IrInst *i, Val a, Val b, Val c) {
  if (i->op == IR_MOVE)
    return a.expr;
  if (i->op == IR_SELECT)
    return choose(r, i, a, b, c);
  if (i->op >= IR_FADD && i->op <= IR_FCMP)
    return compute_float(r, i, a, b, c);
  if ((i->op >= IR_FP_OF_FP && i->op <= IR_FP_OF_BITS) ||
      (i->op >= IR_TRUNC && i->op <= IR_ABS) || i->op == IR_BSWAP)
    return convert(r, i, a);
  Expr x = replay_bits(r, a, i->width), y = replay_bits(r, b, i->width);
  if (i->op >= IR_UADD_OVER && i->op <= IR_SMUL_OVER)
    return compute_overflow(r->pool, i->op, x, y);
  return compute_integer(r->pool, i->op, x, y);
}

Expr replay_compute(Replay *r, const IrInst *i, Val a, Val b, Val c,
                    uint64_t value) {
  r->path->stats.symbolic++;
  Expr e = build(r, i, a, b, c);
  if (e && expr_value(r->pool, e) != value) {
    // What C leaves undefined, the run has decided.
    if (!(i->flags & IR_FROM_TRACE))
      r->path->stats.wrong_values++;
    e = 0;
  }
  if (e)
    return expr_is_const(r->pool, e) ? 0 : e;
  replay_fix(r, PATH_LIBC, a, i->width);
  replay_fix(r, PATH_LIBC, b, i->width);
  replay_fix(r, PATH_LIBC, c, i->width);
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

// A load from a table at a place that depends on the input, the table itself
// not: the table is the function from place to value. For a table that can be
// written it is so on this path, which decided all that was written to it.
static Expr look_up(Replay *r, const IrInst *i, Val at, uint64_t value,
                    const Object *object, bool read_only) {
  enum { MOST = 4096 };
  ExprPool *p = r->pool;
  unsigned size = bytes_of(i->width), shift = (unsigned)__builtin_ctz(size);
  if (size & (size - 1))
    return 0;
  Object o = window(r, at.expr, size, object);
  uint64_t n = o.size / size;
  ExprTable table;
  if (n > MOST || !n || (at.value - o.at) % size || at.value - o.at >= o.size ||
      !read_table(r, &o, size, read_only, &table))
    return 0;
  Expr offset = expr_sub(p, at.expr, expr_const(p, 64, o.at));
  Expr index = expr_extract(p, offset, shift, 64 - shift);
  Expr inside = expr_ult(p, index, expr_const(p, 64 - shift, n));
  Expr e = expr_table(p, table, index);
  if (expr_value(p, e) != value)
    return 0;
  replay_event(r, PATH_BOUNDS, inside, true)->subject = at.expr;
  if (shift) {
    Expr low = expr_extract(p, offset, 0, shift);
    replay_event(r, PATH_ADDRESS, expr_eq(p, low, expr_const(p, shift, 0)),
                 true);
  }
  return e;
}

static void stay_inside(Replay *r, Val at, unsigned size, const Object *o) {
  ExprPool *p = r->pool;
  uint64_t room = o->size >= size ? o->size - size : 0;
  Expr offset = expr_sub(p, at.expr, expr_const(p, 64, o->at));
  Expr cond = expr_ule(p, offset, expr_const(p, 64, room));
  replay_event(r, PATH_BOUNDS, cond, expr_value(p, cond))->subject = at.expr;
}

Expr replay_load(Replay *r, const IrInst *i, Val at, uint64_t value) {
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
      replay_fix(r, PATH_ADDRESS, at, 64);
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

void replay_store(Replay *r, const IrInst *i, Val at, Val v) {
  unsigned n = bytes_of(i->width);
  if (at.expr) {
    bool read_only;
    const Object *o = replay_object(r, at.value, &read_only);
    if (o)
      stay_inside(r, at, n, o);
    replay_fix(r, PATH_ADDRESS, at, 64);
  }
  Expr e = v.expr ? replay_bits(r, v, 8 * n) : 0;
  shadow_store(r->shadow, at.value, n, v.value, e);
}
