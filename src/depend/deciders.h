// Control dependence of all blocks of a suite (Ferrante, Ottenstein and Warren
// 1987): which blocks decide whether a block is executed.
//
//   1: if (n < 0)      1 decides about 2
//   2:   n = 0;
//   3: return n;       nothing decides about 3
#ifndef CULPRIT_DEPEND_DECIDERS_H
#define CULPRIT_DEPEND_DECIDERS_H

#include "depend/cfg.h"
#include "model/suite.h"
#include "util/graph.h"

typedef struct {
  Cfg cfg;
  NumberList *of; // by number of a block: the numbers of those that decide
} Deciders;

// The suite must outlive it.
void deciders_find(Deciders *d, const Suite *suite);
void deciders_release(Deciders *d);

#endif
