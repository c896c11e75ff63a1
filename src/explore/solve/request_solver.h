// From what an application did with its input to input that makes it do
// something else.
//
// With shadows (php/ext/shadow.h) a request's record tells its path: decisions
// as terms over named inputs, solved for by branch_solver.h. Where the
// program lost them (a hash, something decoded), comparisons are still
// recognized by the values in them (php/ext/compare.c), as without shadows:
//
//   sent pw=w7, compared "w7" == "x"         pw=x
//   compared "1" < "10"                      10, 9, 11
//   str_starts_with("w7", "adm")             adm, admw7
//   looked up $_POST["user"], not there      user=w3
//
// What a session keeps is remembered with its terms, so that a decision about
// it is solved for the earlier request that put it there.
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
// RequestSolver for one request has a bound; decisions beyond it are counted.
#ifndef CULPRIT_EXPLORE_SOLVE_REQUEST_SOLVER_H
#define CULPRIT_EXPLORE_SOLVE_REQUEST_SOLVER_H

#include "explore/solve/branch_solver.h"
#include "explore/solve/solve_memory.h"
#include "php/ask.h"
#include "php/record/php_record.h"
#include "util/hashmap.h"

// Which comparison it is, wherever it is made: by its place, its kind and its
// other side. The same in each process.
uint64_t compare_hash(const PhpCompare *c);

// Which outcomes of which comparisons were seen in any request.
typedef struct {
  Hashmap outcomes;
} SeenOutcomes;

void seen_outcomes_add(SeenOutcomes *s, const PhpCompare *c);
// Was it seen to go one way only?
bool seen_outcomes_one_sided(const SeenOutcomes *s, const PhpCompare *c);
void seen_outcomes_release(SeenOutcomes *s);

// --- one worker -------------------------------------------------------------

typedef struct RequestSolver RequestSolver;
RequestSolver *request_solver_new(SolveMemory *memory);
void request_solver_free(RequestSolver *s); // may be NULL
void request_solver_begin(RequestSolver *s);
// Decisions about what request `a` left in the session may be solved for it, by
// solve_kept with the same pointer. At most HELD_MOST.
enum { HELD_MOST = 6 };
void request_solver_hold(RequestSolver *s, const Ask *a);
void request_solver_end(RequestSolver *s);

// Appends the asks that differ from `a`, the request that was recorded, in
// inputs the comparison was about. None: it was about none of them. `s` may be
// NULL for comparisons that have no terms.
void solve_compare(RequestSolver *s, const PhpCompare *c, const Ask *a,
                   Asks *out, Arena *arena);
// ... from an earlier request `a` of the same visitor, if the comparison was
// about something that it left in the session.
void solve_kept(RequestSolver *s, const PhpCompare *c, const Ask *a, Asks *out,
                Arena *arena);
// ... in keys that were looked up: all of them at once, and each.
void solve_absent(const PhpRecord *record, const Ask *a, Asks *out,
                  Arena *arena);
// What the request left in the session, and what it called, is remembered: once
// for each record, which must stay until request_solver_end.
void solve_learn(RequestSolver *s, const PhpRecord *record, const Ask *a);

#endif
