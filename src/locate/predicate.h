// Localization over predicates: CBI (Liblit et al. 2005) and SOBER (Liu et al.
// 2005).
//
// Every outcome of a condition and every class of a returned value is a
// predicate: it is true when that outcome happened. The condition, or the call
// site, is the predicate's site; a run observes a predicate if it came to the
// site, that is, if any predicate of the site was true in it.
//
// A statement takes the best of the predicates that belong to it (owner.h);
// Suspect.carrier says which. Statements without one come below, by nothing
// better than 0 (CBI) or by no score at all (SOBER).
//
// CBI. F(P), S(P): failing and passing runs in which P was true.
//
//   Failure(P)  = F(P) / (F(P) + S(P))
//   Context(P)  = F(P observed) / (F(P observed) + S(P observed))
//   Increase(P) = Failure(P) - Context(P)
//   importance  = 2 / (1 / Increase(P) + log(failing runs) / log F(P))
//
// A predicate is discarded (0) unless Increase is above 0 with 95 % confidence:
// the lower end of Increase +- 1.96 times its standard error, for which Failure
// and Context are shares of independent samples. Where one run failed, log F(P)
// / log 1 is taken as 1; where F(P) is 1 of several, importance is 0, as in the
// paper. A few runs never give that confidence: then all is 0.
//
// SOBER. The evaluation bias of P in a run is n_true / (n_true + n_false), 0.5
// if it was not observed. With m failing runs of mean bias X, and passing runs
// of mean u and deviation s, the score is the distance between the two:
//
//   Z     = (X - u) / (s / sqrt(m))
//   score = -log of the density of X under the passing runs' distribution
//         = log(s / sqrt(m)) + Z^2 / 2 + log(2 pi) / 2
//
// A deviation below 1e-6 is taken as 1e-6: a predicate that never changes in
// passing runs scores very high if failing runs differ, else very low. How
// often a predicate was true is known of programs built with
// CULPRIT_MODE=counts. In runs of others a bias is 1 (seen true only), 0 (seen
// false only) or 0.5 (both), which the notes of the ranking say. That a result
// was the same in all calls of a run is always such a predicate.
#ifndef CULPRIT_LOCATE_PREDICATE_H
#define CULPRIT_LOCATE_PREDICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "tally/tally.h"
#include "util/array.h"
#include "util/err.h"

// The bias of one observed predicate in one run.
typedef struct {
  uint32_t predicate;
  double bias;
} Bias;

typedef ARRAY(Bias) BiasList;

typedef struct {
  const Suite *suite;
  uint32_t *owner;   // per predicate: the statement it speaks for
  uint32_t *site;    // per predicate: the first predicate of its site
  uint32_t *members; // all predicates, those of one site together
  uint32_t *first;   // per first predicate of a site: where in members
  uint32_t nmembers;
  Tally tally; // statements, conditions and returns
  Tally sites; // the first predicate of every site that was observed
  // Bias of passing runs, per predicate: how many observed it, and sums.
  uint32_t *observed;
  double *sum, *squares;
  BiasList *biases; // of every failing run
  bool *by_hits;    // per run: some bias is from hits, for want of counts
  uint64_t *count;  // per entity, of the run at hand
} Predicates;

void predicates_init(Predicates *p, const Suite *suite);
void predicates_release(void *state);
void predicates_add_run(void *state, size_t run, const Spectra *spectra);

// --- the two scores by themselves -------------------------------------------

// True and observed in failing (f) and passing (s) runs; how many runs failed.
typedef struct {
  uint32_t f, s, f_observed, s_observed, failing;
} PredicateCounts;

double cbi_increase(PredicateCounts c);
double cbi_importance(PredicateCounts c); // 0: discarded

// Of m > 0 failing runs of mean bias `x`, and passing ones of mean `u` and
// deviation `s`.
double sober_score(double x, double m, double u, double s);

#endif
