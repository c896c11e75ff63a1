// The score of a report over the program dependence graph: how much of the
// program need not be looked at.
//
// Someone reads the reported statements, then all that depend on them or that
// they depend on, then the neighbours of those, layer by layer, until a layer
// holds a faulty statement. Whole layers count: score = 1 - examined / all. A
// report that is empty scores 0, and so does one from which no faulty statement
// can be reached: then everything is looked at. (Renieris and Reiss 2003; the
// T-score is the same from the statements of the five best predicates.)
//
//   1 -> 2 -> 3 -> 4     report {1}, faulty {3}: layers {1} {2} {3},
//                        3 of 4 examined, score 0.25
#ifndef CULPRIT_EVAL_PDG_SCORE_H
#define CULPRIT_EVAL_PDG_SCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"

typedef struct {
  uint32_t from, to;
} PdgEdge;

// Nodes are numbered from 0, statements first. Others take a step, but are
// nothing to look at. An edge is followed both ways, so whether it is a control
// or a data dependence, and of whom on whom, does not matter.
typedef struct {
  size_t nnodes, nstatements;
  ARRAY(PdgEdge) edges;
  // Made by pdg_close: neighbours[first[s] .. first[s + 1]) of node s.
  uint32_t *neighbours;
  size_t *first;
} Pdg;

// One edge may be given several times, also from a node to itself.
void pdg_init(Pdg *g, size_t nnodes, size_t nstatements);
void pdg_edge(Pdg *g, uint32_t from, uint32_t to);
void pdg_close(Pdg *g); // after the last edge, before the first question
void pdg_release(Pdg *g);

typedef struct {
  double score;    // 0 ... 1, more is better
  size_t examined; // statements looked at
  size_t layers;   // the report itself is the first
  bool found;      // a faulty statement was met
} PdgScore;

PdgScore pdg_score(const Pdg *g, const uint32_t *reported, size_t nreported,
                   const uint32_t *faulty, size_t nfaulty);

// The same with edges followed one way at a time: what the reported statements
// depend on, and what depends on them, but not what else depends on the former.
// That is how Wang and Roychoudhury 2005 define DS(n): layers are smaller, but
// more may be needed, and a fault that is not met that way scores 0.
//
//   1 -> 2 <- 3          report {1}, faulty {3}: not met
PdgScore pdg_score_directed(const Pdg *g, const uint32_t *reported,
                            size_t nreported, const uint32_t *faulty,
                            size_t nfaulty);

#endif
