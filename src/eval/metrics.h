// From the places of faults in rankings to the numbers that papers print. Pure
// functions over FaultScores; a percentage is a number from 0 to 100.
//
// "Examined" is the share of the statements one looks at, going down the list,
// until a faulty one is met. A fault that is not in the ranking needs all.
#ifndef CULPRIT_EVAL_METRICS_H
#define CULPRIT_EVAL_METRICS_H

#include <stddef.h>

#include "locate/fault.h"

// What the share is of: the executed statements, or all executable ones.
typedef enum { OVER_EXECUTED, OVER_ALL, BASES } Base;
// Of several statements with the same score, the faulty one is looked at last,
// at its expected place, or first.
typedef enum { TIES_WORST, TIES_AVERAGE, TIES_BEST, TIES } Ties;

double examined(const FaultScore *s, Base base, Ties ties);

enum { LIMITS = 5 };
extern const double limits[LIMITS]; // 1, 2, 5, 10, 20 %

typedef struct {
  double within[LIMITS]; // % of the faults met within so many percent
  double min, max, mean, median;
  double deviation; // of a sample (n - 1); 0 for one fault
} Spread;

// One method on a set of faults.
typedef struct {
  size_t faults;
  Spread spread[BASES][TIES];
  double top[FAULT_TOPS];      // % of the faults expected in the first 1, 3, ..
  double well_first, well_all; // % well-localized
  double unranked;             // % that are not in the ranking at all
} Summary;

// Of n > 0 scores; NULL: the method could not be applied, nothing was found.
void summarize(const FaultScore *const *scores, size_t n, Summary *out);
// The mean of every number over n > 0 summaries: every subject weighs the same.
// min, max, median and deviation become means, too.
void summary_average(const Summary *s, size_t n, Summary *out);

// How often a is smaller than b by more than `margin`, within it, and larger.
typedef struct {
  size_t less, same, more;
} PairedDifference;
PairedDifference compare(const double *a, const double *b, size_t n,
                         double margin);

// The share of values that are <= x, in percent; n > 0.
double located(const double *values, size_t n, double x);

// Scores over the dependence graph, 0 ... 1, as percentages; n > 0. NAN: not
// measured, 0.
enum { SCORES = 4 };
extern const double score_limits[SCORES]; // 95, 90, 80, 50 %
typedef struct {
  double mean;
  double above[SCORES]; // % of the faults with a score >= score_limits[i]
} GraphSummary;
void summarize_graph(const double *scores, size_t n, GraphSummary *out);

#endif
