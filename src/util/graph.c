// Directed graphs over numbers: see graph.h. Dominators by iteration over the
// reverse postorder (Cooper, Harvey, Kennedy).
#include "util/graph.h"

#include <stdlib.h>

void graph_init(Graph *g, size_t n) {
  *g = (Graph){n, mem_array(NumberList, n)};
}

void graph_add(Graph *g, uint32_t from, uint32_t to) {
  array_push(&g->succs[from], to);
}

void graph_release(Graph *g) {
  for (size_t i = 0; i < g->n; i++)
    array_release(&g->succs[i]);
  free(g->succs);
  *g = (Graph){0};
}

void graph_reverse(const Graph *g, Graph *out) {
  graph_init(out, g->n);
  for (uint32_t i = 0; i < g->n; i++)
    for (size_t k = 0; k < g->succs[i].len; k++)
      graph_add(out, g->succs[i].items[k], i);
}

static void postorder(const Graph *g, uint32_t root, NumberList *out) {
  struct Frame {
    uint32_t node;
    size_t next;
  };
  ARRAY(struct Frame) path = {0};
  bool *seen = mem_array(bool, g->n);
  array_push(&path, (struct Frame){root, 0});
  seen[root] = true;
  while (path.len) {
    struct Frame *top = &array_last(&path);
    const NumberList *succs = &g->succs[top->node];
    if (top->next == succs->len) {
      array_push(out, top->node);
      path.len--;
      continue;
    }
    uint32_t s = succs->items[top->next++];
    if (!seen[s]) {
      seen[s] = true;
      array_push(&path, (struct Frame){s, 0});
    }
  }
  array_release(&path);
  free(seen);
}

static void turn_round(NumberList *a) {
  for (size_t i = 0, j = a->len; i + 1 < j; i++) {
    uint32_t t = a->items[i];
    a->items[i] = a->items[--j];
    a->items[j] = t;
  }
}

// The nearest common dominator.
static uint32_t meet(const Dominators *d, uint32_t a, uint32_t b) {
  while (a != b) {
    while (d->order[a] > d->order[b])
      a = d->parent[a];
    while (d->order[b] > d->order[a])
      b = d->parent[b];
  }
  return a;
}

static bool improve(Dominators *d, uint32_t from, uint32_t to, uint32_t root) {
  if (to == root)
    return false;
  uint32_t parent =
      d->parent[to] == GRAPH_NONE ? from : meet(d, d->parent[to], from);
  bool changed = parent != d->parent[to];
  d->parent[to] = parent;
  return changed;
}

void dominators_find(Dominators *d, const Graph *g, uint32_t root) {
  *d = (Dominators){.order = mem_array(uint32_t, g->n),
                    .parent = mem_array(uint32_t, g->n)};
  for (size_t i = 0; i < g->n; i++)
    d->order[i] = d->parent[i] = GRAPH_NONE;
  postorder(g, root, &d->by_order);
  turn_round(&d->by_order);
  for (uint32_t i = 0; i < d->by_order.len; i++)
    d->order[d->by_order.items[i]] = i;
  d->parent[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < d->by_order.len; i++) {
      uint32_t from = d->by_order.items[i];
      for (size_t k = 0; k < g->succs[from].len; k++)
        changed |= improve(d, from, g->succs[from].items[k], root);
    }
  }
}

void dominators_release(Dominators *d) {
  array_release(&d->by_order);
  free(d->order);
  free(d->parent);
  *d = (Dominators){0};
}

bool dominates(const Dominators *d, uint32_t a, uint32_t b) {
  if (d->order[a] == GRAPH_NONE || d->order[b] == GRAPH_NONE)
    return false;
  while (d->order[b] > d->order[a])
    b = d->parent[b];
  return a == b;
}
