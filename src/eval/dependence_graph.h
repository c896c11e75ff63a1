// The program dependence graph of a version, for scores (eval/pdg_score.h):
// from the dependences that its program carries (instrument/pdg.h) to the
// statements of its session.
//
// Nodes that stand for a function are stations on the way, not statements: they
// take a step but are not counted. Those of functions that no unit defines are
// left out: every caller of printf would be the neighbour of every other.
#ifndef CULPRIT_EVAL_DEPENDENCE_GRAPH_H
#define CULPRIT_EVAL_DEPENDENCE_GRAPH_H

#include <stdint.h>

#include "eval/pdg_score.h"
#include "model/ranking.h"
#include "model/suite.h"
#include "util/err.h"

// Writes the dependences of `program` to `path`; `scratch` is a directory.
int dependence_graph_write(const char *program, const char *scratch,
                           const char *path, Err *err);

typedef struct {
  Pdg pdg;
  uint32_t *nodes; // per entity of the suite: its node; ENTITY_NONE: none
} DependenceGraph;

// From the text of such a file.
int dependence_graph_parse(DependenceGraph *g, const Suite *suite,
                           const char *text, Err *err);
int dependence_graph_read(DependenceGraph *g, const Suite *suite,
                          const char *path, Err *err);
void dependence_graph_release(DependenceGraph *g);

enum { GRAPH_REPORT = 5 };
// The score of the first GRAPH_REPORT statements of a ranking.
PdgScore dependence_graph_score(const DependenceGraph *g, const Ranking *r,
                                const uint32_t *faulty, size_t nfaulty);

#endif
