// Minimal unsatisfiable cores of an encoded call: the statements that cannot
// all be right if a clause is to hold.
//
//   Core c = {0};
//   core_find(&e, clause, 10, &c, err);
//   for each c.statements: e.statements.items[i] is in the core
//
// The clause is asked to hold, all statements to be on: with the violating
// state that is unsatisfiable. What the solver needed for it is minimised by
// deletion; the result is checked once more by the other solver.
#ifndef CULPRIT_SPEC_CORE_H
#define CULPRIT_SPEC_CORE_H

#include "spec/encode.h"

typedef ARRAY(uint32_t) StatementList;

typedef struct {
  StatementList statements; // ascending
  bool minimal;             // false: time ran out
  bool checked;             // by Z3; false: it did not answer in time
  bool satisfiable;         // there is no core: the clause can hold
  bool omission;            // no statement in it writes what the clause reads
  StatementList guards;     // then: the branches the run took
  double seconds;
} Core;

void core_release(Core *c);

// `seconds` for finding and minimising. Fails if no solver gives an answer.
int core_find(Encoder *e, uint32_t clause, double seconds, Core *out, Err *err);

// The statements that satisfy the clause if each alone is off.
int core_corrections(Encoder *e, uint32_t clause, double seconds,
                     StatementList *out, Err *err);

#endif
