// The engine for bit-vectors: one incremental SAT solver, into which the
// conditions of each query are bit-blasted once and then assumed.
//
// A SAT solver answers by assigning all its variables, also those of earlier
// queries about other inputs. So a solver that has grown far beyond what one
// query needs is thrown away, and the next query begins a new one.
#include <stdlib.h>

#include "solve/bitblast.h"
#include "solve/solver_query.h"
#include "util/clock.h"

#define KEEP_GATES 1500 // a solver of this size is always kept
#define KEEP_FACTOR 4   // and one of this many times what a query took

typedef struct {
  Lit value, defined;
} Assumption;

struct BitEngine {
  ExprPool *pool;
  SolverStats *stats;
  Bitblast blast;
  bool begun;
  uint32_t first_gates; // of the first query of this solver
  ExprMap taken;        // expression -> does it consist of BV and INT alone?
  ExprList nodes;       // scratch
  ARRAY(Assumption) assumed;
};

BitEngine *bit_engine_new(ExprPool *p, SolverStats *stats) {
  BitEngine *b = mem_new(BitEngine);
  b->pool = p;
  b->stats = stats;
  bitblast_init(&b->blast, p);
  return b;
}

void bit_engine_free(BitEngine *b) {
  if (!b)
    return;
  bitblast_release(&b->blast);
  expr_map_release(&b->taken);
  array_release(&b->nodes);
  array_release(&b->assumed);
  free(b);
}

// --- what it takes ----------------------------------------------------------

static bool takes_node(const BitEngine *b, const ExprNode *n) {
  if (n->sort.kind == SORT_FP || n->sort.kind == SORT_STR)
    return false;
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
    if (!*expr_map_get(&b->taken, n->arg[i]))
      return false;
  return true;
}

bool bit_engine_takes(BitEngine *b, Expr cond) {
  if (!expr_pool_has(b->pool, SORT_FP) && !expr_pool_has(b->pool, SORT_STR))
    return true;
  b->nodes.len = 0;
  expr_walk(b->pool, &cond, 1, 0, &b->taken, &b->nodes);
  for (size_t i = 0; i < b->nodes.len; i++)
    expr_map_put(&b->taken, b->nodes.items[i],
                 takes_node(b, expr_node(b->pool, b->nodes.items[i])));
  return *expr_map_get(&b->taken, cond);
}

// --- solving ----------------------------------------------------------------

static void renew_if_large(BitEngine *b) {
  uint32_t keep = KEEP_FACTOR * b->first_gates;
  keep = keep > KEEP_GATES ? keep : KEEP_GATES;
  if (!b->begun || gates_count(b->blast.gates) <= keep)
    return;
  bitblast_release(&b->blast);
  bitblast_init(&b->blast, b->pool);
  b->begun = false;
}

// Circuits for all conditions; false if they become too large or it takes too
// long.
static bool build(BitEngine *b, const Query *q, uint32_t max_gates) {
  Gates *g = b->blast.gates;
  uint32_t before = gates_count(g), used = 0;
  b->assumed.len = 0;
  bool ok = true;
  for (size_t i = 0; i < q->n && ok; i++) {
    Assumption a;
    ok = used <= max_gates &&
         bitblast_condition(&b->blast, q->items[i].cond, max_gates - used,
                            q->deadline, &a.value, &a.defined);
    used = gates_count(g) - before;
    if (ok)
      array_push(&b->assumed, a);
    if (i % 64 == 63 && clock_now() > q->deadline)
      ok = false;
  }
  b->first_gates = b->begun ? b->first_gates : used;
  b->begun = true;
  return ok;
}

static Lit wanted(const BitEngine *b, const Query *q, size_t i) {
  Lit l = b->assumed.items[i].value;
  return q->items[i].outcome ? l : -l;
}

static void assume_all(BitEngine *b, const Query *q) {
  Gates *g = b->blast.gates;
  for (size_t i = 0; i < q->n; i++) {
    if (wanted(b, q, i) != LIT_TRUE)
      gates_assume(g, wanted(b, q, i));
    if (b->assumed.items[i].defined != LIT_TRUE)
      gates_assume(g, b->assumed.items[i].defined);
  }
}

static void read_model(const BitEngine *b, const Query *q, Model *out) {
  for (size_t i = 0; i < q->nvars; i++) {
    VarId v = q->vars[i];
    array_push(out, (Binding){v, bitblast_model(&b->blast, v)});
  }
}

SolverResult bit_engine_solve(BitEngine *b, const Query *q,
                              const SolverLimits *limits, Model *out) {
  renew_if_large(b);
  Gates *g = b->blast.gates;
  uint32_t gates = gates_count(g);
  uint64_t clauses = gates_clauses(g);
  bool built = build(b, q, limits->gates);
  b->stats->gates += gates_count(g) - gates;
  b->stats->clauses += gates_clauses(g) - clauses;
  if (!built)
    return SOLVER_UNKNOWN;
  assume_all(b, q);
  GatesResult r = gates_solve(g, limits->conflicts, q->deadline);
  if (r == GATES_SAT)
    read_model(b, q, out);
  return r == GATES_SAT     ? SOLVER_SAT
         : r == GATES_UNSAT ? SOLVER_UNSAT
                            : SOLVER_UNKNOWN;
}
