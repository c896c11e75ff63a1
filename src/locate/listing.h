// From scores of entities to a ranking: what the localizers that are no formula
// over counts share.
#ifndef CULPRIT_LOCATE_LISTING_H
#define CULPRIT_LOCATE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ranking.h"
#include "tally/deaths.h"
#include "tally/filter.h"
#include "tally/tally.h"
#include "util/err.h"

typedef struct {
  EntityKind by;        // what is listed
  bool others_pass;     // runs that only show other failures count as passing
  bool confidence;      // order equal scores by confidence
  PathFilter filter;    // files left out are not listed
  size_t explain;       // so many of the best get their evidence
  const Deaths *deaths; // of equal scores those where runs died come first;
                        // NULL: they tie
} ListOptions;

// What a localizer found out, per entity of the suite.
typedef struct {
  double *score;     // NAN: none; comes below everything that has one
  uint32_t *carrier; // the entity it owes its score to, or ENTITY_NONE
} Scores;

void scores_init(Scores *s, const Suite *suite); // no scores, no carriers
void scores_release(Scores *s);
// Gives `entity` this score if it is better than the one it has; if it is the
// same, the carrier that was given first stays.
void scores_offer(Scores *s, uint32_t entity, double score, uint32_t carrier);

// Ranks every entity of kind `by` that some run of the session executed; ef, ep
// and confidence are those of its own coverage. A function takes the best of
// its statements, with its coverage. Without failing or passing runs the
// ranking has no suspects. Fails if there is no such entity in the session, or
// the filter leaves none.
int listing_rank(const Tally *t, const Comparison *c, size_t failure,
                 const Scores *scores, const ListOptions *o, Ranking *out,
                 Err *err);

// The same for several kinds (a set of 1u << EntityKind); those that the
// session does not have are left out. Equal scores: by kind, then in source
// order.
int listing_rank_kinds(const Tally *t, const Comparison *c, size_t failure,
                       const Scores *scores, unsigned kinds,
                       const ListOptions *o, Ranking *out, Err *err);

// Adds a sentence; takes `text`.
void suspect_explain(Suspect *s, const char *kind, char *text);
void ranking_note(Ranking *r, const char *kind, char *text);

#endif
