// Minimal unsatisfiable cores of an encoded call: the statements that cannot
// all be right if a clause is to hold.
//
//   Core c = {0};
//   core_find(&run, clause, NULL, 10, &c, err);   // run: after encoder_run
//   for each c.statements: run.statements.items[i] is in the core
//
// The clause is asked to hold with the statements of a set on and all others
// off. With all that the run executed on that is impossible, and the encoding
// is the run itself. One statement after the other is taken out and kept out if
// it is still impossible. So nothing is ever encoded with a switch for each
// statement: as long as the set decides the way of the run, an encoding costs
// what the run costs.
//
// That a statement is needed is shown by a model, or by a try: a concrete run
// in which statements that are off do something else now and then and the
// clause holds (encoder_try). A statement about which neither can be found in
// time stays in, and the core is not called minimal.
//
// The result is encoded once more, and both solvers are asked about it; where
// the encoding has come out as a constant there is nothing left to ask them.
#ifndef CULPRIT_SPEC_CORE_H
#define CULPRIT_SPEC_CORE_H

#include "spec/encode/encode.h"
#include "util/str.h"

typedef ARRAY(uint32_t) StatementList;

typedef struct {
  StatementList statements; // ascending
  bool minimal;             // false: time ran out
  bool checked;             // by both solvers; false: no answer in time
  bool satisfiable;         // there is no core: the clause can hold
  bool omission;            // no statement in it writes what the clause names
  StatementList guards;     // then: the branches it depends on
  double seconds;
  Str limits;            // of the encodings: encoder_show_limits
  size_t asked, tried;   // encodings, concrete tries
  StatementList unknown; // members that were not shown to be needed
} Core;

void core_release(Core *c);

// `seconds` for finding and minimising. `like`, a core of another clause or
// NULL, is where it begins if that is enough for this clause, too. Fails if no
// solver gives an answer.
int core_find(Encoder *run, uint32_t clause, const Core *like, double seconds,
              Core *out, Err *err);

// Can these clauses all hold if `statement` alone is off, and everything else
// that the run executed is on? `elsewhere`: it may also write to another place
// (encode.h). There are CORE_WAYS ways to an answer, from 0 on, each more
// expensive than the one before it.
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
