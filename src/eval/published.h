// What others have published, to be shown beside our numbers and labelled as
// such: other programs, other faults, other tests. Zhang, Chan, Tse, Jiang and
// Wang, "Capturing propagation of infected program states", 2009: flex, grep,
// gzip, sed; 110 versions with one fault; versions in which more than 20 % of
// the tests fail left out; % of all statements.
#ifndef CULPRIT_EVAL_PUBLISHED_H
#define CULPRIT_EVAL_PUBLISHED_H

#include <stddef.h>

#include "eval/metrics.h"

typedef struct {
  const char *method;
  Spread spread; // within: the mean of the four programs; NAN: not published
} PublishedSpread;

const PublishedSpread *published_spreads(size_t *n);

enum { MARGINS = 3 };
extern const double margins[MARGINS]; // +-1, 5, 10 %

// CP against another: % of the versions in which CP makes one look at less,
// the same, more code.
typedef struct {
  const char *method;
  double less[MARGINS], same[MARGINS], more[MARGINS];
} PublishedDifference;

const PublishedDifference *published_difference(const char *method);

// Scores over the dependence graph on 107 versions of the Siemens programs
// (Wang and Roychoudhury, ASE 2005): % of the versions with at least such a
// score.
typedef struct {
  const char *method;
  double above90, above80;
} PublishedGraph;

const PublishedGraph *published_graphs(size_t *n);

#endif
