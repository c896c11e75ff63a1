// Spectrum-based localization: rank entities by how strongly executing them
// correlates with failing. It only looks at what runs executed, never at
// values.
//
//   Tally tally;             // what the runs executed, from the store
//   Spectrum spectrum;       // what is listed, and what scores it
//   for every failure of the suite:
//     Ranking ranking;
//     spectrum_rank(&spectrum, &tally, failure, &ranking);
//
// Listed are all entities of one kind that some run of the session executed,
// whatever its verdict. Those that no compared run executed carry no evidence
// and never come above one that does.
//
// An entity is scored by itself, by the entities that belong to it (owner.h),
// or both, and takes the maximum. The one that carries the score is noted in
// the Suspect; counts and confidence are the entity's own if it is among what
// scores, else those of the carrier.
//
// Equal scores tie, unless tuples (condition outcomes, return classes) are
// among what scores or `lexicographic` is set. Then equal scores are ordered by
// the entity's own score, by confidence, and by a prior: what is known without
// looking at coverage. Only what is equal in all of these ties. The prior of a
// statement or function is 1 if a run that shows the failure died there, else
// 0. (That a line has a condition was tried as well:
// docs/evaluation/default-method.md.)
//
// With `weigh`, and relations or pairs among what scores, a failure that was
// looked at closely is scored by weigh.h instead of the formula. The signs of
// returned and received values, and whether a value changed, do not count.
//
// Kinds in `hints` have no part in the score: they come in only where scores
// are equal, before the entity's own score. So does, where lines are weighed, what
// the score would be if all kinds of evidence cost the same.
#ifndef CULPRIT_LOCATE_SPECTRUM_H
#define CULPRIT_LOCATE_SPECTRUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "depend/steps.h"
#include "model/ranking.h"
#include "model/suite.h"
#include "tally/deaths.h"
#include "tally/formula.h"
#include "tally/path_filter.h"
#include "tally/tally.h"
#include "util/err.h"

typedef struct {
  Formula *formula;
  EntityKind by;        // what is listed
  unsigned entities;    // what scores it: a set of 1u << EntityKind; 0: as `by`
  unsigned hints;       // those of them that only break ties; not `by`
  bool weigh;           // after a closer look, add up what speaks against it
  bool others_pass;     // runs that only show other failures count as passing
  bool confidence;      // order equal scores by confidence
  bool lexicographic;   // order them by own score, confidence and prior
  bool steps;           // and how far it is from where the failure showed
  const Deaths *deaths; // for the prior; NULL: not known
  PathFilter filter;    // files left out are neither listed nor counted
} SpectrumOptions;

// The entity kinds whose spectra these options need.
unsigned spectrum_kinds(const SpectrumOptions *o);

// What can be listed, the same for every failure.
typedef struct Spectrum {
  const Suite *suite;
  SpectrumOptions options;
  uint32_t *listed; // entities, in source order: by path, line, column
  size_t nlisted;   // executed or not
  uint32_t *owner;  // per entity: the index in `listed` that it scores, or
                    // ENTITY_NONE
  Dependences dependences; // with `steps`, between statements
} Spectrum;

// Fails if the kinds do not fit together, if the session has no entity of one
// of them, or if the filter leaves nothing.
int spectrum_init(Spectrum *s, const Suite *suite, const SpectrumOptions *o,
                  Err *err);
void spectrum_release(Spectrum *s);

// How many of the listed entities some run of the session executed.
size_t spectrum_executed(const Spectrum *s, const Tally *t);

// Ranks for one failure. If no run shows it, or none can be compared with,
// the ranking has no suspects: ask its `failing` and `passing`.
void spectrum_rank(const Spectrum *s, const Tally *t, size_t failure,
                   Ranking *out);

// Orders the suspects again, after their scores were changed.
void spectrum_order(const Spectrum *s, Ranking *r);

#endif
