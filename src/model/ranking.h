// The answer: entities ordered by how strongly they are suspected, for one
// failure.
#ifndef CULPRIT_MODEL_RANKING_H
#define CULPRIT_MODEL_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "util/array.h"

// How many failing and passing runs there are of something.
typedef struct {
  uint32_t failing, passing;
} RunCounts;

// One reason for a score, as shown to the user.
typedef struct {
  const char *kind; // coverage, death, ... (JSON: "kind")
  char *text;       // a sentence
  // Of an entity that belongs to the suspect: the runs that cover it, of how
  // many that can tell; `of.failing` 0: nothing of that sort.
  uint32_t ef, ep;
  RunCounts of;
} Evidence;

// What speaks against a suspect, in parts that add up (tally/weigh.h): failing
// runs that lack its evidence, passing runs that have it, runs with other
// failures that lack it, what kind of evidence it is; slices that the line is
// not in, runs that died elsewhere, steps to where the failure showed.
typedef struct {
  double failing, passing, others, kind, slice, death, steps;
} Costs;

// Of a statement that the place where a failure showed does not depend on.
#define STEPS_NONE UINT32_MAX

typedef struct {
  uint32_t entity;    // what is listed
  double score;       // finite, always
  double confidence;  // max(ef/F, ep/P)
  uint32_t ef, ep;    // failing and passing runs that cover it
  uint32_t rank_best; // entities that come before it, plus one
  uint32_t rank;      // worst case: also all that tie with it
  // An entity may owe its score to one that belongs to it: a statement to the
  // outcome of a condition on its line, a function to one of its statements.
  bool carried;                    // it does:
  uint32_t carrier;                // to this entity,
  uint32_t carrier_ef, carrier_ep; // which these runs cover
  // What may break ties.
  double hint;                   // the score if weaker evidence counted too,
  bool hinted;                   // and more than the line's own, thanks
  uint32_t hinter;               // to this entity,
  uint32_t hinter_ef, hinter_ep; // which these runs cover
  // The sentence to begin with: the most specific of what belongs to it and
  // tells as much as executing it does, though it may carry nothing.
  bool told;                 // there is one:
  uint32_t teller;           // this entity,
  uint32_t told_ef, told_ep; // which these runs cover
  uint32_t slice_ef; // failing runs whose first wrong byte depends on it,
  uint32_t slice;    // as this entity says, if there are any
  uint32_t steps;    // dependences up to where the failure showed, if
                     // Ranking.checked, or STEPS_NONE; if there are any
  uint32_t next;     // the statement one step nearer,
  uint32_t step;     // and the pair that leads there (ENTITY_NONE: a branch)
  double own;        // its own score, without those that belong to it
  double prior;      // what is known without looking at coverage
  double near;       // to what the failure is about: 1 there, 0 far away
  uint32_t line;     // the line of the statement that is to be looked at, if
                     // another than its own; 0: that
  bool weighed;      // the score is failing runs / (1 + these costs):
  Costs costs;
  bool test; // code of a test, or generated: behind all that is not
  ARRAY(Evidence) evidence;
  bool explained; // the evidence names what carried it
} Suspect;

// Scores within this relative distance are the same score.
#define SCORE_TOLERANCE 1e-9
bool score_same(double a, double b);

typedef struct {
  size_t failure;            // index into Suite.failures
  uint32_t failing, passing; // runs that were compared
  RunCounts close, sliced;   // those of them that were looked at closely, and
                             // of these, those that have a slice
  bool checked;              // it is known where the failure showed
  bool stand_in;           // nothing passes strictly: runs without this failure
                           // stand in for the passing ones
  ARRAY(Suspect) suspects; // best first; ties in source order
  ARRAY(Evidence) notes;   // what must be known to judge all of them
} Ranking;

// Those of the compared runs that can tell whether they cover an entity of this
// kind: all, if only a closer look shows it those that were looked at.
RunCounts ranking_runs(const Ranking *r, EntityKind kind);

// The line to look at.
uint32_t suspect_line(const Suspect *s, const Entity *e);

void suspect_release(Suspect *s); // its evidence
void ranking_release(Ranking *r);

#endif
