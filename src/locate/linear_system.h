// Sparse linear systems over a graph, one unknown per node:
//
//   own[j] * y[j]  =  given[j]  +  sum over edges j -> k of weight * y[k]
//
// Such systems fall apart into the strongly connected components of the graph:
// a node that lies on no cycle follows from its successors at once; only a
// cycle (a loop of the program) is a system of its own, which sparse LU (KLU)
// solves. What has no answer in one loop has its answers elsewhere.
//
// A component has no answer if its matrix is singular, so badly conditioned
// that rounding decides (condition number above 1e13), or so entangled that
// factorising it would take minutes (thousands of nodes, each jumping
// anywhere). Its nodes then take the value the caller offers instead, and what
// depends on them goes on from there. Every y is finite and within +-1e100.
#ifndef CULPRIT_LOCATE_LINEAR_SYSTEM_H
#define CULPRIT_LOCATE_LINEAR_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t n;            // nodes
  const uint32_t *first; // edges of node j: first[j] to first[j + 1]
  const uint32_t *to;    // per edge; there may be several between two nodes
  const double *weight;  // per edge; those of weight 0 do not count
  const double *own;     // per node, not 0
  const double *given;   // per node
  const double *instead; // per node: its value if its component has no answer
} GraphSystem;

// Writes y[j], and solved[j] = false where `instead` had to do.
void graph_solve(const GraphSystem *s, double *y, bool *solved);

#endif
