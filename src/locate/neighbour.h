// The classical baselines that report a set of statements instead of scores:
// set union, set intersection and nearest neighbour (Renieris and Reiss 2003).
// As a ranking: 1 for a reported statement, 0 for the others.
//
//   union         executed by a failing run and by no passing run
//   intersection  executed by every passing run, but not by a failing run
//   nearest       executed by a failing run, but not by the passing run nearest
//                 to it
//
// Where several runs show the failure, each has its report and their union is
// the answer.
//
// Distance of two runs, nearest neighbour:
//
//   binary        statements that one of them executed and the other did not
//                 (Hamming distance of the spectra)
//   permutation   of the order in which they are frequent: each run is the
//                 sequence of the condition outcomes and returned classes it
//                 saw, the least often seen first (then by entity); the
//                 distance is how many of them must be put in, taken out or
//                 moved to make one sequence the other (Ulam's, extended to
//                 sequences over different sets). The report is the lines of
//                 those that are taken out of or moved in the failing run's.
//
// How often things were seen is known of programs built with
// CULPRIT_MODE=counts. Of a failing run without counts, or if no passing run
// has them, the binary distance is taken, and a note of the ranking says so:
// all that was executed would tie, and the order tell no more than the set.
//
// Of equally near runs the first in test order is taken. A run that executed
// everything the failing one did leaves an empty report.
#ifndef CULPRIT_LOCATE_NEIGHBOUR_H
#define CULPRIT_LOCATE_NEIGHBOUR_H

#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "tally/tally.h"
#include "util/bitset.h"
#include "util/err.h"

// What a run saw, the least often seen first.
typedef struct {
  uint32_t *items;
  size_t len;
  Bitset set;
} Sequence;

// The passing run nearest to a failing one.
typedef struct {
  uint32_t run; // UINT32_MAX: there is none
  size_t distance;
  Bitset hits;       // binary: its statements
  Sequence sequence; // permutation
} Nearest;

typedef struct {
  const Suite *suite;
  Tally tally;                   // statements; failing runs are kept
  uint32_t *owner;               // per tuple: the statement it speaks for
  Sequence *sequences;           // of every failing run
  Nearest *binary, *permutation; // to every failing run
  uint32_t *where;               // per entity: scratch
} Neighbours;

// To be filled with all failing runs, then all runs. With counts the distance
// by permutation is known, too.
void neighbours_init(Neighbours *n, const Suite *suite);
void neighbours_release(void *state);
void neighbours_add_failing(void *state, size_t run, const Spectra *spectra);
void neighbours_add_run(void *state, size_t run, const Spectra *spectra);

#endif
