// Tests made from the violating call, one per round, and what they say about
// the statements (docs/methods.md).
//
//   Rounds r;
//   rounds_open(&r, &candidates, &options);
//   while (!rounds_next(&r, &more, err) && more)
//     ... r.score.items, best first ...
//   rounds_close(&r);
//
// Candidates are states that take the other edge at one branch of the failing
// call (candidates.h); when they are used up, those made from the tests that
// were taken, then those made from all others. Each round takes one test into
// the rating: of those with new coverage that execute some suspect, the one
// that executes the most suspects.
//
// The strategy switches when ROUNDS_STALE tests in a row changed no suspect's
// rating: from then on a test must cover a new set of suspects.
#ifndef CULPRIT_SPEC_ROUNDS_H
#define CULPRIT_SPEC_ROUNDS_H

#include "spec/candidates.h"
#include "spec/score.h"

enum { ROUNDS_STALE = 3 }; // tests in a row without change

typedef enum {
  PICK_SUSPECTS, // covers the most suspects
  PICK_NEAREST,  // its branch lies last on the failing path
  PICK_RANDOM,   // random valid states instead of turned branches
} RoundsPick;

typedef struct {
  RoundsPick pick;
  bool bonus;     // suspects of the core are rated higher
  bool correct;   // by half as much if they could not alone be wrong
  double seconds; // for making tests, in all; 0: any
  uint64_t seed;  // PICK_RANDOM
} RoundsOptions;

// A candidate that this method may take.
typedef struct {
  size_t candidate;
  bool used;     // taken, or rejected
  bool expanded; // its own path was explored
} Offer;

// The result of one round.
typedef struct {
  size_t candidate;
  TestRelation relation;
  bool switched;            // by the other strategy
  ARRAY(ScoredLine) rating; // after it, best first
} Round;

typedef struct {
  StateCandidates *candidates;
  RoundsOptions options;
  ARRAY(Offer) offers;
  ARRAY(Round) taken; // in order
  Score score;
  size_t apart; // failing tests set aside: they break other clauses
  bool given_expanded, switched;
  size_t corrected; // failing tests that the corrections explain
  size_t idle;      // broods made since a test was taken
  double seconds;   // that making the tests took
  uint64_t random;
} Rounds;

void rounds_open(Rounds *r, StateCandidates *c, const RoundsOptions *o);
void rounds_close(Rounds *r);

// One round; *more is false if no test was left to take.
int rounds_next(Rounds *r, bool *more, Err *err);

// The test taken last; NULL: none yet.
const StateCandidate *rounds_last(const Rounds *r);

#endif
