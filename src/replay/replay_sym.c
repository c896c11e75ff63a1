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
      e = replay_look_up(r, i, at, value, o, read_only);
    if (!e) {
      if (o)
        stay_inside(r, at, n, o);
      replay_pin(r, at, o);
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
    replay_pin(r, at, o);
  }
  Expr e = v.expr ? replay_bits(r, v, 8 * n) : 0;
  shadow_store(r->shadow, at.value, n, v.value, e);
}
