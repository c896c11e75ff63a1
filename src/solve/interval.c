// One input of any width that is only compared with constants: sizes, counts,
// numbers on the command line. The conditions leave an interval in each half of
// the values, below and above the sign, minus some values; the one nearest to
// the run's value is the answer.
//
//   size > 0, size > 1, ..., size > 349, size <= 350  ->  size == 350
#include <stdlib.h>

#include "solve/solver_query.h"

typedef struct {
  uint64_t lo, hi;
  bool empty;
} Interval;

typedef struct {
  VarId var;
  unsigned width;
  Interval half[2];        // [1]: those with the sign bit set
  ARRAY(uint64_t) without; // values taken out
} Domain;

typedef enum { LESS, GREATER, EQUAL } Relation;

// --- conditions -------------------------------------------------------------

static bool is_var(const ExprPool *p, Expr e, VarId v) {
  const ExprNode *n = expr_node(p, e);
  return n->op == EXPR_VAR && n->arg[0] == v;
}

// The sign bit by itself: v < 0.
static bool is_sign(const ExprPool *p, const ExprNode *n, const Domain *d) {
  return n->op == EXPR_EXTRACT && n->sort.width == 1 &&
         is_var(p, n->arg[0], d->var) && n->arg[1] == d->width - 1;
}

// Reads `v < k`, `k < v` or `v == k`; false for any other condition.
static bool read_condition(const ExprPool *p, Expr cond, const Domain *d,
                           Relation *rel, bool *is_signed, uint64_t *k) {
  const ExprNode *n = expr_node(p, cond);
  *is_signed = n->op == EXPR_SLT || is_sign(p, n, d);
  *rel = n->op == EXPR_EQ ? EQUAL : LESS;
  *k = 0;
  if (is_sign(p, n, d))
    return true;
  if (n->op != EXPR_ULT && n->op != EXPR_SLT && n->op != EXPR_EQ)
    return false;
  bool first = is_var(p, n->arg[0], d->var);
  Expr other = n->arg[first];
  if (!first && *rel == LESS)
    *rel = GREATER;
  *k = expr_value(p, other);
  return expr_is_const(p, other) && is_var(p, n->arg[!first], d->var);
}

// --- intervals --------------------------------------------------------------

static void at_least(Interval *i, uint64_t v) { i->lo = v > i->lo ? v : i->lo; }
static void at_most(Interval *i, uint64_t v) { i->hi = v < i->hi ? v : i->hi; }

static void below(Interval *i, uint64_t k) {
  if (k == 0)
    i->empty = true;
  else
    at_most(i, k - 1);
}

static void beyond(Interval *i, uint64_t k) {
  if (k == UINT64_MAX)
    i->empty = true;
  else
    at_least(i, k + 1);
}

static void keep_ordered(Interval *i, Relation rel, uint64_t k, bool outcome) {
  if (rel == LESS && outcome)
    below(i, k);
  else if (rel == LESS)
    at_least(i, k);
  else if (outcome)
    beyond(i, k);
  else
    at_most(i, k);
}

// Within one half the signed order is the unsigned one; k in the other half is
// on one side of all of it.
static void keep_signed(Interval *i, unsigned half, unsigned half_of_k,
                        Relation rel, uint64_t k, bool outcome) {
  bool is_less = half == 1; // negative ones are less
  if (half == half_of_k)
    keep_ordered(i, rel, k, outcome);
  else if ((rel == LESS) == is_less ? !outcome : outcome)
    i->empty = true;
}

static void keep(Domain *d, Relation rel, bool is_signed, uint64_t k,
                 bool outcome) {
  if (rel == EQUAL && !outcome)
    array_push(&d->without, k);
  for (unsigned h = 0; h < 2; h++) {
    Interval *i = &d->half[h];
    if (rel == EQUAL && outcome) {
      at_least(i, k);
      at_most(i, k);
    } else if (rel != EQUAL && is_signed)
      keep_signed(i, h, (unsigned)(k >> (d->width - 1)), rel, k, outcome);
    else if (rel != EQUAL)
      keep_ordered(i, rel, k, outcome);
  }
}

// --- values -----------------------------------------------------------------

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static bool is_out(const Domain *d, uint64_t v) {
  return d->without.len &&
         bsearch(&v, d->without.items, d->without.len, sizeof v, by_value);
}

static uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

static uint64_t clamp(uint64_t v, const Interval *i) {
  return v < i->lo ? i->lo : v > i->hi ? i->hi : v;
}

// Steps from the value nearest to the run over those taken out.
static bool nearest_in(const Domain *d, const Interval *i, uint64_t run,
                       uint64_t *best, bool found) {
  if (i->empty || i->lo > i->hi)
    return found;
  uint64_t up = clamp(run, i), down = up;
  while (up < i->hi && is_out(d, up))
    up++;
  while (down > i->lo && is_out(d, down))
    down--;
  const uint64_t both[2] = {up, down};
  for (int k = 0; k < 2; k++)
    if (!is_out(d, both[k]) &&
        (!found || distance(both[k], run) < distance(*best, run))) {
      *best = both[k];
      found = true;
    }
  return found;
}

static bool build(ExprPool *p, const Query *q, Domain *d) {
  uint64_t sign = 1ull << (d->width - 1), max = expr_mask(d->width);
  d->half[0] = (Interval){0, sign - 1, false};
  d->half[1] = (Interval){sign, max, false};
  for (size_t i = 0; i < q->n; i++) {
    Relation rel;
    bool is_signed;
    uint64_t k;
    if (!read_condition(p, q->items[i].cond, d, &rel, &is_signed, &k))
      return false;
    keep(d, rel, is_signed, k, q->items[i].outcome);
  }
  if (d->without.len)
    qsort(d->without.items, d->without.len, sizeof(uint64_t), by_value);
  return true;
}

bool interval_solve(ExprPool *p, const Query *q, SolverResult *result,
                    Model *out) {
  if (q->nvars != 1)
    return false;
  ExprSort sort = expr_var_sort(p, q->vars[0]);
  if (sort.kind != SORT_BV || sort.width < 2)
    return false;
  Domain d = {.var = q->vars[0], .width = sort.width};
  bool ok = build(p, q, &d), found = false;
  uint64_t run = expr_var_value(p, d.var), best = 0;
  for (int h = 0; h < 2 && ok; h++)
    found = nearest_in(&d, &d.half[h], run, &best, found);
  if (found)
    array_push(out, (Binding){d.var, best});
  *result = found ? SOLVER_SAT : SOLVER_UNSAT;
  array_release(&d.without);
  return ok;
}
