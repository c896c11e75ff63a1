// Statements each of which could alone be the fault: with this one off, and all
// others unchanged, the whole contract can hold in the violating state. This is
// evidence beyond a core, which says only that something in it is wrong.
//
//   keys[0] = last;      off: any key there; then last_ok does not hold
//   int child = 2;       off: child may be 1, and everything holds
//
// A statement that alone can satisfy a clause is in every core of it, so only
// statements in all cores are candidates. If none qualifies, all assignments
// are tried once more, and may then write elsewhere, too:
//
//   keys[0] = last;      keys[at] = last satisfies everything
//
// Where several faults show at once there may be none. Then the result is the
// statements that satisfy one of the broken clauses and all that were not
// broken.
#ifndef CULPRIT_SPEC_CORRECTIONS_H
#define CULPRIT_SPEC_CORRECTIONS_H

#include "program/contract_table.h"
#include "spec/core.h"

typedef struct {
  Encoder *encoder; // after encoder_run
  const Violation *violation;
  ARRAY(const Core *) cores; // of the broken clauses, in their order
  double seconds;            // in all
} CorrectionsTask;

typedef struct {
  StatementList statements; // ascending
  StatementList open;       // undecided in time: they may qualify, too
  bool whole;     // each satisfies all clauses; false: some broken one
  bool elsewhere; // by writing to another place
} Corrections;

void corrections_find(const CorrectionsTask *t, Corrections *out);
void corrections_release(Corrections *c);

// Appends those of `among`, statements of the encoder, that alone can satisfy
// all clauses, or that were undecided in time.
void corrections_check(const CorrectionsTask *t, bool elsewhere,
                       const StatementList *among, StatementList *out);

#endif
