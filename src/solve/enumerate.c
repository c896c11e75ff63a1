// Solves tiny domains by trying all values. A condition on one byte is a truth
// table of 256 bits, computed once; a question about one byte is then a few
// ANDs. With two bytes, the outer one runs through the values that its own
// conditions leave, and all conditions on both are computed for the 256 values
// of the inner one at a time.
//
// For floats, which only Z3 takes otherwise, and slowly, the values that the
// digits of a few numbers can have are tried 256 at a time; if there are too
// many, a sample of them.
//
// Answers near the run are preferred: one input kept if possible, printable
// characters before others, then the smallest change.
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "solve/solver_query.h"
#include "util/clock.h"

#define LANES 256
#define MAX_ROWS 512
#define MAX_WORK 8192 // rows times values of the outer byte

void enumerator_init(Enumerator *e, ExprPool *p) {
  *e = (Enumerator){.pool = p};
}

void enumerator_release(Enumerator *e) {
  expr_map_release(&e->sets);
  expr_map_release(&e->rows);
  array_release(&e->truth);
  array_release(&e->order);
  array_release(&e->lanes);
}

// --- sets of bytes ----------------------------------------------------------

static const ByteSet all_bytes = {{~0ull, ~0ull, ~0ull, ~0ull}};

static bool set_has(const ByteSet *s, unsigned v) {
  return s->bits[v >> 6] >> (v & 63) & 1;
}

static void set_keep(ByteSet *s, const ByteSet *other, bool outcome) {
  for (int i = 0; i < 4; i++)
    s->bits[i] &= outcome ? other->bits[i] : ~other->bits[i];
}

static unsigned set_count(const ByteSet *s) {
  unsigned n = 0;
  for (int i = 0; i < 4; i++)
    n += (unsigned)__builtin_popcountll(s->bits[i]);
  return n;
}

// The member that changes least; `run` itself if it is one. -1: empty.
static int set_nearest(const ByteSet *s, unsigned run) {
  int best = -1;
  unsigned best_cost = ~0u;
  for (unsigned v = 0; v < LANES; v++) {
    unsigned cost = v > run ? v - run : run - v;
    cost += v == run || isprint((int)v) ? 0 : 1000;
    if (set_has(s, v) && cost < best_cost) {
      best_cost = cost;
      best = (int)v;
    }
  }
  return best;
}

// --- 256 values at a time ---------------------------------------------------

static uint64_t *row(Enumerator *e, Expr x) {
  return &e->lanes.items[*expr_map_get(&e->rows, x)];
}

static void fill_row(uint64_t *r, uint64_t v) {
  for (int i = 0; i < LANES; i++)
    r[i] = v;
}

#define EACH_LANE(expression)                                                  \
  for (int i = 0; i < LANES; i++)                                              \
    out[i] = (expression);                                                     \
  break

// The common operators in loops the compiler can vectorise; false for others.
static bool compute_fast(const ExprPool *p, const ExprNode *n, uint64_t *out,
                         const uint64_t *a, const uint64_t *b,
                         const uint64_t *c) {
  if (expr_sort(p, n->arg[0]).kind != SORT_BV)
    return false;
  uint64_t m = expr_mask(n->sort.width);
  unsigned up = 64 - expr_width(p, n->arg[0]);
  switch ((ExprOp)n->op) {
  case EXPR_NOT:
    EACH_LANE(~a[i] & m);
  case EXPR_NEG:
    EACH_LANE((0 - a[i]) & m);
  case EXPR_ADD:
    EACH_LANE((a[i] + b[i]) & m);
  case EXPR_SUB:
    EACH_LANE((a[i] - b[i]) & m);
  case EXPR_MUL:
    EACH_LANE((a[i] * b[i]) & m);
  case EXPR_AND:
    EACH_LANE(a[i] & b[i]);
  case EXPR_OR:
    EACH_LANE(a[i] | b[i]);
  case EXPR_XOR:
    EACH_LANE(a[i] ^ b[i]);
  case EXPR_EQ:
    EACH_LANE(a[i] == b[i]);
  case EXPR_ULT:
    EACH_LANE(a[i] < b[i]);
  case EXPR_SLT:
    EACH_LANE((int64_t)(a[i] << up) < (int64_t)(b[i] << up));
  case EXPR_ITE:
    EACH_LANE(a[i] ? b[i] : c[i]);
  case EXPR_EXTRACT:
    EACH_LANE(a[i] >> n->arg[1] & m);
  case EXPR_ZEXT:
    EACH_LANE(a[i]);
  case EXPR_SEXT:
    EACH_LANE((uint64_t)((int64_t)(a[i] << up) >> up) & m);
  case EXPR_CONCAT:
    EACH_LANE(a[i] << expr_width(p, n->arg[1]) | b[i]);
  default:
    return false;
  }
  return true;
}

static void compute_row(Enumerator *e, Expr x) {
  const ExprNode *n = expr_node(e->pool, x);
  unsigned arity = expr_arity((ExprOp)n->op);
  const uint64_t *in[3] = {0};
  for (unsigned i = 0; i < arity; i++)
    in[i] = row(e, n->arg[i]);
  uint64_t *out = row(e, x);
  if (compute_fast(e->pool, n, out, in[0], in[1], in[2]))
    return;
  ExprSort from = expr_sort(e->pool, n->arg[0]);
  bool undefined = false; // INT is not taken
  for (int i = 0; i < LANES; i++)
    out[i] = expr_apply(e->pool, n, from, in[0][i], arity > 1 ? in[1][i] : 0,
                        arity > 2 ? in[2][i] : 0, &undefined);
}

static bool is_input(const ExprPool *p, Expr x) {
  return expr_op(p, x) == EXPR_VAR || expr_op(p, x) == EXPR_CONST;
}

// Rows for everything the conditions consist of; false if that is too much, or
// could be undefined.
static bool prepare(Enumerator *e, const Expr *conds, size_t n) {
  expr_map_clear(&e->rows);
  e->order.len = 0;
  if (!expr_walk(e->pool, conds, n, MAX_ROWS, &e->rows, &e->order))
    return false;
  e->lanes.len = 0;
  array_reserve(&e->lanes, e->order.len * LANES);
  for (size_t i = 0; i < e->order.len; i++) {
    Expr x = e->order.items[i];
    if (expr_sort(e->pool, x).kind == SORT_INT)
      return false;
    expr_map_put(&e->rows, x, i * LANES);
    if (expr_op(e->pool, x) == EXPR_CONST)
      fill_row(row(e, x), expr_value(e->pool, x));
  }
  return true;
}

static void compute_all(Enumerator *e) {
  for (size_t i = 0; i < e->order.len; i++)
    if (!is_input(e->pool, e->order.items[i]))
      compute_row(e, e->order.items[i]);
}

// Bits `lo`.. of the lane number (with `outer` above 8 bits) are the variable.
static void set_var(Enumerator *e, VarId v, unsigned lo, unsigned outer) {
  Expr x = expr_input(e->pool, v);
  if (!expr_map_get(&e->rows, x))
    return;
  uint64_t *r = row(e, x), m = expr_mask(expr_width(e->pool, x));
  for (unsigned i = 0; i < LANES; i++)
    r[i] = (outer << 8 | i) >> lo & m;
}

static ByteSet row_as_set(const uint64_t *r) {
  ByteSet s = {{0}};
  for (unsigned i = 0; i < LANES; i++)
    s.bits[i >> 6] |= (r[i] & 1) << (i & 63);
  return s;
}

// --- one byte ---------------------------------------------------------------

// The truth table of a condition on one byte; false if it is too large.
static bool byte_table(Enumerator *e, Expr cond, VarId v, ByteSet *out) {
  const uint64_t *known = expr_map_get(&e->sets, cond);
  if (known) {
    *out = e->truth.items[*known];
    return true;
  }
  if (!prepare(e, &cond, 1))
    return false;
  set_var(e, v, 0, 0);
  compute_all(e);
  *out = row_as_set(row(e, cond));
  expr_map_put(&e->sets, cond, e->truth.len);
  array_push(&e->truth, *out);
  return true;
}

// The values that the conditions on `v` alone leave it.
static bool byte_domain(Enumerator *e, const Query *q, VarId v,
                        ByteSet *domain) {
  *domain = all_bytes;
  for (size_t i = 0; i < q->n; i++) {
    Support s = expr_support(e->pool, q->items[i].cond);
    if (support_size(e->pool, s) != 1 || !support_has(e->pool, s, v))
      continue;
    ByteSet t;
    if (!byte_table(e, q->items[i].cond, v, &t))
      return false;
    set_keep(domain, &t, q->items[i].outcome);
  }
  return true;
}

static void bind(Model *out, VarId v, uint64_t value) {
  array_push(out, (Binding){v, value});
}

static bool solve_one(Enumerator *e, const Query *q, SolverResult *result,
                      Model *out) {
  VarId v = q->vars[0];
  ByteSet domain;
  if (!byte_domain(e, q, v, &domain))
    return false;
  int best = set_nearest(&domain, (unsigned)expr_var_value(e->pool, v));
  *result = best < 0 ? SOLVER_UNSAT : SOLVER_SAT;
  if (best >= 0)
    bind(out, v, (unsigned)best);
  return true;
}

// --- up to 16 bits ----------------------------------------------------------

// How the bits are shared out: variable k begins at bit lo[k]; those from bit 8
// on count as outer.
typedef struct {
  unsigned lo[16], bits;
  ByteSet outer, inner;    // candidates
  unsigned run_outer, run; // where the run is
} BitLayout;

static bool make_layout(const ExprPool *p, const Query *q, BitLayout *layout) {
  *layout = (BitLayout){.outer = all_bytes, .inner = all_bytes};
  unsigned run = 0;
  for (size_t i = 0; i < q->nvars; i++) {
    ExprSort s = expr_var_sort(p, q->vars[i]);
    if (s.kind != SORT_BV || layout->bits + s.width > 16)
      return false;
    layout->lo[i] = layout->bits;
    run |= (unsigned)expr_var_value(p, q->vars[i]) << layout->bits;
    layout->bits += s.width;
  }
  layout->run = run & 255;
  layout->run_outer = run >> 8;
  return true;
}

static bool are_two_bytes(const ExprPool *p, const Query *q) {
  return q->nvars == 2 && expr_var_sort(p, q->vars[0]).width == 8 &&
         expr_var_sort(p, q->vars[1]).width == 8;
}

// Candidates that the number of bits and conditions on one byte leave.
static bool narrow_layout(Enumerator *e, const Query *q, BitLayout *layout) {
  ByteSet valid = {{0}};
  unsigned inner = layout->bits < 8 ? layout->bits : 8;
  unsigned outer = layout->bits - inner;
  for (unsigned v = 0; v < 1u << inner; v++)
    valid.bits[v >> 6] |= 1ull << (v & 63);
  layout->inner = valid;
  valid = (ByteSet){{0}};
  for (unsigned v = 0; v < 1u << outer; v++)
    valid.bits[v >> 6] |= 1ull << (v & 63);
  layout->outer = valid;
  if (!are_two_bytes(e->pool, q))
    return true;
  return byte_domain(e, q, q->vars[0], &layout->inner) &&
         byte_domain(e, q, q->vars[1], &layout->outer);
}

// Conditions that the domains do not answer already.
static void open_conditions(Enumerator *e, const Query *q, Constraints *open) {
  bool skip = are_two_bytes(e->pool, q);
  for (size_t i = 0; i < q->n; i++) {
    Support s = expr_support(e->pool, q->items[i].cond);
    if (!skip || support_size(e->pool, s) > 1)
      array_push(open, q->items[i]);
  }
}

static bool prepare_all(Enumerator *e, const Constraints *open) {
  ExprList conds = {0};
  for (size_t i = 0; i < open->len; i++)
    array_push(&conds, open->items[i].cond);
  bool ok = prepare(e, conds.items, conds.len);
  array_release(&conds);
  return ok;
}

static ByteSet try_outer(Enumerator *e, const Query *q, const BitLayout *layout,
                         const Constraints *open, unsigned outer) {
  for (size_t i = 0; i < q->nvars; i++)
    set_var(e, q->vars[i], layout->lo[i], outer);
  compute_all(e);
  ByteSet left = layout->inner;
  for (size_t i = 0; i < open->len; i++) {
    ByteSet t = row_as_set(row(e, open->items[i].cond));
    set_keep(&left, &t, open->items[i].outcome);
  }
  return left;
}

static void bind_all(const ExprPool *p, const Query *q, const BitLayout *layout,
                     unsigned found, Model *out) {
  for (size_t i = 0; i < q->nvars; i++) {
    unsigned w = expr_var_sort(p, q->vars[i]).width;
    bind(out, q->vars[i], found >> layout->lo[i] & expr_mask(w));
  }
}

static SolverResult search(Enumerator *e, const Query *q, BitLayout *layout,
                           const Constraints *open, Model *out) {
  for (;;) { // the run's own value first, then by distance
    int outer = set_nearest(&layout->outer, layout->run_outer);
    if (outer < 0)
      return SOLVER_UNSAT;
    layout->outer.bits[outer >> 6] &= ~(1ull << (outer & 63));
    ByteSet left = try_outer(e, q, layout, open, (unsigned)outer);
    int inner = set_nearest(&left, layout->run);
    if (inner < 0)
      continue;
    bind_all(e->pool, q, layout, (unsigned)outer << 8 | (unsigned)inner, out);
    return SOLVER_SAT;
  }
}

static bool solve_many(Enumerator *e, const Query *q, SolverResult *result,
                       Model *out) {
  BitLayout layout;
  if (!make_layout(e->pool, q, &layout) || !narrow_layout(e, q, &layout))
    return false;
  Constraints open = {0};
  open_conditions(e, q, &open);
  bool ok = prepare_all(e, &open) &&
            e->order.len * set_count(&layout.outer) <= MAX_WORK;
  if (ok)
    *result = search(e, q, &layout, &open, out);
  array_release(&open);
  return ok;
}

bool enumerator_solve(Enumerator *e, const Query *q, SolverResult *result,
                      Model *out) {
  if (q->nvars == 0 || q->nvars > 16)
    return false;
  ExprSort s = expr_var_sort(e->pool, q->vars[0]);
  if (q->nvars == 1 && s.kind == SORT_BV && s.width == 8)
    return solve_one(e, q, result, out);
  return solve_many(e, q, result, out);
}

// --- many bytes of few values each ------------------------------------------

enum {
  MOST_BYTES = 32,
  MOST_TRIED = 1 << 18,
  MOST_DRAWN = 1 << 16,
  MOST_COMPUTED = 1 << 22 // expressions times values
};

typedef struct {
  uint8_t values[MOST_BYTES][LANES]; // nearest to the run first
  unsigned counts[MOST_BYTES];
  uint64_t product; // of the counts; more than MOST_TRIED: not exactly
  uint64_t state;   // of the draws
} Domains;

static bool list_domain(Enumerator *e, const Query *q, size_t k, Domains *d) {
  ByteSet left;
  unsigned run = (unsigned)expr_var_value(e->pool, q->vars[k]);
  if (!byte_domain(e, q, q->vars[k], &left))
    return false;
  for (int v; (v = set_nearest(&left, run)) >= 0;) {
    left.bits[v >> 6] &= ~(1ull << (v & 63));
    d->values[k][d->counts[k]++] = (uint8_t)v;
  }
  if (d->product <= MOST_TRIED || !d->counts[k])
    d->product *= d->counts[k]; // 0 for good: no value of this byte will do
  return true;
}

static bool list_domains(Enumerator *e, const Query *q, Domains *d) {
  d->product = 1;
  d->state = 88172645463325252ull;
  for (size_t k = 0; k < q->nvars; k++) {
    ExprSort s = expr_var_sort(e->pool, q->vars[k]);
    if (s.kind != SORT_BV || s.width != 8 || !list_domain(e, q, k, d))
      return false;
  }
  return true;
}

static unsigned draw(Domains *d, unsigned n) {
  d->state ^= d->state << 13;
  d->state ^= d->state >> 7;
  d->state ^= d->state << 17;
  return (unsigned)(d->state >> 33) % n;
}

// Lane i of every input: number first + i of all there are, or any.
static void fill_lanes(Enumerator *e, const Query *q, Domains *d,
                       uint64_t first, uint8_t chosen[MOST_BYTES][LANES]) {
  bool all = d->product <= MOST_TRIED;
  for (unsigned i = 0; i < LANES; i++) {
    uint64_t number = first + i;
    for (size_t k = q->nvars; k-- > 0;) {
      unsigned n = d->counts[k];
      chosen[k][i] = d->values[k][all ? (unsigned)(number % n) : draw(d, n)];
      number /= n;
    }
  }
  for (size_t k = 0; k < q->nvars; k++) {
    Expr x = expr_input(e->pool, q->vars[k]);
    if (!expr_map_get(&e->rows, x))
      continue;
    uint64_t *r = row(e, x);
    for (unsigned i = 0; i < LANES; i++)
      r[i] = chosen[k][i];
  }
}

// The first of the next `n` lanes that satisfies everything; -1: none.
static int try_lanes(Enumerator *e, const Query *q, unsigned n) {
  compute_all(e);
  for (unsigned i = 0; i < n; i++) {
    bool good = true;
    for (size_t k = 0; k < q->n && good; k++)
      good = row(e, q->items[k].cond)[i] == q->items[k].outcome;
    if (good)
      return (int)i;
  }
  return -1;
}

static bool try_product(Enumerator *e, const Query *q, Domains *d,
                        SolverResult *result, Model *out) {
  bool all = d->product <= MOST_TRIED;
  uint64_t end = all ? d->product : MOST_DRAWN;
  uint64_t most = MOST_COMPUTED / (e->order.len + 1);
  if (end > most) {
    end = most;
    all = false;
  }
  uint8_t chosen[MOST_BYTES][LANES];
  for (uint64_t first = 0; first < end; first += LANES) {
    if (clock_now() > q->deadline)
      return false;
    fill_lanes(e, q, d, first, chosen);
    uint64_t left = end - first;
    int i = try_lanes(e, q, left < LANES ? (unsigned)left : LANES);
    if (i < 0)
      continue;
    for (size_t k = 0; k < q->nvars; k++)
      bind(out, q->vars[k], chosen[k][i]);
    *result = SOLVER_SAT;
    return true;
  }
  *result = SOLVER_UNSAT;
  return all;
}

bool enumerator_try(Enumerator *e, const Query *q, SolverResult *result,
                    Model *out) {
  Constraints all = {0};
  Domains d = {0};
  if (q->nvars == 0 || q->nvars > MOST_BYTES || !list_domains(e, q, &d))
    return false;
  if (!d.product) {
    *result = SOLVER_UNSAT;
    return true;
  }
  for (size_t i = 0; i < q->n; i++)
    array_push(&all, q->items[i]);
  bool done = prepare_all(e, &all) && try_product(e, q, &d, result, out);
  array_release(&all);
  return done;
}
