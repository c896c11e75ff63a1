// Statements that could each alone be what is wrong: with this one off, and
// all others as they are, the whole contract can be kept from the violating
// state. Second evidence beside a core, which says only that something in it
// is wrong.
//
//   keys[0] = last;      off: any key there; then last_ok does not hold
//   int child = 2;       off: child may be 1, and everything holds
//
// A statement that alone can satisfy a clause is in every core of it, so only
// statements that all cores have are asked about. If none can, all assignments
// are asked about once more, which may then write elsewhere, too:
//
//   keys[0] = last;      keys[at] = last keeps everything
//
// Where several faults show at
// once there may be none; then those are taken that satisfy one of the broken
// clauses, and all that were not broken.
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
  StatementList open;       // no answer in time: they may be such, too
  bool whole;     // each satisfies all clauses; false: some broken one
  bool elsewhere; // by writing to another place than they do
} Corrections;

void corrections_find(const CorrectionsTask *t, Corrections *out);
void corrections_release(Corrections *c);

// Appends those of `among`, statements of the encoder, that alone can satisfy
// all clauses, or about which there was no answer in time.
void corrections_check(const CorrectionsTask *t, bool elsewhere,
                       const StatementList *among, StatementList *out);

#endif
