// The table of Artzi et al. 2010 ("Practical fault localization for dynamic web
// applications", its Table 3) for the six techniques of `culprit web`: per
// application and over all, the mean number and share of the executed
// statements to look at, and how many % of the faults need 0-1 %, 1-10 %, ...
// 90-100 % of them. Beside it the published rows, labelled as such.
#ifndef CULPRIT_EVAL_RANGES_H
#define CULPRIT_EVAL_RANGES_H

#include <stddef.h>
#include <stdio.h>

#include "eval/evaluation.h"

enum { RANGES = 11 };

typedef struct {
  size_t faults;
  double statements, percent; // means
  double share[RANGES];       // % of the faults
} Ranges;

// Over n > 0 scores; NULL: the method found nothing, and all the statements
// that were executed are to be looked at: executed[i].
void ranges_of(const FaultScore *const *scores, const size_t *executed,
               size_t n, Ranges *out);

// Nothing, if none of the techniques was measured.
void ranges_write(const Evaluation *e, FILE *out);

#endif
