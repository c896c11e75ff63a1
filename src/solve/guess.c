// Before Z3 is asked about strings, PHP integers or floats: tries the constants
// that occur in the conditions. `$_GET['page'] == "login"` is answered by
// "login". Inputs are tried one at a time, the others keep their value in the
// run. Answers SAT or nothing.
#include "solve/solver_query.h"

#define MAX_VARS 8
#define MAX_NODES 2000
#define MAX_TRIES 300

static void add_candidate(ExprSort sort, uint64_t value, Model *out) {
  // The sort stands where the variable will.
  array_push(out, (Binding){sort.kind << 8 | sort.width, value});
}

static void add_constant(const ExprNode *n, Model *out) {
  add_candidate(n->sort, n->value, out);
  if (n->sort.kind != SORT_INT)
    return;
  add_candidate(n->sort, n->value + 1, out);
  add_candidate(n->sort, n->value - 1, out);
}

// The constants of the query, and what is worth a try anyway.
static void collect(ExprPool *p, const Query *q, Model *out) {
  ExprMap seen = {0};
  ExprList nodes = {0};
  bool ok = true;
  for (size_t i = 0; i < q->n && ok; i++)
    ok = expr_walk(p, &q->items[i].cond, 1, MAX_NODES, &seen, &nodes);
  for (size_t i = 0; i < nodes.len && ok; i++) {
    const ExprNode *n = expr_node(p, nodes.items[i]);
    if (n->op == EXPR_CONST && n->sort.kind != SORT_BV)
      add_constant(n, out);
  }
  add_candidate(expr_str_sort(), expr_text_id(p, "", 0), out);
  add_candidate(expr_str_sort(), expr_text_id(p, "1", 1), out);
  add_candidate(expr_int_sort(), 0, out);
  expr_map_release(&seen);
  array_release(&nodes);
}

static bool all_hold(ExprEval *ev, const Query *q) {
  for (size_t i = q->n; i-- > 0;) { // the question is last, and fails most
    uint64_t value;
    if (!expr_eval(ev, q->items[i].cond, &value) ||
        value != q->items[i].outcome)
      return false;
  }
  return true;
}

static bool try_var(ExprEval *ev, const Query *q, VarId v,
                    const Model *candidates, Model *out) {
  ExprSort sort = expr_var_sort(ev->pool, v);
  VarId mark = sort.kind << 8 | sort.width;
  for (size_t i = 0; i < candidates->len && i < MAX_TRIES; i++) {
    const Binding *c = &candidates->items[i];
    if (c->var != mark)
      continue;
    expr_eval_clear(ev);
    expr_eval_set(ev, v, c->value);
    if (all_hold(ev, q)) {
      array_push(out, (Binding){v, c->value});
      return true;
    }
  }
  return false;
}

bool guess_solve(ExprEval *ev, const Query *q, Model *out) {
  Model candidates = {0};
  bool found = false;
  if (q->nvars <= MAX_VARS)
    collect(ev->pool, q, &candidates);
  for (size_t i = 0; i < q->nvars && candidates.len && !found; i++)
    if (expr_var_sort(ev->pool, q->vars[i]).kind != SORT_BV)
      found = try_var(ev, q, q->vars[i], &candidates, out);
  model_release(&candidates);
  return found;
}
