// From scores of entities to a ranking: what all localizers share that are not
// a formula over counts.
#ifndef CULPRIT_LOCATE_LISTING_H
#define CULPRIT_LOCATE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "locate/session_evidence.h"
#include "model/ranking.h"
#include "tally/deaths.h"
#include "tally/formula.h"
#include "tally/path_filter.h"
#include "tally/tally.h"
#include "util/arena.h"
#include "util/err.h"

// What becomes of runs that only show other failures. By default they are left
// out, unless the localizer takes them as passing.
typedef enum { OTHERS_DEFAULT, OTHERS_EXCLUDE, OTHERS_PASS } OtherFailures;

// What the user may choose for any localizer.
typedef struct {
  EntityKind by;     // what is listed
  unsigned entities; // what scores it: a set of 1u << EntityKind; 0: the
                     // localizer chooses
  OtherFailures others;
  bool others_pass;    // the same, as resolved by localizer_open
  bool confidence;     // order equal scores by confidence
  PathFilter filter;   // files left out are not listed
  Formula *exit_score; // cp: of exit blocks; NULL: as the paper
  size_t explain;      // how many of the best get their evidence
} LocateOptions;

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

// One failure, being ranked by one localizer.
typedef struct {
  void *state; // what the localizer's open() filled
  int variant; // of the localizer
  const SessionEvidence *session;
  const LocateOptions *options;
  size_t failure;
  // Set by scoring_begin().
  const Suite *suite;
  const Tally *tally; // what was executed
  Comparison runs;    // the failing and passing runs of the failure
  Scores scores;      // what rank() fills in
  // Optional.
  Comparison more;      // another comparison, released with the first
  const Deaths *deaths; // of equal scores, lines where runs died come first;
                        // NULL: they tie
  void *work;           // what rank() leaves for explain()
  Arena arena;          // for it; released when the failure is done
} Scoring;

// To be called by rank() before anything else.
void scoring_begin(Scoring *s, const Tally *t);
void scoring_release(Scoring *s);
// Scores all statements 0, for localizers that report a few of them.
void scoring_clear(Scoring *s);

// Ranks every entity of kind `options->by` that some run of the session
// executed; ef, ep and confidence are those of its own coverage. A function
// takes the best of its statements, with its coverage. Without failing or
// passing runs the ranking has no suspects. Fails if the session has no such
// entity, or if the filter leaves none.
int listing_rank(const Scoring *s, Ranking *out, Err *err);

// Adds a sentence; takes `text`. One that explains names what carried the
// suspect, one that notes does not.
void suspect_note(Suspect *s, const char *kind, char *text);
void suspect_explain(Suspect *s, const char *kind, char *text);
void ranking_note(Ranking *r, const char *kind, char *text);

#endif
