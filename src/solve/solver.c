// Answers a query: normalises and slices it, picks an engine, checks the model.
#include "solve/solver.h"

#include <assert.h>
#include <stdlib.h>

#include "solve/slice.h"
#include "solve/solver_query.h"
#include "util/clock.h"

struct Solver {
  ExprPool *pool;
  SolverLimits limits;
  SolverStats stats;
  bool off[ENGINE_COUNT];

  Constraints path;  // as added
  Constraints atoms; // split into conjuncts, each condition once
  Slice slice;       // over the atoms
  ExprMap decided;   // condition -> index into path << 1 | outcome

  Enumerator enumerator;
  SmtEngine *smt; // made when first needed
  ExprEval eval;
  Lazy lazy;

  // Scratch of one query.
  Constraints extra, query;
  ARRAY(Support) supports;
  ItemList items;
  VarList vars;
};

static const SolverLimits default_limits = {
    .seconds = 1.0,
    .conflicts = 20000,
    .gates = 2000000,
    .nodes = 20000,
};

Solver *solver_new(ExprPool *p, SolverLimits limits) {
  Solver *s = mem_new(Solver);
  s->pool = p;
  s->limits = default_limits;
  if (limits.seconds > 0)
    s->limits.seconds = limits.seconds;
  if (limits.conflicts)
    s->limits.conflicts = limits.conflicts;
  if (limits.gates)
    s->limits.gates = limits.gates;
  if (limits.nodes)
    s->limits.nodes = limits.nodes;
  slice_init(&s->slice, p);
  enumerator_init(&s->enumerator, p);
  s->eval.pool = p;
  lazy_init(&s->lazy, p, &s->eval, &s->stats);
  return s;
}

void solver_free(Solver *s) {
  if (!s)
    return;
  array_release(&s->path);
  array_release(&s->atoms);
  slice_release(&s->slice);
  expr_map_release(&s->decided);
  enumerator_release(&s->enumerator);
  smt_engine_free(s->smt);
  expr_eval_release(&s->eval);
  lazy_release(&s->lazy);
  array_release(&s->extra);
  array_release(&s->query);
  array_release(&s->supports);
  array_release(&s->items);
  array_release(&s->vars);
  free(s);
}

void solver_use(Solver *s, SolverEngine e, bool on) { s->off[e] = !on; }
const SolverStats *solver_stats(const Solver *s) { return &s->stats; }
size_t solver_len(const Solver *s) { return s->path.len; }

Constraint solver_constraint(const Solver *s, size_t i) {
  assert(i < s->path.len);
  return s->path.items[i];
}

// --- conjuncts --------------------------------------------------------------

// Appends the conjuncts of `c`: (a && b) is two, !(a || b) as well.
static void split(const ExprPool *p, Constraint c, Constraints *out) {
  Constraints todo = {0};
  array_push(&todo, c);
  while (todo.len) {
    c = todo.items[--todo.len];
    const ExprNode *n = expr_node(p, c.cond);
    ExprOp conjunction = c.outcome ? EXPR_AND : EXPR_OR;
    if (n->op == EXPR_NOT)
      array_push(&todo, (Constraint){n->arg[0], !c.outcome});
    else if (n->op == conjunction) {
      array_push(&todo, (Constraint){n->arg[1], c.outcome});
      array_push(&todo, (Constraint){n->arg[0], c.outcome});
    } else
      array_push(out, c);
  }
  array_release(&todo);
}

// Was this condition decided by the path before index `before`, and how?
static bool is_decided(const Solver *s, Expr cond, size_t before,
                       bool *outcome) {
  if (expr_is_const(s->pool, cond)) {
    *outcome = expr_value(s->pool, cond) != 0;
    return true;
  }
  const uint64_t *d = expr_map_get(&s->decided, cond);
  if (!d || *d >> 1 >= before)
    return false;
  *outcome = *d & 1;
  return true;
}

static void add_atom(Solver *s, Constraint c, size_t time) {
  bool ignored;
  if (is_decided(s, c.cond, SIZE_MAX, &ignored))
    return;
  expr_map_put(&s->decided, c.cond, time << 1 | c.outcome);
  array_push(&s->atoms, c);
  slice_add(&s->slice, expr_support(s->pool, c.cond), (uint32_t)time);
}

static Constraint without_not(const ExprPool *p, Constraint c) {
  while (expr_op(p, c.cond) == EXPR_NOT)
    c = (Constraint){expr_arg(p, c.cond, 0), !c.outcome};
  return c;
}

size_t solver_add(Solver *s, Expr cond, bool outcome) {
  assert(expr_width(s->pool, cond) == 1);
  assert(expr_value(s->pool, cond) == outcome);
  size_t time = s->path.len;
  assert(time < UINT32_MAX);
  array_push(&s->path, (Constraint){cond, outcome});
  s->extra.len = 0;
  split(s->pool, (Constraint){cond, outcome}, &s->extra);
  for (size_t i = 0; i < s->extra.len; i++)
    add_atom(s, s->extra.items[i], time);
  // The whole, too: the same condition later on is decided.
  Constraint c = without_not(s->pool, (Constraint){cond, outcome});
  bool ignored;
  if (!is_decided(s, c.cond, SIZE_MAX, &ignored))
    expr_map_put(&s->decided, c.cond, time << 1 | c.outcome);
  return time;
}

// --- slicing ----------------------------------------------------------------

// Splits the question and drops what is decided. True if that answers it.
static bool answered_by_syntax(Solver *s, size_t prefix,
                               const Constraint *extra, size_t n,
                               SolverResult *result) {
  Constraints all = {0};
  for (size_t i = 0; i < n; i++)
    split(s->pool, extra[i], &all);
  s->extra.len = 0;
  bool refuted = false;
  for (size_t i = 0; i < all.len; i++) {
    bool outcome;
    if (!is_decided(s, all.items[i].cond, prefix, &outcome))
      array_push(&s->extra, all.items[i]);
    else if (outcome != all.items[i].outcome)
      refuted = true;
  }
  array_release(&all);
  *result = refuted ? SOLVER_UNSAT : SOLVER_SAT;
  return refuted || s->extra.len == 0;
}

// Does the run itself satisfy the question?
static bool holds_in_run(const Solver *s) {
  for (size_t i = 0; i < s->extra.len; i++)
    if (expr_value(s->pool, s->extra.items[i].cond) !=
        s->extra.items[i].outcome)
      return false;
  return true;
}

static void add_support(Solver *s, Expr cond, Support *all) {
  Support one = expr_support(s->pool, cond);
  array_push(&s->supports, one);
  *all = support_union(s->pool, *all, one);
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

// Question and slice become the query; the question goes last.
static void make_query(Solver *s, size_t prefix, Query *q) {
  Support all = SUPPORT_EMPTY;
  s->supports.len = s->items.len = s->query.len = s->vars.len = 0;
  for (size_t i = 0; i < s->extra.len; i++)
    add_support(s, s->extra.items[i].cond, &all);
  slice_collect(&s->slice, s->supports.items, s->supports.len, (uint32_t)prefix,
                &s->items);
  if (s->items.len)
    qsort(s->items.items, s->items.len, sizeof(uint32_t), by_number);
  for (size_t i = 0; i < s->items.len; i++) {
    Constraint c = s->atoms.items[s->items.items[i]];
    array_push(&s->query, c);
    all = support_union(s->pool, all, expr_support(s->pool, c.cond));
  }
  for (size_t i = 0; i < s->extra.len; i++)
    array_push(&s->query, s->extra.items[i]);
  support_members(s->pool, all, &s->vars);
  *q = (Query){.items = s->query.items,
               .n = s->query.len,
               .asked = s->extra.len,
               .vars = s->vars.items,
               .nvars = s->vars.len,
               .deadline = clock_now() + s->limits.seconds};
}

// --- engines ----------------------------------------------------------------

static bool bits_take(Solver *s, const Query *q) {
  for (size_t i = 0; i < q->n; i++)
    if (!bit_engine_takes(s->lazy.narrow, q->items[i].cond))
      return false;
  return true;
}

static SmtEngine *smt(Solver *s) {
  if (!s->smt)
    s->smt = smt_engine_new(s->pool);
  return s->smt;
}

static SolverEngine route(Solver *s, const Query *q, SolverResult *result,
                          Model *out) {
  if (!s->off[ENGINE_ENUMERATE] &&
      (enumerator_solve(&s->enumerator, q, result, out) ||
       interval_solve(s->pool, q, result, out)))
    return ENGINE_ENUMERATE;
  out->len = 0;
  if (!s->off[ENGINE_BITS] && bits_take(s, q)) {
    *result = lazy_solve(&s->lazy, q, &s->limits, out);
    return ENGINE_BITS;
  }
  *result = SOLVER_SAT;
  if (!s->off[ENGINE_ENUMERATE] &&
      (guess_solve(&s->eval, q, out) ||
       enumerator_try(&s->enumerator, q, result, out)))
    return ENGINE_ENUMERATE;
  out->len = 0;
  *result = SOLVER_UNKNOWN;
  if (!s->off[ENGINE_Z3])
    *result = smt_engine_solve(smt(s), q, &s->limits, out);
  return ENGINE_Z3;
}

// --- models -----------------------------------------------------------------

static void load_model(Solver *s, const Model *m) {
  expr_eval_clear(&s->eval);
  for (size_t i = 0; i < m->len; i++)
    expr_eval_set(&s->eval, m->items[i].var, m->items[i].value);
}

static bool holds(Solver *s, Constraint c) {
  uint64_t value;
  return expr_eval(&s->eval, c.cond, &value) && value == c.outcome;
}

static bool all_hold(Solver *s, const Query *q) {
  for (size_t i = 0; i < q->n; i++)
    if (!holds(s, q->items[i]))
      return false;
  return true;
}

// Those in which `v` occurs.
static bool hold_about(Solver *s, const Query *q, VarId v) {
  for (size_t i = 0; i < q->n; i++) {
    Support p = expr_support(s->pool, q->items[i].cond);
    if (support_has(s->pool, p, v) && !holds(s, q->items[i]))
      return false;
  }
  return true;
}

static size_t count_changed(const Solver *s, const Model *m) {
  size_t n = 0;
  for (size_t i = 0; i < m->len; i++)
    n += m->items[i].value != expr_var_value(s->pool, m->items[i].var);
  return n;
}

// Inputs that can go back to their value in the run do, one after the other.
static void undo_changes(Solver *s, const Query *q, Model *m) {
  if (count_changed(s, m) < 2 || count_changed(s, m) > 16)
    return;
  for (size_t i = 0; i < m->len; i++) {
    Binding *b = &m->items[i];
    uint64_t run = expr_var_value(s->pool, b->var);
    if (b->value == run)
      continue;
    expr_eval_set(&s->eval, b->var, run);
    if (hold_about(s, q, b->var))
      b->value = run;
    else
      expr_eval_set(&s->eval, b->var, b->value);
  }
}

static void drop_unchanged(const Solver *s, Model *m) {
  size_t kept = 0;
  for (size_t i = 0; i < m->len; i++)
    if (m->items[i].value != expr_var_value(s->pool, m->items[i].var))
      m->items[kept++] = m->items[i];
  m->len = kept;
}

// False if the model is none.
static bool finish_model(Solver *s, const Query *q, Model *m) {
  load_model(s, m);
  if (!all_hold(s, q))
    return false;
  undo_changes(s, q, m);
  drop_unchanged(s, m);
  return true;
}

// --- queries ----------------------------------------------------------------

static void count(Solver *s, SolverEngine e, SolverResult r, double start) {
  SolverStats *st = &s->stats;
  double seconds = clock_now() - start;
  st->queries++;
  st->by_engine[e]++;
  st->seconds_by[e] += seconds;
  st->seconds += seconds;
  st->sat += r == SOLVER_SAT;
  st->unsat += r == SOLVER_UNSAT;
  st->unknown += r == SOLVER_UNKNOWN;
}

static SolverEngine answer(Solver *s, size_t prefix, const Constraint *extra,
                           size_t n, SolverResult *result, Model *out) {
  if (answered_by_syntax(s, prefix, extra, n, result))
    return ENGINE_SYNTAX;
  if (holds_in_run(s)) {
    *result = SOLVER_SAT;
    return ENGINE_SYNTAX;
  }
  Query q;
  make_query(s, prefix, &q);
  SolverEngine e = route(s, &q, result, out);
  s->stats.timeouts += *result == SOLVER_UNKNOWN;
  if (*result == SOLVER_SAT && !finish_model(s, &q, out)) {
    s->stats.bad_models++;
    *result = SOLVER_UNKNOWN;
  }
  return e;
}

SolverResult solver_query(Solver *s, size_t prefix, const Constraint *extra,
                          size_t n, Model *out) {
  assert(prefix <= s->path.len);
  double start = clock_now();
  SolverResult result;
  out->len = 0;
  SolverEngine e = answer(s, prefix, extra, n, &result, out);
  if (result != SOLVER_SAT)
    out->len = 0;
  count(s, e, result, start);
  return result;
}

SolverResult solver_flip(Solver *s, size_t i, Model *out) {
  Constraint c = solver_constraint(s, i);
  c.outcome = !c.outcome;
  return solver_query(s, i, &c, 1, out);
}
