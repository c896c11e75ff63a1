// Tests made from the violating call, one round after the other, and what they
// say about the statements (METHODS section 5).
//
//   Rounds r;
//   rounds_open(&r, &inquiry, &options);
//   while (!rounds_next(&r, &more, err) && more)
//     ... r.score.items, best first ...
//   rounds_close(&r);
//
// Candidates are states that go another way at one branch of the failing call
// (state.h), run natively with the contract as oracle; when they are used up,
// those of the tests that were taken. A round takes one of them into the
// rating.
#ifndef CULPRIT_SPEC_ROUNDS_H
#define CULPRIT_SPEC_ROUNDS_H

#include "spec/inquiry.h"
#include "spec/score.h"

typedef enum {
  PICK_SUSPECTS, // covers the most suspects
  PICK_NEAREST,  // its branch lies last on the failing path
  PICK_RANDOM,   // random states instead of turned branches
} RoundsPick;

typedef struct {
  RoundsPick pick;
  bool bonus;          // suspects of the core are rated higher
  double make_seconds; // for the states of one test
  double seconds;      // in all; 0: any
  uint64_t seed;       // PICK_RANDOM
} RoundsOptions;

typedef struct {
  State state;
  SubjectRun run;
  Bitset broken;   // clauses
  bool used;       // was taken, or left out for good
  size_t position; // on the path it was made from
  bool expanded;   // its own path was looked at
} Candidate;

typedef struct {
  Inquiry *inquiry;
  RoundsOptions options;
  ARRAY(Candidate) candidates;
  ARRAY(size_t) taken; // in order
  Score score;
  size_t made, rejected; // states; those that break `requires`, hang or crash
  size_t apart;          // failing tests set aside: other promises
  bool given_expanded;
  double start;
  uint64_t random;
} Rounds;

void rounds_open(Rounds *r, Inquiry *q, const RoundsOptions *o);
void rounds_close(Rounds *r);

// One round; *more is false if there was nothing left to take.
int rounds_next(Rounds *r, bool *more, Err *err);

// The test taken last; NULL: none yet.
const Candidate *rounds_last(const Rounds *r);
size_t rounds_failing(const Rounds *r);

#endif
