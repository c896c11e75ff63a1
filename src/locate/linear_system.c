// Sparse linear systems over a graph: see linear_system.h.
//
// Tarjan's algorithm finds the components with those first that the others
// lead to: when one is found, all it depends on outside itself is known.
//
// A component of several nodes goes to KLU, which wants columns: it is given
// the rows of the system as columns and solves with the transpose.
#include "locate/linear_system.h"

#include <math.h>
#include <stdlib.h>
#include <suitesparse/klu.h>

#include "util/array.h"
#include "util/mem.h"

#define LIMIT 1e100          // of every value
#define WORST_CONDITION 1e13 // of a component's matrix
#define WORST_RESIDUAL 1e-8  // relative
#define SINGULAR 1e-13       // relative: what is left of a cancelled diagonal
#define MOST_OPERATIONS 1e9  // of a factorisation: a second or two

#define NONE UINT32_MAX

typedef struct {
  const GraphSystem *s;
  double *y;
  bool *solved;
  // Tarjan: when a node was met (0: not yet), the earliest node it leads back
  // to, and the nodes whose component is still open.
  uint32_t *met, *low, clock;
  ARRAY(uint32_t) open;
  // The component at hand.
  uint32_t *place;  // node -> its row, NONE outside
  ARRAY(int) start; // row i: entries start[i] to start[i + 1]
  ARRAY(int) column;
  ARRAY(double) value;
  ARRAY(double) right; // right-hand side
  ARRAY(double) answer;
  int *at; // column -> its entry in the row at hand
  klu_common klu;
} ComponentSolver;

static double limited(double x) {
  return isnan(x) ? 0 : fmin(fmax(x, -LIMIT), LIMIT);
}

static void give_up(ComponentSolver *v, const uint32_t *nodes, size_t n) {
  for (size_t i = 0; i < n; i++) {
    v->y[nodes[i]] = limited(v->s->instead[nodes[i]]);
    v->solved[nodes[i]] = false;
  }
}

// --- one node ---------------------------------------------------------------

static void solve_node(ComponentSolver *v, uint32_t j) {
  const GraphSystem *s = v->s;
  double right = s->given[j], own = s->own[j], size = fabs(s->own[j]);
  for (uint32_t e = s->first[j]; e < s->first[j + 1]; e++) {
    if (s->to[e] == j) {
      own -= s->weight[e];
      size += fabs(s->weight[e]);
    } else if (s->weight[e] != 0) {
      right += s->weight[e] * v->y[s->to[e]];
    }
  }
  if (fabs(own) <= SINGULAR * size) {
    give_up(v, &j, 1);
    return;
  }
  v->y[j] = limited(right / own);
  v->solved[j] = true;
}

// --- a component of several nodes -------------------------------------------

static void add_entry(ComponentSolver *v, uint32_t column, double value) {
  int at = v->at[column];
  if (at >= array_last(&v->start)) {
    v->value.items[at] += value;
    return;
  }
  v->at[column] = (int)v->column.len;
  array_push(&v->column, (int)column);
  array_push(&v->value, value);
}

// The row of node j: own * y[j] - weights inside = given + weights outside.
static void add_row(ComponentSolver *v, uint32_t j) {
  const GraphSystem *s = v->s;
  double right = s->given[j];
  add_entry(v, v->place[j], s->own[j]);
  for (uint32_t e = s->first[j]; e < s->first[j + 1]; e++) {
    if (s->weight[e] == 0)
      continue;
    if (v->place[s->to[e]] == NONE)
      right += s->weight[e] * v->y[s->to[e]];
    else
      add_entry(v, v->place[s->to[e]], -s->weight[e]);
  }
  array_push(&v->start, (int)v->column.len);
  array_push(&v->right, limited(right));
}

static void build_rows(ComponentSolver *v, const uint32_t *nodes, size_t n) {
  v->start.len = v->column.len = v->value.len = v->right.len = 0;
  array_push(&v->start, 0);
  for (size_t i = 0; i < n; i++)
    v->place[nodes[i]] = (uint32_t)i;
  for (size_t i = 0; i < n; i++)
    v->at[i] = -1;
  for (size_t i = 0; i < n; i++)
    add_row(v, nodes[i]);
  for (size_t i = 0; i < n; i++)
    v->place[nodes[i]] = NONE;
}

// Is the answer one, after all the rounding?
static bool answers(const ComponentSolver *v, size_t n) {
  double worst = 0, size = 0;
  for (size_t i = 0; i < n; i++) {
    double rest = v->right.items[i], row = fabs(v->right.items[i]);
    for (int e = v->start.items[i]; e < v->start.items[i + 1]; e++) {
      double part = v->value.items[e] * v->answer.items[v->column.items[e]];
      rest -= part;
      row += fabs(part);
    }
    if (!isfinite(rest))
      return false;
    worst = fmax(worst, fabs(rest));
    size = fmax(size, row);
  }
  return worst <= WORST_RESIDUAL * size;
}

static bool factor_and_solve(ComponentSolver *v, klu_symbolic *symbolic,
                             size_t n) {
  if (symbolic->est_flops > MOST_OPERATIONS)
    return false;
  klu_numeric *numeric = klu_factor(v->start.items, v->column.items,
                                    v->value.items, symbolic, &v->klu);
  if (!numeric)
    return false;
  bool good =
      v->klu.status == KLU_OK &&
      klu_condest(v->start.items, v->value.items, symbolic, numeric, &v->klu) &&
      v->klu.condest <= WORST_CONDITION &&
      klu_tsolve(symbolic, numeric, (int)n, 1, v->answer.items, &v->klu) &&
      answers(v, n);
  klu_free_numeric(&numeric, &v->klu);
  return good;
}

static void solve_component(ComponentSolver *v, const uint32_t *nodes,
                            size_t n) {
  build_rows(v, nodes, n);
  v->answer.len = 0;
  array_reserve(&v->answer, n);
  for (size_t i = 0; i < n; i++)
    array_push(&v->answer, v->right.items[i]);
  klu_symbolic *symbolic =
      klu_analyze((int)n, v->start.items, v->column.items, &v->klu);
  bool good = symbolic && factor_and_solve(v, symbolic, n);
  klu_free_symbolic(&symbolic, &v->klu);
  if (!good) {
    give_up(v, nodes, n);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    v->y[nodes[i]] = limited(v->answer.items[i]);
    v->solved[nodes[i]] = true;
  }
}

// --- components -------------------------------------------------------------

static void enter(ComponentSolver *v, uint32_t node) {
  v->met[node] = v->low[node] = ++v->clock;
  array_push(&v->open, node);
}

// All that `root` leads to is known: what is open above it is its component.
static void close_component(ComponentSolver *v, uint32_t root) {
  size_t from = v->open.len;
  while (v->open.items[--from] != root)
    ;
  const uint32_t *nodes = v->open.items + from;
  size_t n = v->open.len - from;
  if (n == 1)
    solve_node(v, root);
  else
    solve_component(v, nodes, n);
  for (size_t i = 0; i < n; i++)
    v->low[nodes[i]] = NONE; // closed
  v->open.len = from;
}

static void lower(uint32_t *low, uint32_t to) {
  if (to < *low)
    *low = to;
}

// Depth first from `root`, without recursion: functions have 50,000 blocks.
static void visit(ComponentSolver *v, uint32_t root) {
  const GraphSystem *s = v->s;
  struct Frame {
    uint32_t node, next;
  };
  ARRAY(struct Frame) path = {0};
  enter(v, root);
  array_push(&path, (struct Frame){root, s->first[root]});
  while (path.len) {
    struct Frame *top = &array_last(&path);
    uint32_t node = top->node;
    if (top->next < s->first[node + 1]) {
      uint32_t e = top->next++, to = s->to[e];
      if (s->weight[e] == 0 || v->low[to] == NONE)
        continue;
      if (v->met[to]) {
        lower(&v->low[node], v->met[to]);
        continue;
      }
      enter(v, to);
      array_push(&path, (struct Frame){to, s->first[to]});
      continue;
    }
    path.len--;
    uint32_t low = v->low[node];
    if (low == v->met[node])
      close_component(v, node);
    else
      lower(&v->low[array_last(&path).node], low);
  }
  array_release(&path);
}

void graph_solve(const GraphSystem *s, double *y, bool *solved) {
  ComponentSolver v = {.s = s, .y = y, .solved = solved};
  v.met = mem_array(uint32_t, s->n);
  v.low = mem_array(uint32_t, s->n);
  v.place = mem_array(uint32_t, s->n);
  v.at = mem_array(int, s->n);
  for (uint32_t j = 0; j < s->n; j++)
    v.place[j] = NONE;
  klu_defaults(&v.klu);
  for (uint32_t j = 0; j < s->n; j++)
    if (!v.met[j])
      visit(&v, j);
  free(v.met);
  free(v.low);
  free(v.place);
  free(v.at);
  array_release(&v.open);
  array_release(&v.start);
  array_release(&v.column);
  array_release(&v.value);
  array_release(&v.right);
  array_release(&v.answer);
}
