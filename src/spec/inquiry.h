// Explains one broken contract, from the run that breaks it to the statements
// that cannot all be right.
//
//   Inquiry q;
//   inquiry_open(&q, &subject, &options);
//   if (!inquiry_begin(&q, err) && q.found == FOUND_BROKEN)
//     inquiry_explain(&q, err);        // q.cores, q.suspects
//   inquiry_close(&q);
#ifndef CULPRIT_SPEC_INQUIRY_H
#define CULPRIT_SPEC_INQUIRY_H

#include "spec/core.h"
#include "spec/corrections.h"
#include "spec/made_state.h"
#include "spec/subject.h"

typedef struct {
  double core_seconds; // for one core
  bool corrections;    // also find statements that alone could be wrong
} InquiryOptions;

typedef enum {
  FOUND_NOTHING,      // every contract held
  FOUND_TIMEOUT,      // the run did not end, and broke none before that
  FOUND_PRECONDITION, // the caller is at fault
  FOUND_ASSERTION,    // an assertion, or a loop invariant, in a body
  FOUND_BROKEN,
} Found;

typedef struct {
  uint32_t clause;
  Core core;
} ClauseCore;

typedef struct {
  SpecSubject *subject;
  InquiryOptions options;
  Found found;
  SubjectRun first;              // the given run
  const Violation *violation;    // of it: the first
  const ContractTable *contract; // of the function whose call is explained
  uint64_t call;                 // number of the violating call
  Snapshot snapshot;             // of the violating call
  MadeState given;               // it, and what --check changed
  bool made;                     // by --check: not the run's own
  uint32_t wrapper;              // function
  ExprPool *pool;
  Encoder encoder;
  bool encoding; // the encoder is set up
  ARRAY(ClauseCore) cores;
  Bitset scope;    // numbers of subject.lines: the call's own code
  Bitset coded;    // of them: those that the encoding has
  Bitset suspects; // of them: in some core
  Corrections corrections;
  Bitset corrected; // their lines, the open ones' among them
  Str limits;       // of the encoding, for people
  double seconds;   // for encoding and cores
} Inquiry;

typedef struct {
  uint32_t bound; // loops and nested calls
  double seconds; // in all
} CheckOptions;

typedef struct {
  uint64_t call;    // the last one that was checked
  uint32_t reached; // in it: the largest bound that was searched to its end
  uint64_t done;    // the last one that was searched up to the bound; 0: none
} CheckResult;

void inquiry_open(Inquiry *q, SpecSubject *s, const InquiryOptions *o);
void inquiry_close(Inquiry *q);

// Runs the program and finds the contract it breaks.
int inquiry_begin(Inquiry *q, Err *err);
// If the run breaks nothing: searches for a state in which a call of `function`
// does, in the calls 1, 2, 4, ... of the run, with bounds from 1. If it finds
// one, q->found is no longer FOUND_NOTHING. Fails if the run does not call the
// function.
int inquiry_check(Inquiry *q, const char *function, const CheckOptions *o,
                  CheckResult *out, Err *err);
// After FOUND_BROKEN and FOUND_ASSERTION: takes the snapshot, encodes the call,
// and finds one core for each broken clause. The call of a broken assertion is
// the innermost running one of a function with a contract, or of its own
// function; fails if neither is known. From then on the hits of a run are the
// lines that the call executed, in its body and in what that calls: neither
// what the clauses call, nor what ran before and after the call. Fails if the
// encoding does not break the same clauses as the run, naming what is not
// modelled.
int inquiry_explain(Inquiry *q, Err *err);

// Runs the violating call natively in another state. Coverage is that of the
// call, as above.
int inquiry_run(Inquiry *q, const MadeState *s, SubjectRun *out, Err *err);

// The order in which the violating call last executed each of the subject's
// lines, from 1; 0: not executed. Caller frees.
uint32_t *inquiry_order(const Inquiry *q);

// Keeps in `lines` only those whose change alone could satisfy the contract in
// this violating state, too. Leaves them unchanged if none would be left, or if
// there is no answer in time.
void inquiry_correct(Inquiry *q, const MadeState *s, double seconds,
                     Bitset *lines);

#endif
