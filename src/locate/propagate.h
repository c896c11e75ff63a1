// Localization over control flow: CP (Zhang et al. 2009, "Capturing propagation
// of infected program states") and Branch (Santelices et al. 2009).
//
// CP. f(e) and p(e) are the shares of the failing and passing runs that took
// edge e. Its score is d(e) = (f - p) / (f + p); edges that no compared run
// took do not count. A block's score BR flows back over the edges into it, to
// each predecessor by its share of d:
//
//   W(j,k) = d(j->k) / sum of d over all edges into k
//   BR(j)  = sum over the edges j->k of BR(k) * W(j,k)
//   BR(x)  = sum of d over the edges into x,  x an exit block: one without
//            successor in its function
//
//   entry -e1-> b1 -e2-> b2 -e4-> b3 -e6-> b4     with the runs of the paper's
//               b1 -e3-------------------> b4     Figure 1:
//                        b2 -e5----------> b4     BR = .11, 1.11, 1.00, .11
//
// What the paper leaves open, and the answers:
//
//   a sum of d that is 0      becomes 1e-10; it is 0 if it is below 1e-12 of
//                             the sum of |d|
//   a run that ended inside   (it died, called exit, jumped out, was killed)
//   a block                   leaves by an edge of its own from that block to
//                             an exit node of its own. That it did is seen
//                             where the block was executed and no edge out of
//                             it taken, in every frame of its stack; where it
//                             took such an edge before, the record of its death
//                             says it of the innermost frame. A run that ended
//                             otherwise than by leaving, and of which neither
//                             tells, is counted in a note of the ranking.
//   a call that never         ends its block: an exit block if the compiler
//   returns                   knows, else a block that runs end inside of
//   loops                     are linear systems (linear_system.h)
//   a loop without exit       0: nothing flows back into it; or, if singular:
//   a singular or badly       the blocks of this loop are taken as exit blocks,
//   conditioned loop          and their evidence says so. This is common:
//                             a loop entered by all runs is singular
//                             (d = 0 over the edges into it)
//   scores beyond 1e100       or so are cut off there
//
// Statements take the score of their block, the best of them if they stand in
// several; statements in no block that a compared run executed come below all
// others.
//
// Branch. A formula (Ochiai) over edges; a statement takes the best edge into
// or out of its blocks.
#ifndef CULPRIT_LOCATE_PROPAGATE_H
#define CULPRIT_LOCATE_PROPAGATE_H

#include <stddef.h>
#include <stdint.h>

#include "depend/cfg.h"
#include "model/suite.h"
#include "store/store.h"
#include "tally/tally.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/err.h"
#include "util/hashmap.h"

// A run died on the line of this statement; ENTITY_NONE: on none we know.
typedef struct {
  uint32_t run, statement;
} DeathOf;

typedef struct {
  const Suite *suite;
  Cfg cfg;
  Tally tally;    // statements, blocks and edges
  Tally ends;     // per block: the runs that ended inside it
  Bitset lost;    // runs that ended at an unknown point
  uint32_t *left; // per block number: the last run that left it, plus 1
  Hashmap paths;  // path -> source
  Hashmap lines;  // source, line -> statement
  ARRAY(DeathOf) deaths;
} Propagation;

// To be filled with all deaths, then all runs.
void propagation_init(Propagation *p, const Suite *suite);
void propagation_release(void *state);
void propagation_add_death(void *state, size_t run, const Death *death);
void propagation_add_run(void *state, size_t run, const Spectra *spectra);

#endif
