// Solves a part of a large query first.
//
//   question:   in[7] != in[8]
//   slice:      1100 comparisons of neighbours, and a checksum of all of them
//   asked:      the question, the comparisons with in[7] or in[8]
//   answer:     in[8] = 'x'; evaluated, all the others hold: done
//
// If a part is unsatisfiable, so is the whole; a model of the part that
// satisfies the rest is a model of the whole. A model that does not violates
// conditions that matter: they are added for the next attempt. So a path of
// thousands of connected conditions costs what the few cost that are related to
// the question, and a checksum that cannot be wrong (it was written and read
// back) is only ever evaluated.
//
// A part may be harder than the whole, which leaves less freedom: it gets few
// conflicts.
//
// Conditions about many inputs have SAT solvers of their own, because a solver
// assigns all its variables whenever it answers.
//
// Memory: the scratch of one query, kept for the next.
#include "solve/solver_query.h"
#include "util/clock.h"

#define LAZY_FROM 48  // conditions; fewer are asked at once
#define WIDE 24       // inputs of a condition that is left out at first
#define ROUNDS 8      // then all are asked
#define CONFLICTS 100 // for a part

void lazy_init(Lazy *l, ExprPool *p, ExprEval *scratch, SolverStats *stats) {
  *l = (Lazy){.pool = p, .eval = scratch, .stats = stats};
  l->narrow = bit_engine_new(p, stats);
}

void lazy_release(Lazy *l) {
  bit_engine_free(l->narrow);
  bit_engine_free(l->wide);
  array_release(&l->asked);
  array_release(&l->part);
  array_release(&l->vars);
}

static bool is_wide(ExprPool *p, Expr cond) {
  return support_size(p, expr_support(p, cond)) > WIDE;
}

static bool has_wide(ExprPool *p, const Constraint *items, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (is_wide(p, items[i].cond))
      return true;
  return false;
}

static bool is_large(Lazy *l, const Query *q) {
  size_t rest = q->n - q->asked;
  return rest >= LAZY_FROM || has_wide(l->pool, q->items, rest);
}

// --- what is asked ----------------------------------------------------------

// Do they share an input? `vars`: those of the question.
static bool is_near(ExprPool *p, Expr cond, const VarList *vars) {
  Support s = expr_support(p, cond);
  for (size_t i = 0; i < vars->len; i++)
    if (support_has(p, s, vars->items[i]))
      return true;
  return false;
}

static Support support_of(ExprPool *p, const Constraint *items, size_t n) {
  Support all = SUPPORT_EMPTY;
  for (size_t i = 0; i < n; i++)
    all = support_union(p, all, expr_support(p, items[i].cond));
  return all;
}

// The question and, if it is about few inputs, the conditions about the same.
static void choose_first(Lazy *l, const Query *q) {
  size_t rest = q->n - q->asked;
  Support s = support_of(l->pool, q->items + rest, q->asked);
  bool narrow = support_size(l->pool, s) <= WIDE;
  l->asked.len = l->vars.len = 0;
  if (narrow)
    support_members(l->pool, s, &l->vars);
  for (size_t i = 0; i < q->n; i++) {
    Expr cond = q->items[i].cond;
    bool near =
        narrow && !is_wide(l->pool, cond) && is_near(l->pool, cond, &l->vars);
    array_push(&l->asked, i >= rest || near);
  }
}

static Query part_of(Lazy *l, const Query *q) {
  l->part.len = l->vars.len = 0;
  for (size_t i = 0; i < q->n; i++)
    if (l->asked.items[i])
      array_push(&l->part, q->items[i]);
  support_members(l->pool, support_of(l->pool, l->part.items, l->part.len),
                  &l->vars);
  return (Query){.items = l->part.items,
                 .n = l->part.len,
                 .asked = q->asked,
                 .vars = l->vars.items,
                 .nvars = l->vars.len,
                 .deadline = q->deadline};
}

// --- rounds -----------------------------------------------------------------

// Adds the conditions that the model violates. Are there any?
static bool add_violated(Lazy *l, const Query *q, const Model *m) {
  bool added = false;
  expr_eval_clear(l->eval);
  for (size_t i = 0; i < m->len; i++)
    expr_eval_set(l->eval, m->items[i].var, m->items[i].value);
  for (size_t i = 0; i < q->n; i++) {
    uint64_t value;
    if (l->asked.items[i] || (expr_eval(l->eval, q->items[i].cond, &value) &&
                              value == q->items[i].outcome))
      continue;
    l->asked.items[i] = added = true;
  }
  return added;
}

static SolverResult ask(Lazy *l, const Query *q, const SolverLimits *limits,
                        Model *out) {
  bool wide = has_wide(l->pool, q->items, q->n);
  if (wide && !l->wide)
    l->wide = bit_engine_new(l->pool, l->stats);
  out->len = 0;
  return bit_engine_solve(wide ? l->wide : l->narrow, q, limits, out);
}

// UNKNOWN: no part was enough.
static SolverResult ask_parts(Lazy *l, const Query *q,
                              const SolverLimits *limits, Model *out) {
  SolverLimits few = *limits;
  few.conflicts = few.conflicts < CONFLICTS ? few.conflicts : CONFLICTS;
  choose_first(l, q);
  for (int round = 0; round < ROUNDS && clock_now() < q->deadline; round++) {
    Query part = part_of(l, q);
    SolverResult r = ask(l, &part, &few, out);
    if (r != SOLVER_SAT || !add_violated(l, q, out))
      return r;
  }
  return SOLVER_UNKNOWN;
}

SolverResult lazy_solve(Lazy *l, const Query *q, const SolverLimits *limits,
                        Model *out) {
  SolverResult r = SOLVER_UNKNOWN;
  if (is_large(l, q))
    r = ask_parts(l, q, limits, out);
  return r == SOLVER_UNKNOWN ? ask(l, q, limits, out) : r;
}
