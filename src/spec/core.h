// Minimal unsatisfiable cores of an encoded call: the statements that cannot
// all be right if a clause is to hold.
//
//   Core c = {0};
//   core_find(&run, clause, NULL, 10, &c, err);   // run: after encoder_run
//   for each c.statements: run.statements.items[i] is in the core
//
// The clause is required to hold with the statements of a set on and all others
// off. With everything on that the run executed this is unsatisfiable, and the
// encoding is the run itself. Drop statements one at a time; keep one dropped
// if the clause is still unsatisfiable. So no encoding needs a switch per
// statement: as long as the set decides the path of the run, an encoding costs
// what the run costs.
//
// A statement is shown to be needed by a model, or by a try: a concrete run in
// which statements that are off deviate now and then and the clause holds
// (encoder_try). A statement for which neither is found in time stays in, and
// the core is not reported as minimal.
//
// The result is encoded once more and both solvers check it; where the encoding
// is a constant there is nothing left to solve.
#ifndef CULPRIT_SPEC_CORE_H
#define CULPRIT_SPEC_CORE_H

#include "spec/encode/encode.h"
#include "util/str.h"

typedef ARRAY(uint32_t) StatementList;

typedef struct {
  StatementList statements; // ascending
  bool minimal;             // false: time ran out
  bool checked;             // by both solvers; false: no answer in time
  bool satisfiable;         // the clause can hold: there is no core
  bool omission;            // no statement in it writes what the clause names
  StatementList guards;     // in that case: the branches it depends on
  double seconds;
  Str limits;            // of the encodings: encoder_show_limits
  size_t asked, tried;   // encodings, concrete tries
  StatementList unknown; // members not shown to be needed
} Core;

void core_release(Core *c);

// `seconds` for finding and minimising. The search starts from `like`, a core
// of another clause or NULL, if that is unsatisfiable with this clause, too.
// Fails if no solver gives an answer.
int core_find(Encoder *run, uint32_t clause, const Core *like, double seconds,
              Core *out, Err *err);

// Can these clauses all hold if `statement` alone is off, and everything else
// that the run executed is on? `elsewhere`: it may also write to another place
// (encode.h). There are CORE_WAYS ways to an answer, numbered from 0, each more
// expensive than the one before.
enum { CORE_WAYS = 4 };
typedef struct {
  Encoder *run;
  const Bitset *clauses;
  bool elsewhere;
  unsigned way;
  double seconds;
} CoreQuestion;
SolverResult core_ask_without(const CoreQuestion *q, uint32_t statement);

#endif
