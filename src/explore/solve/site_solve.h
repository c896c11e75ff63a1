// From what an application did with its input to input that makes it do
// something else.
//
// With shadows (php/ext/shadow.h) a request's record tells its path: decisions
// as terms over named inputs, solved for by site_solve_branch.h. Where the
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
// Several workers may solve at the same time, each with a Solving of its own:
//
//   solving_begin, solving_hold   in turns: what all have learnt is known now
//   solve_...                     at any time, knowing that and no more
//   solving_end                   in turns: what was learnt is everybody's
//
// So answers depend on the order of turns, and not on which worker is faster.
// What they share is the SolveMemory of one exploration.
//
// Solving for one request has a bound; decisions beyond it are counted.
#ifndef CULPRIT_EXPLORE_SOLVE_SITE_SOLVE_H
#define CULPRIT_EXPLORE_SOLVE_SITE_SOLVE_H

#include "explore/solve/site_solve_branch.h"
#include "php/record/record.h"
#include "php/site_ask.h"
#include "util/hashmap.h"

// Which comparison it is, wherever it is made: by its place, its kind and its
// other side. The same in each process.
uint64_t compare_hash(const PhpCompare *c);

// Which outcomes of which comparisons were seen in any request.
typedef struct {
  Hashmap outcomes;
} Seen;

void seen_add(Seen *s, const PhpCompare *c);
// Was it seen to go one way only?
bool seen_one_way(const Seen *s, const PhpCompare *c);
void seen_release(Seen *s);

// --- one exploration --------------------------------------------------------

// Seconds that Z3 may take for one question, and that all questions of one
// request may take; 0: the default.
#define SOLVE_REQUEST_SECONDS 3.0
typedef struct {
  double question, request;
} SolveOptions;

// What all workers have learnt, and what they solved. Any thread may use it.
typedef struct SolveMemory SolveMemory;
SolveMemory *solve_memory_new(SolveOptions options);
void solve_memory_free(SolveMemory *m); // may be NULL

// What was solved, in two lines for people, and what was not followed. Nothing
// if there were no decisions about input.
void solve_report(SolveMemory *m, Str *out);
// The same as numbers.
SolveStats solve_stats(SolveMemory *m);
// Calls that no term stands for, by function, most frequent first; at most
// `most` names go to `out`. Returns how many there are.
size_t solve_opaque(SolveMemory *m, PhpNamed *out, size_t most);

// --- one worker -------------------------------------------------------------

typedef struct Solving Solving;
// `m` must outlive it.
Solving *solving_new(SolveMemory *m);
void solving_free(Solving *s); // may be NULL
void solving_begin(Solving *s);
// Decisions about what request `a` left in the session may be solved for it, by
// solve_kept with the same pointer. At most HELD_MOST.
enum { HELD_MOST = 6 };
void solving_hold(Solving *s, const Ask *a);
void solving_end(Solving *s);

// Appends the asks that differ from `a`, the request that was recorded, in
// inputs the comparison was about. None: it was about none of them. `s` may be
// NULL for comparisons that have no terms.
void solve_compare(Solving *s, const PhpCompare *c, const Ask *a, Asks *out,
                   Arena *arena);
// ... from an earlier request `a` of the same visitor, if the comparison was
// about something that it left in the session.
void solve_kept(Solving *s, const PhpCompare *c, const Ask *a, Asks *out,
                Arena *arena);
// ... in keys that were looked up: all of them at once, and each.
void solve_absent(const PhpRecord *record, const Ask *a, Asks *out,
                  Arena *arena);
// What the request left in the session, and what it called, is remembered: once
// for each record, which must stay until solving_end.
void solve_learn(Solving *s, const PhpRecord *record, const Ask *a);

#endif
