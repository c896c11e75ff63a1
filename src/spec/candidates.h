// Tests made from the violating call: states put into it, run natively and
// judged by the contract. They are kept, so that several methods of choosing
// tests can be compared without making any state twice.
//
//   StateCandidates c;
//   candidates_open(&c, &inquiry, 5);
//   Brood b;
//   candidates_turn(&c, CANDIDATE_GIVEN, &b, err);
//   for (size_t i = 0; i < b.n; i++)
//     use(&c.items.items[b.first + i]);
//   candidates_close(&c);
//
// A state that breaks `requires`, hangs or crashes is not a valid call; it is
// counted in `rejected`.
#ifndef CULPRIT_SPEC_CANDIDATES_H
#define CULPRIT_SPEC_CANDIDATES_H

#include "spec/inquiry.h"

#define CANDIDATE_GIVEN SIZE_MAX

typedef struct {
  MadeState state;
  SubjectRun run;  // its hits are those of the call
  Bitset broken;   // contracts_number() of clauses; empty: it passes
  size_t position; // of the negated branch on the path it was made from
} StateCandidate;

// Candidates that were made together.
typedef struct {
  bool made;
  size_t first, n;
  double seconds;
} Brood;

typedef struct {
  Inquiry *inquiry;
  double make_seconds; // for the states of one brood; four times for their runs
  ARRAY(StateCandidate) items;
  ARRAY(Brood) turned; // [0]: of the given call, [i + 1]: of candidate i
  size_t made, rejected;
} StateCandidates;

void candidates_open(StateCandidates *c, Inquiry *q, double make_seconds);
void candidates_close(StateCandidates *c);

// Makes those that take the other edge at one branch of the path of `of`.
int candidates_turn(StateCandidates *c, size_t of, Brood *out, Err *err);
// Makes at most `n` random valid calls. *random: state of the generator.
int candidates_random(StateCandidates *c, size_t n, uint64_t *random,
                      Brood *out, Err *err);

// The clauses that a run broke in the violating call, including assertions in
// its code, by contracts_number().
void candidates_broken(const Inquiry *q, const SubjectRun *run, Bitset *out);

#endif
