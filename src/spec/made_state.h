// The state before a call, and other states made from it. A MadeState is the
// snapshot of a process at the call with some cells changed. New ones are made
// by following the call's own path with the state symbolic, and negating one
// branch after the other.
//
//   MadeState given = {.snapshot = &s};
//   StateList made = {0};
//   states_make(&maker, &given, &made, err);
//   state_patch(&made.items[0], &patch);       // to run it natively
//
// Only cells that the call reads are changed: numbers to anything, pointers to
// null or to existing objects of the same kind (pointees.h). The function's
// `requires` hold in every made state, as far as they can be evaluated within
// the bounds.
#ifndef CULPRIT_SPEC_MADE_STATE_H
#define CULPRIT_SPEC_MADE_STATE_H

#include "program/contract_table.h"
#include "spec/call_snapshot.h"
#include "spec/encode/encode.h"

typedef struct {
  uint64_t address; // in the process, or offset in the arguments
  uint64_t value;
  uint8_t size; // bytes
  bool argument;
} CellChange;

typedef struct {
  const Snapshot *snapshot;
  ARRAY(CellChange) changes; // of one cell the last counts
  unsigned char *args;       // with the changes; NULL: the snapshot's
  uint32_t turned;           // line of the branch it was made from; 0: none
} MadeState;
typedef ARRAY(MadeState) StateList;

void state_release(MadeState *s);
void states_release(StateList *l);

// ReadProcess of a MadeState.
bool state_read(void *state, uint64_t at, void *out, size_t n);
const unsigned char *state_args(const MadeState *s);
void state_patch(const MadeState *s, Patch *out);
// The call in this state, for an Encoder. `program`: bound.
EncodeTarget state_target(const MadeState *s, Program *program,
                          uint32_t wrapper);
// "l->... 0x5010 = 3": what differs from the snapshot, for people.
void state_show(const MadeState *s, Str *out);

typedef struct {
  Program *program; // bound
  uint32_t wrapper;
  const ContractTable *table;
  const Pointees *known; // kinds learned before; may be NULL
  double seconds;        // in all
} StateMaker;

// Appends the states that take another edge than `from` at one branch of its
// path in the body, in the order of the path. An infeasible branch gives none.
int states_make(const StateMaker *m, const MadeState *from, StateList *out,
                Err *err);

// Bounded verification: a state in which the requires hold and some ensures, or
// assertion in the body, does not, with loops that iterate and calls that nest
// at most `bound` times. SOLVER_UNSAT: there is none.
SolverResult state_search(const StateMaker *m, const MadeState *from,
                          uint32_t bound, MadeState *out, Err *err);

// Appends at most `n` random states of the given objects that satisfy
// `requires`: some cells get random values one after the other, as long as
// `requires` can still hold, and the solver finds the rest.
// *random: state of the generator.
int states_random(const StateMaker *m, const MadeState *from, size_t n,
                  uint64_t *random, StateList *out, Err *err);

#endif
