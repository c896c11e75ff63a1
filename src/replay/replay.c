// Runs the lowered code of a program along a trace: see replay.h.
//
// Every value is computed from the values before it; loads, allocas and results
// of code outside are read from the trace. With a checking trace every block is
// compared with what really ran.
#include "replay/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay_internal.h"

enum { DEFAULT_MAX = 500 * 1000 * 1000 };

// --- ends -------------------------------------------------------------------

uint32_t replay_place(Replay *r) {
  if (!r->frames.len)
    return IR_NONE;
  return top(r)->pc[-1].place;
}

void replay_fail(Replay *r, const char *why) {
  if (r->stopped)
    return;
  r->stopped = r->failed = true;
  uint32_t line = 0;
  const char *file = "";
  if (r->frames.len)
    file = program_place(r->program, replay_place(r), &line);
  err_set(r->err,
          "%s: trace and program do not fit: %s, at byte %zu of the stream, "
          "%s:%u; record the run again (signal handlers that interrupt the "
          "program cannot be replayed)",
          r->trace->path, why, r->pos, file, line);
}

void replay_stop(Replay *r, StopKind kind) {
  if (r->stopped)
    return;
  r->stopped = true;
  r->path->stop = kind;
  r->path->signal = r->trace->header.signal;
  r->path->stop_place = r->path->stop_function = IR_NONE;
  if (!r->frames.len)
    return;
  r->path->stop_place = replay_place(r);
  r->path->stop_function = top(r)->function;
  const IrCall *c = top(r)->waiting;
  if (c && c->symbol != IR_NONE)
    r->path->stop_callee =
        program_name(r->program, r->program->symbols.items[c->symbol].name);
}

// What the end of the stream means.
static void stop_at_end(Replay *r) {
  const TraceHeader *h = &r->trace->header;
  bool waiting = r->frames.len && top(r)->waiting;
  if (!r->frames.len && h->state == TRACE_ENDED)
    replay_stop(r, STOP_END);
  else if (h->state == TRACE_FULL)
    replay_stop(r, STOP_CUT);
  else if (waiting)
    replay_stop(r, STOP_CALL);
  else
    replay_stop(r, h->state == TRACE_DIED ? STOP_CRASH : STOP_CUT);
}

uint64_t replay_take(Replay *r, unsigned n) {
  uint64_t v = 0;
  if (UNLIKELY(r->limit - r->pos < n)) {
    stop_at_end(r);
    return 0;
  }
  memcpy(&v, r->trace->stream + r->pos, n);
  r->pos += n;
  return v;
}

static unsigned stream_bytes(unsigned width) {
  return width > 32 ? 8 : width > 16 ? 4 : width > 8 ? 2 : 1;
}

// The stream is used up: is this access the one that the process died of?
static bool is_fatal(Replay *r, uint64_t at, uint64_t n) {
  const TraceHeader *h = &r->trace->header;
  if (h->state != TRACE_DIED || h->was_outside)
    return false;
  // An address that is none at all is reported as 0.
  bool wild = h->fault == 0 && at + 0x800000000000 >= 0x1000000000000;
  if (h->fault - at >= n && !wild)
    return false;
  replay_stop(r, STOP_CRASH);
  return true;
}

// --- values -----------------------------------------------------------------

static double as_double(uint64_t v, unsigned width) {
  double d;
  float f;
  if (width == 32) {
    memcpy(&f, &v, sizeof f);
    return f;
  }
  memcpy(&d, &v, sizeof d);
  return d;
}

static uint64_t of_double(double d, unsigned width) {
  uint64_t v = 0;
  float f = (float)d;
  if (width == 32)
    memcpy(&v, &f, sizeof f);
  else
    memcpy(&v, &d, sizeof d);
  return v;
}

static float as_float(uint64_t v) {
  float f;
  memcpy(&f, &v, sizeof f);
  return f;
}

// In the precision of the type: a float's sum is not a double's, rounded.
static uint64_t compute_float(const IrInst *i, uint64_t a, uint64_t b) {
  if (i->width == 32) {
    float x = as_float(a), y = as_float(b);
    float v = i->op == IR_FADD   ? x + y
              : i->op == IR_FSUB ? x - y
              : i->op == IR_FMUL ? x * y
                                 : x / y;
    uint64_t out = 0;
    memcpy(&out, &v, sizeof v);
    return out;
  }
  double x = as_double(a, 64), y = as_double(b, 64);
  return of_double(i->op == IR_FADD   ? x + y
                   : i->op == IR_FSUB ? x - y
                   : i->op == IR_FMUL ? x * y
                                      : x / y,
                   64);
}

static bool compare_float(const IrInst *i, uint64_t a, uint64_t b) {
  double x = as_double(a, i->width), y = as_double(b, i->width);
  unsigned is = isnan(x) || isnan(y) ? FCMP_UNORDERED
                : x < y              ? FCMP_LT
                : x > y              ? FCMP_GT
                                     : FCMP_EQ;
  return (i->from & is) != 0;
}

static uint64_t compute_overflow(const IrInst *i, uint64_t a, uint64_t b) {
  unsigned w = i->width;
  __int128 x = to_signed(a, w), y = to_signed(b, w), s;
  unsigned __int128 u;
  switch (i->op) {
  case IR_UADD_OVER:
    u = (unsigned __int128)a + b;
    return u >> w != 0;
  case IR_USUB_OVER:
    return a < b;
  case IR_UMUL_OVER:
    u = (unsigned __int128)a * b;
    return u >> w != 0;
  case IR_SADD_OVER:
    s = x + y;
    break;
  case IR_SSUB_OVER:
    s = x - y;
    break;
  default:
    s = x * y;
  }
  return s != to_signed((uint64_t)s & expr_mask(w), w);
}

static uint64_t swap_bytes(uint64_t v, unsigned width) {
  return __builtin_bswap64(v) >> (64 - width);
}

// Division by zero has stopped the replay before.
static uint64_t divide(const IrInst *i, uint64_t a, uint64_t b) {
  int64_t x = to_signed(a, i->width), y = to_signed(b, i->width);
  switch (i->op) {
  case IR_UDIV:
    return a / b;
  case IR_UREM:
    return a % b;
  case IR_SDIV:
    return y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y);
  default:
    return y == -1 ? 0 : (uint64_t)(x % y);
  }
}

// The less frequent operations.
static uint64_t compute_rest(const IrInst *i, uint64_t a, uint64_t b,
                             uint64_t c) {
  unsigned w = i->width;
  int64_t x = to_signed(a, w), y = to_signed(b, w);
  switch (i->op) {
  case IR_ABS:
    return x < 0 ? 0 - a : a;
  case IR_UMIN:
    return a < b ? a : b;
  case IR_UMAX:
    return a > b ? a : b;
  case IR_SMIN:
    return x < y ? a : b;
  case IR_SMAX:
    return x > y ? a : b;
  case IR_BSWAP:
    return swap_bytes(a, w);
  case IR_FADD:
  case IR_FSUB:
  case IR_FMUL:
  case IR_FDIV:
    return compute_float(i, a, b);
  case IR_FREM:
    return of_double(fmod(as_double(a, w), as_double(b, w)), w);
  case IR_FNEG:
    return a ^ 1ull << (w - 1);
  case IR_FABS:
    return a & ~(1ull << (w - 1));
  case IR_FMULADD:
    return of_double(as_double(a, w) * as_double(b, w) + as_double(c, w), w);
  case IR_FP_OF_FP:
    return of_double(as_double(a, i->from), w);
  case IR_FP_OF_SINT:
    return w == 32 ? of_double((float)to_signed(a, i->from), 32)
                   : of_double((double)to_signed(a, i->from), 64);
  case IR_FP_OF_UINT:
    return w == 32 ? of_double((float)a, 32) : of_double((double)a, 64);
  case IR_BITS_OF_FP:
  case IR_FP_OF_BITS:
    return a;
  default:
    return compute_overflow(i, a, b);
  }
}

static inline uint64_t compute(const IrInst *i, uint64_t a, uint64_t b,
                               uint64_t c) {
  unsigned w = i->width;
  switch (i->op) {
  case IR_ADD:
    return a + b;
  case IR_SUB:
    return a - b;
  case IR_MUL:
    return a * b;
  case IR_UDIV:
  case IR_SDIV:
  case IR_UREM:
  case IR_SREM:
    return divide(i, a, b);
  case IR_SHL:
    return b < w ? a << b : 0;
  case IR_LSHR:
    return b < w ? a >> b : 0;
  case IR_ASHR:
    return (uint64_t)(to_signed(a, w) >> (b < w ? b : w - 1));
  case IR_AND:
    return a & b;
  case IR_OR:
    return a | b;
  case IR_XOR:
    return a ^ b;
  case IR_EQ:
    return a == b;
  case IR_NE:
    return a != b;
  case IR_ULT:
    return a < b;
  case IR_ULE:
    return a <= b;
  case IR_SLT:
    return to_signed(a, w) < to_signed(b, w);
  case IR_SLE:
    return to_signed(a, w) <= to_signed(b, w);
  case IR_TRUNC:
  case IR_ZEXT:
  case IR_MOVE:
    return a;
  case IR_SEXT:
    return (uint64_t)to_signed(a, i->from);
  case IR_SELECT:
    return a & 1 ? b : c;
  case IR_FCMP:
    return compare_float(i, a, b);
  default:
    return compute_rest(i, a, b, c);
  }
}

// Bits of the result.
static unsigned result_width(const IrInst *i) {
  bool truth = (i->op >= IR_EQ && i->op <= IR_SLE) || i->op == IR_FCMP ||
               (i->op >= IR_UADD_OVER && i->op <= IR_SMUL_OVER);
  return truth ? 1 : i->width;
}

// --- control ----------------------------------------------------------------

static void enter_block(Replay *r, uint32_t number) {
  ReplayFrame *f = top(r);
  const Program *p = r->program;
  const IrBlock *b =
      &p->blocks.items[p->functions.items[f->function].first_block + number];
  f->pc = p->insts.items + b->first;
  if (r->options.entered)
    r->options.entered(r->options.context, (uint32_t)(b - p->blocks.items),
                       r->frames.len);
  r->path->stats.instructions += b->n;
  if (UNLIKELY(r->path->stats.instructions > r->options.max_instructions)) {
    f->pc++;
    replay_stop(r, STOP_LIMIT);
    return;
  }
  if (UNLIKELY(r->check)) {
    f->pc++; // so that a message names this block
    uint64_t really = replay_take(r, 4);
    if (!r->stopped && really != number)
      replay_fail(r, "the trace enters another block");
    if (!r->stopped)
      r->path->stats.checked++;
    f->pc--;
  }
}

static void follow(Replay *r, uint32_t edge) {
  const IrEdge *e = &r->program->edges.items[edge];
  enum { FEW = 32 };
  IrValue few[FEW], *values = few;
  const IrMove *moves = r->program->moves.items + e->first;
  if (e->n > FEW)
    values = mem_array(IrValue, e->n);
  for (uint32_t i = 0; i < e->n; i++)
    values[i] = get(r, moves[i].src);
  for (uint32_t i = 0; i < e->n; i++)
    put(r, moves[i].dst, values[i]);
  if (values != few)
    free(values);
  enter_block(r, e->target);
}

// The cases of a switch, by value: large ones are searched, not walked through.
enum { FEW_CASES = 8 };

typedef struct {
  uint64_t value;
  uint32_t index;
} Case;

static int by_value(const void *a, const void *b) {
  const Case *x = a, *y = b;
  return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                              : (x->index > y->index) - (x->index < y->index);
}

static void sort_cases(Replay *r) {
  const Program *p = r->program;
  Case *all = mem_array(Case, p->cases.len + 1);
  r->case_order = mem_array(uint32_t, p->cases.len + 1);
  for (size_t i = 0; i < p->branches.len; i++) {
    const IrBranch *b = &p->branches.items[i];
    for (uint32_t k = 0; k < b->ncases; k++) {
      uint32_t operand = p->cases.items[b->first_case + k];
      all[k] = (Case){p->values.items[operand & ~IR_CONST], k};
    }
    if (b->ncases > FEW_CASES)
      qsort(all, b->ncases, sizeof *all, by_value);
    for (uint32_t k = 0; k < b->ncases; k++)
      r->case_order[b->first_case + k] = all[k].index;
  }
  free(all);
}

// The first case with that value, ncases if there is none.
static uint32_t find_case(const Replay *r, const IrBranch *b, uint64_t v) {
  const Program *p = r->program;
  const uint32_t *order = r->case_order + b->first_case;
  const uint32_t *cases = p->cases.items + b->first_case;
  uint32_t lo = 0, hi = b->ncases;
  if (hi <= FEW_CASES) {
    while (lo < hi && p->values.items[cases[lo] & ~IR_CONST] != v)
      lo++;
    return lo;
  }
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (p->values.items[cases[order[mid]] & ~IR_CONST] < v)
      lo = mid + 1;
    else
      hi = mid;
  }
  bool found =
      lo < b->ncases && p->values.items[cases[order[lo]] & ~IR_CONST] == v;
  return found ? order[lo] : b->ncases;
}

// Which edge the value chooses, counted from the branch's first; IR_NONE: none.
static uint32_t choose(const Replay *r, const IrInst *i, const IrBranch *b,
                       uint64_t v) {
  if (i->op == IR_BR)
    return 0;
  if (i->op == IR_CONDBR)
    return v & 1 ? 0 : 1;
  uint32_t k = find_case(r, b, v);
  if (i->op == IR_SWITCH)
    return k < b->ncases ? k + 1 : 0;
  return k < b->ncases ? k : IR_NONE;
}

static void branch(Replay *r, const IrInst *i) {
  const IrBranch *b = &r->program->branches.items[i->b];
  IrValue v = i->op == IR_BR ? (IrValue){0} : get(r, i->a);
  if (UNLIKELY(r->pos > r->end)) { // the crashing block recorded no more
    replay_stop(r, STOP_CRASH);
    return;
  }
  uint32_t edge = choose(r, i, b, v.value);
  if (edge == IR_NONE) {
    replay_fail(r, "a computed goto leads nowhere");
    return;
  }
  if (i->op != IR_BR) {
    r->path->stats.branches++;
    if (v.expr)
      replay_branch_event(r, i, i->b, edge, v);
    r->instances[i->b]++;
    if (r->options.observer)
      r->options.observer(r->options.context, i->b, edge);
  }
  follow(r, b->first_edge + edge);
}

// --- instructions -----------------------------------------------------------

static bool sane_size(Replay *r, uint64_t n) {
  enum { LARGEST = 1 << 28, PAGES = 1 << 20 };
  if (n <= LARGEST && (!r->shadow || shadow_pages(r->shadow) < PAGES))
    return true;
  replay_fail(r, "the trace asks for an impossible amount of memory");
  return false;
}

static void memory(Replay *r, const IrInst *i) {
  IrValue to = get(r, i->a), from = get(r, i->b), n = get(r, i->c);
  if (r->pos >= r->end && n.value &&
      (is_fatal(r, to.value, n.value) ||
       (i->op == IR_MEMCPY && is_fatal(r, from.value, n.value))))
    return;
  if (r->seen && i->op == IR_MEMSET && sane_size(r, n.value))
    seen_fill(r->seen, to.value, n.value, (uint8_t)from.value);
  if (!r->shadow || !sane_size(r, n.value))
    return;
  replay_fix(r, PATH_ADDRESS, to);
  replay_fix(r, PATH_ADDRESS, n);
  if (i->op == IR_MEMSET) {
    Expr byte = from.expr ? replay_bits(r, from, 8) : 0;
    shadow_fill(r->shadow, to.value, n.value, (uint8_t)from.value, byte);
  } else {
    replay_fix(r, PATH_ADDRESS, from);
    shadow_copy(r->shadow, to.value, from.value, n.value);
  }
}

// Memory that a loop is going to read, unless it was shown before.
static void range(Replay *r, const IrInst *i) {
  uint64_t what;
  while ((what = replay_take(r, 1)) == TRACE_SEEN && !r->stopped) {
    uint64_t at = replay_take(r, 8), n = replay_take(r, 4);
    if (!r->stopped && n > r->limit - r->pos)
      replay_fail(r, "the trace is cut off");
    if (r->stopped)
      return;
    if (!r->seen)
      r->seen = seen_new();
    seen_show(r->seen, at, r->trace->stream + r->pos, n);
    r->pos += n;
  }
  if (!r->stopped && what > 1)
    replay_fail(r, "the trace holds something else here");
  if (!r->stopped)
    put(r, i->dst, (IrValue){what, 0});
}

// What the run loaded: in a loop that is not recorded, what memory has.
static uint64_t loaded(Replay *r, const IrInst *i, uint64_t at) {
  uint64_t v = 0;
  if (i->op == IR_LOAD || !get(r, i->b).value)
    return replay_take(r, stream_bytes(i->width)) & expr_mask(i->width);
  if (!r->seen || !seen_load(r->seen, at, bytes_of(i->width), &v))
    replay_fail(r, "the run reads memory that the trace does not contain");
  return v;
}

static void load(Replay *r, const IrInst *i) {
  IrValue at = get(r, i->a);
  if (UNLIKELY(r->pos >= r->end) && is_fatal(r, at.value, bytes_of(i->width)))
    return;
  uint64_t v = loaded(r, i, at.value);
  if (r->stopped)
    return;
  Expr e = r->shadow && sane_size(r, 0) ? replay_load(r, i, at, v) : 0;
  put(r, i->dst, (IrValue){v, e});
}

static void store(Replay *r, const IrInst *i) {
  IrValue at = get(r, i->a), v = get(r, i->b);
  if (UNLIKELY(r->pos >= r->end) && is_fatal(r, at.value, bytes_of(i->width)))
    return;
  if (r->seen)
    seen_store(r->seen, at.value, bytes_of(i->width), v.value);
  if (r->shadow && sane_size(r, 0))
    replay_store(r, i, at, v);
}

static void allocate(Replay *r, const IrInst *i) {
  uint64_t n = get(r, i->a).value * i->c;
  uint64_t at = replay_take(r, 8);
  if (r->stopped)
    return;
  if (r->shadow && sane_size(r, n)) {
    shadow_forget(r->shadow, at, n);
    array_push(&r->objects, (Object){at, n});
  }
  put(r, i->dst, (IrValue){at, 0});
}

static void arithmetic(Replay *r, const IrInst *i) {
  IrValue a = get(r, i->a), b = get(r, i->b), c = {0};
  if (i->op == IR_SELECT || i->op == IR_FMULADD)
    c = get(r, i->c);
  if (i->op >= IR_UDIV && i->op <= IR_SREM) {
    if (b.expr)
      replay_event(r, PATH_DIVIDE, expr_nonzero(r->pool, b.expr), b.value != 0)
          ->subject = b.expr;
    if (!b.value) {
      replay_stop(r, STOP_CRASH);
      return;
    }
  }
  unsigned w = result_width(i);
  uint64_t v = i->flags & IR_FROM_TRACE ? replay_take(r, stream_bytes(w))
                                        : compute(i, a.value, b.value, c.value);
  v &= expr_mask(w);
  Expr e = 0;
  if (a.expr | b.expr | c.expr)
    e = replay_compute(r, i, a, b, c, v);
  put(r, i->dst, (IrValue){v, e});
}

// Unary operations have no register in b.
static bool is_unary(const IrInst *i) {
  static const bool binary[] = {
#define IR_OP(name, d, a, b, c) b,
#include "ir/ir_ops.def"
#undef IR_OP
  };
  return !binary[i->op];
}

static void unary(Replay *r, const IrInst *i) {
  IrValue a = get(r, i->a);
  unsigned w = i->width;
  uint64_t v = i->flags & IR_FROM_TRACE ? replay_take(r, stream_bytes(w))
                                        : compute(i, a.value, 0, 0);
  v &= expr_mask(w);
  Expr e = a.expr ? replay_compute(r, i, a, (IrValue){0}, (IrValue){0}, v) : 0;
  put(r, i->dst, (IrValue){v, e});
}

static void step(Replay *r) {
  const IrInst *i = top(r)->pc++;
  switch (i->op) {
  case IR_NOTHING:
    return;
  case IR_LOAD:
  case IR_LOAD_SEEN:
    load(r, i);
    return;
  case IR_RANGE:
    range(r, i);
    return;
  case IR_STORE:
    store(r, i);
    return;
  case IR_FORGET:
    if (r->shadow)
      shadow_forget(r->shadow, get(r, i->a).value, i->c);
    return;
  case IR_ALLOCA:
    allocate(r, i);
    return;
  case IR_MEMCPY:
  case IR_MEMSET:
    memory(r, i);
    return;
  case IR_VA_START:
    replay_va_start(r, get(r, i->a).value);
    return;
  case IR_CALL:
    replay_call(r, &r->program->calls.items[i->a]);
    return;
  case IR_RECORDED:
    replay_recorded(r, &r->program->calls.items[i->a]);
    return;
  case IR_RET:
    replay_return(r, r->program->args.items + i->a, i->b);
    return;
  case IR_BR:
  case IR_CONDBR:
  case IR_SWITCH:
  case IR_JUMP:
    branch(r, i);
    return;
  case IR_STOP:
    stop_at_end(r);
    return;
  default:
    if (is_unary(i))
      unary(r, i);
    else
      arithmetic(r, i);
  }
}

static void tell_step(Replay *r) {
  const ReplayFrame *f = top(r);
  ReplayStep s = {.inst = f->pc,
                  .regs = r->regs.items + f->regs,
                  .first_reg = f->regs,
                  .function = f->function,
                  .depth = r->frames.len};
  r->options.stepped(r->options.context, &s);
}

// --- the whole --------------------------------------------------------------

static int by_count(const void *a, const void *b) {
  uint64_t x = ((const PathLoss *)a)->count, y = ((const PathLoss *)b)->count;
  if (x != y)
    return x < y ? 1 : -1;
  return strcmp(((const PathLoss *)a)->name, ((const PathLoss *)b)->name);
}

static void release(Replay *r) {
  array_release(&r->frames);
  array_release(&r->regs);
  array_release(&r->exprs);
  array_release(&r->varargs);
  array_release(&r->objects);
  array_release(&r->heap);
  array_release(&r->globals);
  array_release(&r->read_only);
  array_release(&r->jumps);
  array_release(&r->streams);
  array_release(&r->texts);
  array_release(&r->tables);
  hashmap_release(&r->losses);
  free(r->instances);
  free(r->case_order);
  free(r->sort.bytes);
  free(r->sort.exprs);
  shadow_free(r->shadow);
  seen_free(r->seen);
}

int replay_with(Program *p, const Trace *t, const Inputs *in, ExprPool *pool,
                const ReplayOptions *options, Path *out, Err *err) {
  *out = (Path){.stop_place = IR_NONE, .stop_function = IR_NONE};
  if (program_bind(p, t, err))
    return -1;
  Replay r = {.program = p,
              .trace = t,
              .inputs = in,
              .pool = in && pool ? pool : NULL,
              .options = *options,
              .path = out,
              .err = err,
              .check = t->header.flags & TRACE_FLAG_CHECK,
              .end = t->end,
              .limit = t->limit};
  if (!r.options.max_instructions)
    r.options.max_instructions = DEFAULT_MAX;
  r.instances = mem_array(uint32_t, p->branches.len + 1);
  sort_cases(&r);
  if (r.pool) {
    r.shadow = shadow_new(pool);
    replay_begin_input(&r);
  }
  replay_outside(&r);
  while (!r.stopped) {
    if (UNLIKELY(r.options.stepped != NULL))
      tell_step(&r);
    step(&r);
  }
  if (r.shadow)
    out->stats.surprises = shadow_surprises(r.shadow);
  if (out->stats.losses.len)
    qsort(out->stats.losses.items, out->stats.losses.len, sizeof(PathLoss),
          by_count);
  release(&r);
  return r.failed ? -1 : 0;
}

int replay(Program *p, const Trace *t, const Inputs *in, ExprPool *pool,
           Path *out, Err *err) {
  return replay_with(p, t, in, pool, &(ReplayOptions){0}, out, err);
}
