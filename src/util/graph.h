// Directed graphs over numbers, and their dominators.
#ifndef CULPRIT_UTIL_GRAPH_H
#define CULPRIT_UTIL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"

typedef ARRAY(uint32_t) NumberList;

#define GRAPH_NONE UINT32_MAX

typedef struct {
  size_t n;
  NumberList *succs; // of each node
} Graph;

void graph_init(Graph *g, size_t n);
void graph_add(Graph *g, uint32_t from, uint32_t to);
void graph_release(Graph *g);
// The same with all edges turned round.
void graph_reverse(const Graph *g, Graph *out);

// Dominators of everything that can be reached from `root`.
typedef struct {
  NumberList by_order; // reachable nodes in reverse postorder
  uint32_t *order;     // node -> its place there, GRAPH_NONE: not reachable
  uint32_t *parent;    // node -> immediate dominator; the root's is itself,
                       // GRAPH_NONE: not reachable
} Dominators;

void dominators_find(Dominators *d, const Graph *g, uint32_t root);
void dominators_release(Dominators *d);
bool dominates(const Dominators *d, uint32_t a, uint32_t b);

#endif
