// Statements that alone could be wrong: see corrections.h.
#include "spec/corrections.h"

#include <stdlib.h>

#include "sym/gates.h"

enum { CONFLICTS = 50000000, GATES = 18000000, NODES = 4000000 };

static bool is_broken(const Violation *v, uint32_t clause) {
  for (size_t i = 0; i < v->nbroken; i++)
    if (v->broken[i] == clause)
      return true;
  return false;
}

// Clause `only` and all that were not broken hold; UINT32_MAX: all clauses.
// Nothing happens that is assumed away.
static Expr wanted(const CorrectionsTask *t, uint32_t only) {
  Encoder *e = t->encoder;
  const ContractTable *table = &t->violation->table;
  Expr all = expr_bool(e->pool, true);
  for (uint32_t k = 0; k < table->nclauses; k++) {
    Expr holds =
        table->clauses[k].kind == CLAUSE_ENSURES &&
                (only == UINT32_MAX || only == k || !is_broken(t->violation, k))
            ? encoder_clause(e, k)
            : 0;
    Expr dead = holds ? encoder_clause_dead(e, k) : 0;
    if (!holds)
      continue;
    all = expr_and(e->pool, all, holds);
    if (dead)
      all = expr_and(e->pool, all, expr_not(e->pool, dead));
  }
  return all;
}

static bool has(const StatementList *l, uint32_t statement) {
  for (size_t i = 0; i < l->len; i++)
    if (l->items[i] == statement)
      return true;
  return false;
}

typedef ARRAY(Constraint) Question;

// Everything but `statement` is on.
static void ask(const Encoder *e, Expr want, uint32_t statement, Question *q) {
  q->len = 0;
  array_push(q, (Constraint){want, true});
  for (uint32_t i = 0; i < e->statements.len; i++)
    if (i != statement && e->statements.items[i].on)
      array_push(q, (Constraint){e->statements.items[i].on, true});
}

typedef struct {
  const CorrectionsTask *task;
  Solver *solver;
  Question question;
  double deadline;
} Search;

// Adds those of `among` with which alone `want` can be.
static bool search(Search *s, Expr want, const StatementList *among,
                   StatementList *out) {
  Encoder *e = s->task->encoder;
  if (expr_is_const(e->pool, want))
    return true;
  for (size_t i = 0; i < among->len; i++) {
    CoreList unused = {0};
    double left = s->deadline - gates_clock();
    if (left <= 0)
      return false;
    if (has(out, among->items[i]) || !e->statements.items[among->items[i]].on)
      continue;
    ask(e, want, among->items[i], &s->question);
    if (solver_core(s->solver, s->question.items, s->question.len, false, left,
                    &unused, NULL) == SOLVER_SAT)
      array_push(out, among->items[i]);
    array_release(&unused);
  }
  return true;
}

// The statements that all cores have.
static void common(const CorrectionsTask *t, StatementList *out) {
  const StatementList *first = &t->cores.items[0]->statements;
  for (size_t i = 0; i < first->len; i++) {
    bool all = true;
    for (size_t k = 1; k < t->cores.len; k++)
      all &= has(&t->cores.items[k]->statements, first->items[i]);
    if (all)
      array_push(out, first->items[i]);
  }
}

// Some broken clause each: where there is more than one fault.
static void search_each(Search *s, Corrections *out) {
  const CorrectionsTask *t = s->task;
  for (size_t i = 0; i < t->cores.len && out->complete; i++)
    out->complete = search(s, wanted(t, t->violation->broken[i]),
                           &t->cores.items[i]->statements, &out->statements);
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

void corrections_find(const CorrectionsTask *t, Corrections *out) {
  Search s = {.task = t, .deadline = gates_clock() + t->seconds};
  StatementList among = {0};
  *out = (Corrections){.complete = true};
  if (!t->cores.len)
    return;
  s.solver = solver_new(t->encoder->pool, (SolverLimits){.seconds = t->seconds,
                                                         .conflicts = CONFLICTS,
                                                         .gates = GATES,
                                                         .nodes = NODES});
  common(t, &among);
  out->complete = search(&s, wanted(t, UINT32_MAX), &among, &out->statements);
  out->whole = out->statements.len > 0;
  if (!out->whole && t->cores.len > 1)
    search_each(&s, out);
  if (out->statements.len)
    qsort(out->statements.items, out->statements.len, sizeof(uint32_t),
          by_number);
  array_release(&among);
  array_release(&s.question);
  solver_free(s.solver);
}
