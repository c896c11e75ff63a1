// Input for other outcomes of the comparisons that a request made.
//
// With shadows (php/ext/shadow.h) the record of a request holds its path:
// decisions as terms over named inputs, which branch_solver.h solves. Where the
// program lost track of the input (a hash, decoded data), and without shadows,
// comparisons are recognized by their values (php/ext/compare.c):
//
//   sent pw=w7, compared "w7" == "x"         pw=x
//   compared "1" < "10"                      10, 9, 11
//   str_starts_with("w7", "adm")             adm, admw7
//   looked up $_POST["user"], absent         user=w3
//
// Values in the session are remembered with their terms, so that a decision
// about one is solved by changing the earlier request that put it there.
//
// Several workers may solve at the same time, each with its own RequestSolver.
// They share one memory (solve_memory.h), and use it in turns:
//
//   request_solver_begin, _hold   in a turn: copies what all have learnt so far
//   solve_...                     at any time, with that knowledge only
//   request_solver_end            in a turn: what it learnt becomes shared
//
// So answers depend on the order of turns, not on which worker is faster.
//
// Solving for one request has a time limit; decisions beyond it are counted.
#ifndef CULPRIT_EXPLORE_SOLVE_REQUEST_SOLVER_H
#define CULPRIT_EXPLORE_SOLVE_REQUEST_SOLVER_H

#include "explore/solve/branch_solver.h"
#include "explore/solve/solve_memory.h"
#include "php/ask.h"
#include "php/record/php_record.h"

// Identifies a comparison by its place, its kind and its other side: the same
// in every process.
uint64_t compare_hash(const PhpCompare *c);

// --- one worker -------------------------------------------------------------

typedef struct RequestSolver RequestSolver;
RequestSolver *request_solver_new(SolveMemory *memory);
void request_solver_free(RequestSolver *s); // may be NULL
void request_solver_begin(RequestSolver *s);
// Allows request_solver_solve_earlier for request `a` (the same pointer). At
// most HELD_MOST.
enum { HELD_MOST = 6 };
void request_solver_hold(RequestSolver *s, const Ask *a);
void request_solver_end(RequestSolver *s);

// Appends variants of `a`, the recorded request, that differ in inputs of the
// comparison. None: it depends on no input of `a`. `s` may be NULL for
// comparisons without terms.
void request_solver_solve(RequestSolver *s, const PhpCompare *c, const Ask *a,
                          Asks *out, Arena *arena);
// Appends variants of an earlier request `a` of the same visitor, if the
// comparison depends on something that it left in the session.
void request_solver_solve_earlier(RequestSolver *s, const PhpCompare *c,
                                  const Ask *a, Asks *out, Arena *arena);
// Appends variants of `a` with keys that were looked up and absent: each, and
// all together.
void absent_keys_add(const PhpRecord *record, const Ask *a, Asks *out,
                     Arena *arena);
// Remembers what the request left in the session, and its calls. Once for each
// record, which must stay until request_solver_end.
void request_solver_learn(RequestSolver *s, const PhpRecord *record,
                          const Ask *a);

#endif
