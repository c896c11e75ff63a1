// Several causes behind one signature (--cluster): failing runs that executed
// much the same code probably fail for the same reason.
//
// Within each failure group, runs are merged bottom up: at first every distinct
// spectrum is a cluster; then, again and again, the two most similar clusters
// become one, until no two are more similar than CLUSTER_SIMILARITY. The
// similarity of two runs is Jaccard's, of the statements they executed:
// |both| / |either|; that of two clusters is the mean over all pairs of their
// runs (average linkage). Of equally similar pairs the one that holds the
// earliest runs goes first, so the result depends on nothing but the runs.
//
// Limits: of a group's distinct spectra the first CLUSTER_SPECTRA are merged
// this way; runs with further ones join the cluster whose first run is most
// similar. Memory: a number per pair of those spectra.
#ifndef CULPRIT_LOCATE_CLUSTER_H
#define CULPRIT_LOCATE_CLUSTER_H

#include <stdbool.h>

#include "locate/localizer.h"
#include "model/suite.h"
#include "tally/tally.h"

#define CLUSTER_SIMILARITY 0.75
enum { CLUSTER_SPECTRA = 1500 };

// Splits every failure group of the suite into its clusters, which take its
// place: largest first, with "#1", "#2", ... added to their signatures. A group
// that is one cluster stays as it is. With `pool` all failing runs are one
// group to begin with, whatever failure they show. Runs without a spectrum stay
// with the first cluster. `t` must hold the statements, and stays valid.
void cluster_failures(Suite *suite, const Tally *t, bool pool);

// One fault with several symptoms: is there a line that explains all failures?
// Failures are told apart by what they print, and one fault may print several
// things. So all failing runs are ranked together, too. That ranking counts if
// its first line was executed by every failing run and is among the first ten
// lines of each failure's own ranking, and in the first tenth of it.
// (`bench/together` has compared rules: docs/evaluation/default-method.md.)
//
// Ranks all failures together into `out`, whose `failure` is then
// suite->nfailures: the group of all failing runs, which is added behind the
// others. *found = false, and nothing in `out`: no line explains all of them,
// or there are fewer than two failures.
enum { TOGETHER_RANK = 10 };
int together_rank(const OpenLocalizer *l, Suite *suite, Ranking *out,
                  bool *found, Err *err);

#endif
