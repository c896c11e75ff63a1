// Cores: see core.h.
#include "spec/core.h"

#include <stdlib.h>

#include "sym/gates.h"

enum {
  CONFLICTS = 50000000,
  GATES = 18000000, // about 2 GB
  NODES = 4000000,
  CHECK_SHARE = 4
};

void core_release(Core *c) {
  array_release(&c->statements);
  array_release(&c->guards);
}

// The clause holds, and nothing happens that is assumed away.
static Expr wanted(Encoder *e, uint32_t clause) {
  Expr holds = encoder_clause(e, clause);
  Expr dead = encoder_clause_dead(e, clause);
  return holds ? expr_and(e->pool, holds, expr_not(e->pool, dead)) : 0;
}

static Solver *new_solver(Encoder *e, double seconds) {
  return solver_new(e->pool, (SolverLimits){.seconds = seconds,
                                            .conflicts = CONFLICTS,
                                            .gates = GATES,
                                            .nodes = NODES});
}

typedef struct {
  ARRAY(Constraint) items;
  StatementList origin; // statement of each
} Question;

static void question_release(Question *q) {
  array_release(&q->items);
  array_release(&q->origin);
}

static void add_question(Question *q, Expr cond, uint32_t statement) {
  array_push(&q->items, (Constraint){cond, true});
  array_push(&q->origin, statement);
}

// What the clause says comes first: deletion begins with the last.
static void ask_all(const Encoder *e, Expr want, Question *q) {
  add_question(q, want, UINT32_MAX);
  for (uint32_t i = 0; i < e->statements.len; i++)
    if (e->statements.items[i].on)
      add_question(q, e->statements.items[i].on, i);
}

// Is it unsatisfiable for Z3, too? Asked anew and as a whole: what it is given
// as facts it can simplify by.
static bool check(Encoder *e, const Question *q, const CoreList *core,
                  double seconds) {
  Solver *s = new_solver(e, seconds);
  Question small = {0};
  Model model = {0};
  for (size_t i = 0; i < core->len; i++)
    add_question(&small, q->items.items[core->items[i]].cond, 0);
  solver_use(s, ENGINE_ENUMERATE, false);
  solver_use(s, ENGINE_BITS, false);
  SolverResult r =
      solver_query(s, 0, small.items.items, small.items.len, &model);
  question_release(&small);
  model_release(&model);
  solver_free(s);
  return r == SOLVER_UNSAT;
}

// No expression may be constant in a question.
static bool is_trivial(Encoder *e, Expr want, Core *out) {
  if (!expr_is_const(e->pool, want))
    return false;
  out->satisfiable = expr_value(e->pool, want);
  out->minimal = out->checked = true;
  return true;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static void take_core(const Question *q, const CoreList *core, Core *out) {
  for (size_t i = 0; i < core->len; i++)
    if (q->origin.items[core->items[i]] != UINT32_MAX)
      array_push(&out->statements, q->origin.items[core->items[i]]);
  if (out->statements.len)
    qsort(out->statements.items, out->statements.len, sizeof(uint32_t),
          by_number);
}

static int solve(Encoder *e, Expr want, double seconds, Core *out, Err *err) {
  Solver *s = new_solver(e, seconds);
  Question q = {0};
  CoreList core = {0};
  ask_all(e, want, &q);
  SolverResult r = solver_core(s, q.items.items, q.items.len, true, seconds,
                               &core, &out->minimal);
  int rc = 0;
  if (r == SOLVER_UNSAT) {
    take_core(&q, &core, out);
    out->checked = check(e, &q, &core, seconds / CHECK_SHARE);
  } else if (r == SOLVER_SAT) {
    out->satisfiable = true;
  } else {
    rc = err_set(err,
                 "no answer from the solver within %.0f s; give it more time "
                 "(--budget) or a smaller failing call",
                 seconds);
  }
  question_release(&q);
  array_release(&core);
  solver_free(s);
  return rc;
}

// --- omissions --------------------------------------------------------------

static bool assigns(const Encoder *e, const Core *c) {
  for (size_t i = 0; i < c->statements.len; i++)
    if (e->statements.items[c->statements.items[i]].assigns)
      return true;
  return false;
}

static void list_guards(const Encoder *e, Core *c) {
  for (uint32_t i = 0; i < e->statements.len; i++)
    if (e->statements.items[i].branches && e->statements.items[i].ran)
      array_push(&c->guards, i);
}

int core_find(Encoder *e, uint32_t clause, double seconds, Core *out,
              Err *err) {
  *out = (Core){0};
  double start = gates_clock();
  Expr want = wanted(e, clause);
  if (!want)
    return err_set(err, "clause %u is not evaluated by the call", clause);
  int rc = is_trivial(e, want, out) ? 0 : solve(e, want, seconds, out, err);
  if (!rc && !out->satisfiable && !assigns(e, out)) {
    out->omission = true;
    list_guards(e, out);
  }
  out->seconds = gates_clock() - start;
  return rc;
}

int core_corrections(Encoder *e, uint32_t clause, double seconds,
                     StatementList *out, Err *err) {
  Expr want = wanted(e, clause);
  if (!want || expr_is_const(e->pool, want))
    return 0;
  Question q = {0};
  ask_all(e, want, &q);
  Solver *s = new_solver(e, seconds);
  double deadline = gates_clock() + seconds;
  int rc = 0;
  for (size_t i = 1; i < q.items.len && !rc; i++) {
    if (gates_clock() > deadline)
      rc = err_set(err, "no time left for further corrections");
    Constraint left_out = q.items.items[i];
    CoreList core = {0};
    q.items.items[i] = q.items.items[0];
    if (!rc && solver_core(s, q.items.items, q.items.len, false, seconds, &core,
                           NULL) == SOLVER_SAT)
      array_push(out, q.origin.items[i]);
    q.items.items[i] = left_out;
    array_release(&core);
  }
  question_release(&q);
  solver_free(s);
  return rc;
}
