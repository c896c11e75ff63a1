// Calls of a replayed run: from one instrumented function to another, out to
// code that we do not have, and back from there.
#include <stdlib.h>
#include <string.h>

#include "replay/models.h"
#include "replay/replay_internal.h"
#include "util/str.h"

enum { DEEPEST = 4 << 20 }; // frames

static const char *symbol_name(const Replay *r, const IrCall *c) {
  return c->symbol == IR_NONE
             ? "*"
             : program_name(r->program,
                            r->program->symbols.items[c->symbol].name);
}

// --- entering ---------------------------------------------------------------

static void push_frame(Replay *r, uint32_t function, const IrCall *call) {
  const IrFunction *f = &r->program->functions.items[function];
  ReplayFrame frame = {.function = function,
                       .call = call,
                       .first_vararg = (uint32_t)r->varargs.len,
                       .first_object = (uint32_t)r->objects.len};
  if (r->frames.len) {
    const ReplayFrame *last = top(r);
    frame.regs = last->regs + r->program->functions.items[last->function].nregs;
  }
  size_t need = (size_t)frame.regs + f->nregs;
  if (need > UINT32_MAX / 2 || r->frames.len > DEEPEST) {
    replay_fail(r, "impossibly deep recursion");
    return;
  }
  if (need > r->regs.cap)
    array_reserve(&r->regs, need - r->regs.len);
  r->regs.len = need;
  if (r->pool) {
    if (need > r->exprs.cap)
      array_reserve(&r->exprs, need - r->exprs.len);
    r->exprs.len = need;
    memset(r->exprs.items + frame.regs, 0, f->nregs * sizeof(Expr));
  }
  memset(r->regs.items + frame.regs, 0, f->nregs * sizeof(uint64_t));
  array_push(&r->frames, frame);
}

// Structs passed by value: the callee sees a copy.
static void take_by_values(Replay *r, const IrFunction *f) {
  for (uint32_t i = 0; i < f->nby_value && !r->stopped; i++) {
    IrByValue b = r->program->by_values.items[f->first_by_value + i];
    uint64_t at = replay_take(r, 8);
    uint64_t from = get(r, b.param).value;
    if (r->shadow && !r->stopped && b.size < 1 << 28) {
      shadow_copy(r->shadow, at, from, b.size);
      array_push(&r->objects, (Object){at, b.size});
    }
    put(r, b.param, (IrValue){at, 0});
  }
}

static void begin_function(Replay *r) {
  const IrFunction *f = &r->program->functions.items[top(r)->function];
  // Messages need a place before the first instruction is executed.
  top(r)->pc = r->program->insts.items +
               r->program->blocks.items[f->first_block].first + 1;
  take_by_values(r, f);
  if (r->stopped)
    return;
  const IrBlock *b = &r->program->blocks.items[f->first_block];
  top(r)->pc = r->program->insts.items + b->first;
  if (r->options.entered)
    r->options.entered(r->options.context, f->first_block, r->frames.len);
  r->path->stats.instructions += b->n;
  r->path->stats.calls++;
  if (r->check) {
    top(r)->pc++;
    uint64_t really = replay_take(r, 4);
    if (!r->stopped && really != 0)
      replay_fail(r, "the trace enters another block");
    r->path->stats.checked += !r->stopped;
    top(r)->pc--;
  }
  if (!r->stopped &&
      r->path->stats.instructions > r->options.max_instructions) {
    top(r)->pc++;
    replay_stop(r, STOP_LIMIT);
  }
}

static void call_inside(Replay *r, const IrCall *c, uint32_t function) {
  const IrFunction *f = &r->program->functions.items[function];
  enum { FEW = 64 };
  IrValue few[FEW], *args = few;
  if (c->nargs > FEW)
    args = mem_array(IrValue, c->nargs);
  for (uint32_t i = 0; i < c->nargs; i++)
    args[i] = get(r, r->program->args.items[c->first_arg + i].operand);
  push_frame(r, function, c);
  if (!r->stopped) {
    for (uint32_t i = 0; i < c->nargs; i++)
      if (i < f->nparams)
        put(r, i, args[i]);
      else if (f->flags & IR_VARIADIC)
        array_push(&r->varargs,
                   (VarArg){args[i], r->program->args.items[c->first_arg + i]});
    top(r)->nvarargs = (uint32_t)r->varargs.len - top(r)->first_vararg;
    begin_function(r);
  }
  if (args != few)
    free(args);
}

// --- leaving ----------------------------------------------------------------

static void pop_frame(Replay *r) {
  ReplayFrame *f = top(r);
  r->varargs.len = f->first_vararg;
  r->objects.len = f->first_object;
  r->frames.len--;
}

// Code outside gets a result that depends on the input. A function that sorts
// or searches uses its sign; others may use anything.
static void tell_outside(Replay *r, IrValue v, unsigned width) {
  static const char *const comparing[] = {"qsort", "qsort_r", "bsearch",
                                          "lfind", "lsearch", "tsearch",
                                          "tfind", "tdelete", NULL};
  const IrCall *c = r->frames.len ? top(r)->waiting : NULL;
  ExprPool *p = r->pool;
  if (!c || !v.expr || !width)
    return;
  if (!text_is_one_of(symbol_name(r, c), comparing)) {
    replay_fix(r, PATH_LIBC, v);
    replay_lost(r, symbol_name(r, c));
    return;
  }
  Expr e = replay_bits(r, v, width), zero = expr_const(p, width, 0);
  int64_t value = to_signed(v.value, width);
  replay_event(r, PATH_LIBC, expr_slt(p, e, zero), value < 0);
  if (value >= 0)
    replay_event(r, PATH_LIBC, expr_eq(p, e, zero), value == 0);
}

void replay_return(Replay *r, const IrArg *values, uint32_t n) {
  enum { FEW = 16 };
  IrValue results[FEW];
  const IrCall *call = top(r)->call;
  for (uint32_t i = 0; i < n && i < FEW; i++)
    results[i] = get(r, values[i].operand);
  pop_frame(r);
  if (!call) {
    if (r->pool && n)
      tell_outside(r, results[0], values[0].width);
    replay_outside(r);
    return;
  }
  for (uint32_t i = 0; i < n && i < call->nscalars && i < FEW; i++)
    put(r, call->dst + i, results[i]);
  if (top(r)->waiting)
    replay_outside(r); // it was called through a pointer
}

// --- setjmp and longjmp -----------------------------------------------------

static bool is_setjmp(const char *name) {
  static const char *const names[] = {"setjmp", "_setjmp", "sigsetjmp",
                                      "__sigsetjmp", NULL};
  return text_is_one_of(name, names);
}

static bool is_longjmp(const char *name) {
  static const char *const names[] = {"longjmp", "_longjmp", "siglongjmp",
                                      "__longjmp_chk", NULL};
  return text_is_one_of(name, names);
}

static void remember_jump(Replay *r, const IrCall *c, uint64_t buffer) {
  Jump j = {buffer, (uint32_t)r->frames.len, top(r)->pc, c};
  for (size_t i = 0; i < r->jumps.len; i++)
    if (r->jumps.items[i].buffer == buffer) {
      r->jumps.items[i] = j;
      return;
    }
  array_push(&r->jumps, j);
}

// Back to where setjmp was called: it returns once more.
static bool jump_back(Replay *r, uint64_t buffer) {
  for (size_t i = 0; i < r->jumps.len; i++) {
    Jump j = r->jumps.items[i];
    if (j.buffer != buffer || j.depth > r->frames.len)
      continue;
    while (r->frames.len > j.depth)
      pop_frame(r);
    top(r)->pc = j.pc;
    top(r)->waiting = j.call;
    return true;
  }
  return false;
}

// --- outside ----------------------------------------------------------------

static void enter_from_outside(Replay *r) {
  uint64_t unit = replay_take(r, 4), number = replay_take(r, 4);
  if (r->stopped)
    return;
  if (unit >= r->program->units.len ||
      number >= r->program->units.items[unit].nfunctions) {
    replay_fail(r, "the trace enters an unknown function");
    return;
  }
  uint32_t function =
      r->program->units.items[unit].first_function + (uint32_t)number;
  push_frame(r, function, NULL);
  if (r->stopped)
    return;
  const IrFunction *f = &r->program->functions.items[function];
  top(r)->pc = r->program->insts.items +
               r->program->blocks.items[f->first_block].first + 1;
  for (uint32_t i = 0; i < f->nparams && !r->stopped; i++) {
    IrScalar s = r->program->scalars.items[f->first_scalar + i];
    if (s.width)
      put(r, i, (IrValue){replay_take(r, 8) & expr_mask(s.width), 0});
  }
  if (!r->stopped && r->pool && !r->started) {
    r->started = true;
    replay_found_arguments(r, r->trace->header.argc, r->trace->header.argv);
  }
  if (!r->stopped && r->pool)
    sort_called_back(r, f->nparams);
  if (!r->stopped)
    begin_function(r);
}

static void apply_written(Replay *r) {
  uint64_t at = replay_take(r, 8), n = replay_take(r, 4);
  if (r->stopped)
    return;
  if (n > r->limit - r->pos) {
    replay_fail(r, "the trace is cut off");
    return;
  }
  if (r->options.written)
    r->options.written(r->options.context, at, r->trace->stream + r->pos, n);
  if (r->shadow)
    model_written(r, at, r->trace->stream + r->pos, n);
  r->pos += n;
}

// The call is over: its results, and what a model makes of them.
static void finish_call(Replay *r) {
  ReplayFrame *f = top(r);
  const IrCall *c = f->waiting;
  f->waiting = NULL;
  ModelCall m = {.name = symbol_name(r, c), .nargs = c->nargs};
  for (uint32_t i = 0; i < c->nscalars && !r->stopped; i++) {
    IrScalar s = r->program->scalars.items[c->first_scalar + i];
    if (!s.width)
      continue;
    uint64_t v = replay_take(r, 8) & expr_mask(s.width);
    put(r, c->dst + i, (IrValue){v, 0});
    if (!i) {
      m.result = v;
      m.width = s.width;
    }
  }
  if (r->stopped || !r->pool)
    return;
  enum { FEW = 16 };
  IrValue args[FEW];
  if (m.nargs > FEW)
    m.nargs = FEW;
  for (uint32_t i = 0; i < m.nargs; i++)
    args[i] = get(r, r->program->args.items[c->first_arg + i].operand);
  m.args = args;
  m.types = r->program->args.items + c->first_arg;
  model_run(r, &m);
  if (m.expr && c->nscalars)
    put(r, c->dst, (IrValue){m.result, m.expr});
}

// An instrumented function was called through a pointer and has returned: what
// it returned is in the stream once more.
static void skip_results(Replay *r) {
  const IrCall *c = top(r)->waiting;
  top(r)->waiting = NULL;
  for (uint32_t i = 0; i < c->nscalars && !r->stopped; i++) {
    IrScalar s = r->program->scalars.items[c->first_scalar + i];
    if (!s.width)
      continue;
    uint64_t v = replay_take(r, 8) & expr_mask(s.width);
    if (!r->stopped && v != get(r, c->dst + i).value)
      replay_fail(r, "the trace has another return value");
  }
}

void replay_outside(Replay *r) {
  while (!r->stopped) {
    if (r->pos >= r->end) {
      r->limit = r->pos; // nothing was written behind a call
      replay_take(r, 1);
      return;
    }
    switch (replay_take(r, 1)) {
    case TRACE_WROTE:
      apply_written(r);
      break;
    case TRACE_ENTER:
      enter_from_outside(r);
      return;
    case TRACE_RETURN:
      if (!r->frames.len || !top(r)->waiting) {
        replay_fail(r, "a call returns that was not made");
        return;
      }
      if (top(r)->through_pointer)
        skip_results(r);
      else
        finish_call(r);
      return;
    default:
      replay_fail(r, "the trace holds something else here");
      return;
    }
  }
}

// A pointer that leads to one of our functions: it records that it was entered.
static void call_pointer(Replay *r, const IrCall *c, uint32_t function) {
  if (replay_take(r, 1) != TRACE_ENTER || r->stopped) {
    if (!r->stopped)
      replay_fail(r, "the trace has another function called through a pointer");
    return;
  }
  const IrFunction *f = &r->program->functions.items[function];
  uint32_t unit = (uint32_t)replay_take(r, 4);
  uint32_t number = (uint32_t)replay_take(r, 4);
  for (uint32_t i = 0; i < f->nparams && !r->stopped; i++)
    if (r->program->scalars.items[f->first_scalar + i].width)
      replay_take(r, 8);
  if (r->stopped)
    return;
  if (unit != f->unit ||
      r->program->units.items[unit].first_function + number != function) {
    replay_fail(r, "the trace has another function called through a pointer");
    return;
  }
  top(r)->waiting = c;
  top(r)->through_pointer = true;
  call_inside(r, c, function);
}

void replay_call(Replay *r, const IrCall *c) {
  uint32_t function = IR_NONE;
  const char *name = symbol_name(r, c);
  if (c->symbol != IR_NONE) {
    function = r->program->symbols.items[c->symbol].function;
    if (function != IR_NONE) {
      call_inside(r, c, function);
      return;
    }
  } else {
    IrValue pointer = get(r, c->pointer);
    replay_fix(r, PATH_ADDRESS, pointer);
    function = program_function_at(r->program, pointer.value);
    if (function != IR_NONE) {
      call_pointer(r, c, function);
      return;
    }
  }
  uint64_t first =
      c->nargs ? get(r, r->program->args.items[c->first_arg].operand).value : 0;
  top(r)->waiting = c;
  top(r)->through_pointer = false;
  if (r->pool)
    sort_begin(r, c, name);
  if (is_setjmp(name))
    remember_jump(r, c, first);
  else if (is_longjmp(name) && !jump_back(r, first))
    replay_fail(r, "longjmp without setjmp");
  replay_outside(r);
}

// --- others -----------------------------------------------------------------

// What the compiler decides does not depend on the value.
static bool is_decided_early(const char *name) {
  return text_starts(name, "llvm.is.constant") ||
         text_starts(name, "llvm.objectsize") ||
         text_starts(name, "llvm.threadlocal");
}

// llvm.is.fpclass: isnan, isinf, isfinite, and what is made of them. 0: some
// other mix of classes, or the value does not depend on the input.
static Expr float_class(Replay *r, const IrCall *c) {
  enum { NANS = 3, NEGATIVE_INF = 4, FINITE = 504, POSITIVE_INF = 512 };
  ExprPool *p = r->pool;
  if (!p || c->nargs < 2 ||
      !text_starts(symbol_name(r, c), "llvm.is.fpclass.f64"))
    return 0;
  IrValue v = get(r, r->program->args.items[c->first_arg].operand);
  uint64_t mask =
      get(r, r->program->args.items[c->first_arg + 1].operand).value;
  bool nans = (mask & NANS) == NANS, finite = (mask & FINITE) == FINITE;
  if (!v.expr || (!nans && mask & NANS) || (!finite && mask & FINITE) ||
      expr_sort(p, v.expr).kind != SORT_FP)
    return 0;
  Expr infinite = expr_const_double(p, __builtin_inf());
  Expr is[4] = {expr_fnan(p, v.expr), expr_feq(p, v.expr, infinite),
                expr_feq(p, v.expr, expr_fneg(p, infinite)), 0};
  is[3] = expr_not(p, expr_or(p, is[0], expr_or(p, is[1], is[2])));
  bool wanted[4] = {nans, (mask & POSITIVE_INF) != 0,
                    (mask & NEGATIVE_INF) != 0, finite};
  Expr any = expr_bool(p, false);
  for (int i = 0; i < 4; i++)
    if (wanted[i])
      any = expr_or(p, any, is[i]);
  return any;
}

void replay_recorded(Replay *r, const IrCall *c) {
  Expr class = float_class(r, c);
  if (class) {
    uint64_t v = replay_take(r, 1) & 1;
    bool right = expr_value(r->pool, class) == v;
    r->path->stats.wrong_values += !right && !r->stopped;
    put(r, c->dst,
        (IrValue){v, right && !expr_is_const(r->pool, class) ? class : 0});
    return;
  }
  bool lost = false, early = is_decided_early(symbol_name(r, c));
  for (uint32_t i = 0; i < c->nargs && r->pool && !early; i++) {
    const IrArg *a = &r->program->args.items[c->first_arg + i];
    IrValue v = get(r, a->operand);
    if (!a->width || !v.expr)
      continue;
    replay_fix(r, PATH_LIBC, v);
    lost = true;
  }
  if (lost)
    replay_lost(r, symbol_name(r, c));
  for (uint32_t i = 0; i < c->nscalars && !r->stopped; i++) {
    IrScalar s = r->program->scalars.items[c->first_scalar + i];
    unsigned n = s.width > 32 ? 8 : s.width > 16 ? 4 : s.width > 8 ? 2 : 1;
    if (s.width)
      put(r, c->dst + i, (IrValue){replay_take(r, n) & expr_mask(s.width), 0});
  }
}

// Where the variable arguments lie is the ABI's business (System V x86-64):
// integers in 6 registers' places, floats in 8, then on the stack.
void replay_va_start(Replay *r, uint64_t list) {
  enum { GP_END = 48, FP_END = 176 };
  uint64_t offsets = replay_take(r, 8), stack = replay_take(r, 8),
           saved = replay_take(r, 8);
  uint32_t gp = (uint32_t)offsets, fp = (uint32_t)(offsets >> 32);
  const ReplayFrame *f = top(r);
  if (r->stopped || !r->shadow)
    return;
  shadow_store(r->shadow, list, 8, offsets, 0);
  shadow_store(r->shadow, list + 8, 8, stack, 0);
  shadow_store(r->shadow, list + 16, 8, saved, 0);
  for (uint32_t i = 0; i < f->nvarargs; i++) {
    VarArg v = r->varargs.items[f->first_vararg + i];
    if (v.arg.by_value) {
      shadow_copy(r->shadow, stack, v.val.value, v.arg.by_value);
      stack += (v.arg.by_value + 7) & ~7u;
    } else if (!v.arg.width) {
      stack = (stack + 15) & ~15ull;
      shadow_forget(r->shadow, stack, 16);
      stack += 16;
    } else {
      uint64_t at;
      bool is_fp = v.arg.flags & IR_FP;
      if (is_fp && fp < FP_END)
        at = saved + fp, fp += 16;
      else if (!is_fp && gp < GP_END)
        at = saved + gp, gp += 8;
      else
        at = stack, stack += 8;
      unsigned n = bytes_of(v.arg.width);
      Expr e = v.val.expr ? replay_bits(r, v.val, 8 * n) : 0;
      shadow_store(r->shadow, at, n, v.val.value, e);
    }
  }
}
