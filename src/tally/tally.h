// How many passing and failing runs executed each entity: everything a
// spectrum formula needs, gathered in one pass over the stored spectra.
//
// What passing means depends on the failure that is explained (see
// docs/methods.md), so passing runs are only counted, while the spectra of
// failing runs are kept until every failure has been compared.
//
// In a session of `culprit web` that explored an application by itself, a
// request is compared with requests for the same page only: which pages were
// asked for, and how often, says nothing about the failure, and a line that
// every request for its page executes is not suspicious for it. If none of
// these passes, all pages count.
//
// In a session of `culprit input`, where the tests were made, too, a passing
// run that ended otherwise than the failing ones (exit status or signal) counts
// an eighth in formulas: an input that is refused half-way executes the faulty
// line and passes, because what it computed is never shown. It still counts,
// because few others may pass. If no other passes, all count alike.
//
// Of some kinds (CLOSE_KINDS) only the runs that were looked at closely can
// tell. Their counts are over those runs; in formulas they stand for all:
//   ef = F * (failing runs that cover it) / (failing runs looked at)
//   ep = P * (weight of the passing runs that cover it) / (weight of those
//        looked at), where a run that was taken at random weighs as much as
//        (passing - near ones) / (random ones), any other 1
// If every run was looked at these are the counts themselves. A failure of
// which no failing or no passing run was looked at has no such evidence.
//
// Slices are of failing runs whose wrong output is known: no passing run has
// any, and only failing runs that have one can tell.
//
// Where the store keeps sums of what came in (Suite.kept), these are enough, and
// what each run executed is not known.
//
// Memory: four numbers per entity and one bit per entity and failing run; of
// these two kinds of sessions, per entity and run.
#ifndef CULPRIT_TALLY_TALLY_H
#define CULPRIT_TALLY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ranking.h"
#include "model/suite.h"
#include "store/store.h"
#include "tally/formula.h"
#include "util/bitset.h"
#include "util/err.h"

typedef struct {
  const Suite *suite;
  uint32_t npass, nfail; // runs with that verdict and a spectrum
  uint32_t *pass, *fail; // per entity: how many of those executed it
  uint32_t *random;      // of `pass`: those that are CLOSE_RANDOM
  Bitset sliced;         // runs that have a slice
  Bitset *hits;          // per run: what it executed, if it failed or `kin`
  // Of kinds that the store has summed, of which `hits` says nothing: per failure
  // and entity, how many of its runs executed it; NULL: none. Behind the last
  // failure stand all failing runs.
  uint32_t **shown;
  size_t nshown;
  uint32_t *kin;   // per run: its page or ending; NULL: all alike
  bool weighs;     // strangers count an eighth, not nothing
  Bitset executed; // by any run, whatever its verdict
} Tally;

void tally_init(Tally *t, const Suite *suite);
void tally_release(Tally *t);

// Adds the spectrum of one kind of one run. Flaky, skipped and unjudged runs
// only show that an entity can be executed.
void tally_add(Tally *t, size_t run, const Bitset *hits);
// Adds all spectra of these kinds (a set of 1u << EntityKind). Where the store
// keeps sums (Suite.kept) that say the same, no spectrum is read.
int tally_load(Tally *t, Store *store, unsigned kinds, Err *err);

// The runs that speak for and against one failure. Failing: those that show
// it. Passing: those that show no failure at all; with `others_pass` also those
// that only show other failures. If no run passes at all, those stand in.
typedef struct {
  const Tally *tally;
  uint32_t failing, passing;     // how many runs
  uint32_t others, others_close; // failing runs without this failure, where
                                 // they do not count as passing: all, and
                                 // those looked at closely
  bool stand_in;
  uint32_t *ef, *ep;  // per entity: how many of them executed it
  uint32_t strangers; // of the passing: those that count an eighth
  double *weight;     // per entity: what those of `ep` weigh together
  const Suite *suite;
  RunCounts close;     // runs looked at closely
  RunCounts sliced;    // of these, with a slice; none passes
  double close_weight; // what the passing ones looked at weigh together
} Comparison;

void comparison_init(Comparison *c, const Tally *t, size_t failure,
                     bool others_pass);
void comparison_release(Comparison *c);

// How many runs can tell whether they cover an entity of this kind.
RunCounts comparison_runs(const Comparison *c, EntityKind kind);
// Are there such runs on both sides (of slices: on the failing one)?
bool comparison_tells(const Comparison *c, EntityKind kind);

// The share of the failing runs without this failure that cover entity `e`: of
// those that can tell. 1: there are none.
double comparison_others(const Comparison *c, size_t e);

// The four counts of entity `e`, for a formula.
Counts comparison_counts(const Comparison *c, size_t e);

#endif
