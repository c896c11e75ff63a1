// Searches for passing runs near a failing one. The branches at which the two
// diverge are the places to look at (Wang and Roychoudhury, docs/methods.md).
//
//   Near n;
//   near_open(&n, &search, &options);    // search: opened
//   search_run_given, search_reduce
//   near_search(&n, &err);               // until nothing more is wanted
//   if (near_best(&n)) near_print_text(&n, ...);
//   near_close(&n);                      // before the search
//
// The search negates conditions of the failing path, later ones first: a rule
// the run breaks, branches one by one, what the library decided, then two
// branches at a time, three, ... in order of distance. If all sets of branches
// are few, it tries them in that order from the start, as the paper does. It
// solves for each set twice: with the path up to there only (following), and
// with the rest of the path unchanged (strict). Branches that only made runs
// reach are negated in some of those (detours). Each input found is run
// natively and judged; if it passes, its run is replayed and its real distance
// computed. Passing runs of the store, and those found by reduction, are
// candidates, too.
//
// The best passing run is the nearest (align.h) or, with NEAR_TELLING, the one
// that diverges at the branch that best distinguishes failing from passing
// runs; of those the one with the fewest differences, then the nearest. How
// well a branch distinguishes is the rank of its line by the default method
// (locate/localizer.h) over all runs of the session. In the nearest run the
// program often just rejects its input. So unless the failing run itself ends
// with a nonzero status, passing runs that do count only if there is no other.
#ifndef CULPRIT_NEAR_NEAR_H
#define CULPRIT_NEAR_NEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "input/search.h"
#include "near/align.h"
#include "near/watch.h"
#include "solve/solver.h"
#include "util/hashmap.h"

// How the conditions after the negated ones are treated.
typedef enum {
  NEAR_BOTH,
  NEAR_FOLLOWING, // they are free
  NEAR_STRICT,    // they stay as they are
  NEAR_STORED,    // no run is made: runs of the store only
} NearMode;

typedef enum { NEAR_TELLING, NEAR_NEAREST } NearOrder;

// May branches be negated that leave loops, or cause more iterations?
typedef enum { LOOPS_BOTH, LOOPS_FEWER, LOOPS_NONE } NearLoops;

typedef struct {
  NearMode mode;
  NearOrder order;
  NearLoops loops;
  size_t paths;   // questions to the solver
  size_t depth;   // branches negated at once
  size_t detours; // in one made run
  size_t inputs;  // for one path
  size_t stored;  // runs of the store that are compared
  bool keep_all;  // do not exchange variables that differ (NearMinimal)
  FILE *trail;    // gets a line for every path tried; or NULL
  // Called when all runs are made and stored, before their lines are ranked:
  // looks closer at them. May be NULL. -1: an error.
  int (*look)(void *context, InputSearch *s, Err *err);
  void *look_context;
} NearOptions;

extern const NearOptions near_defaults;

// A replayed run.
typedef struct {
  Inputs inputs;
  char *line; // shell words after the program
  Path path;
  ExprPool *pool;
  Solver *solver; // constraint i is condition i
  Events events;
  uint32_t *ends;     // see events_ends
  uint32_t *event_of; // of each condition: its event, or that of the one before
} NearRun;

// A run that passes.
typedef struct {
  Distance distance;
  char *line;      // shell words after the program
  Inputs inputs;   // made ones
  char *test;      // of the store: its name; NULL: made
  int64_t session; // of the store
  bool other;      // does not pass, but fails in another way
  bool refused;    // passes, but its status reports an error
} NearFound;

typedef struct {
  const char *file; // lives as long as the Near
  uint32_t line;
} NearPlace;
typedef ARRAY(NearPlace) NearPlaces;

// The classical nearest neighbour in the store: the passing run whose executed
// statements differ least from those of the given run.
typedef struct {
  const char *test;  // NULL: there is none
  size_t differing;  // statements
  NearPlaces places; // executed by the given run only
} NearNeighbour;

// A variable whose values differ between the two runs at a branch, and whose
// value is used after it by something that the wrong result depends on.
typedef struct {
  const char *name;
  WatchValue failing, passing;
  const char *failing_leads, *passing_leads; // of pointers: what they point
                                             // to; NULL: not known
} NearVariable;

// A variable whose value was exchanged, as shown: p->len.
typedef struct {
  const char *name;              // "depth of parse()": of a caller
  const char *failing, *passing; // a number, "null", what a pointer leads
                                 // to (poke/poke_format.h), or a text,
  bool text;                     // to be put in quotes
} NearPut;

// How far the failing run gets with values of the passing run put in at a
// branch.
typedef enum {
  PUT_NOTHING,
  PUT_TURNS,  // the branch takes the other edge
  PUT_AS,     // and the run then ends as the passing one does: output, status
  PUT_PASSES, // the oracle says so
} PutResult;

// A minimal set of the differing variables at a branch that gets as far as all
// of them together.
typedef struct {
  PutResult result;
  ARRAY(NearPut) puts;
  size_t differing;      // variables that could be exchanged,
  ARRAY(NearPut) differ; // the first of them
  size_t others;         // that could not: pointers, texts that do not fit
  size_t runs;
  bool cut;            // a smaller set may exist: out of runs or time
  const char *problem; // why it was not tried; NULL: it was
} NearMinimal;

// The values that a differing branch depended on.
typedef struct {
  uint32_t event;       // of the failing run
  const char *op;       // compares two values; NULL: there is one, or none
  size_t nvalues;       // 0: not known
  const char *names[2]; // of their variables, or NULL
  WatchValue taken[2], needed[2];
  const char *taken_leads[2], *needed_leads[2]; // as of a variable
  bool aligned;                                 // `needed` is known
  ARRAY(NearVariable) variables;
  uint32_t block;       // in Program.blocks
  uint64_t failing_run; // which execution of the block it is there,
  uint64_t passing_run; // and there; 0: not known
  NearMinimal minimal;
} NearMoment;

// A branch at which the runs part and which can be forced: a condition.
typedef struct {
  uint32_t event;     // of the failing run
  const char *file;   // absolute
  uint32_t line;      // of the source
  uint32_t nth, of;   // which of the conditions on that line, from 0
  uint32_t execution; // which of the branch's, from 1
  bool needed;        // what the tested value is in the passing run
} NearBranch;
typedef ARRAY(NearBranch) NearBranches;

// How the failing run ends if a branch takes the other edge.
typedef enum {
  FORCED_NOT, // it was not tried, or the run has no such execution
  FORCED_PASSES,
  FORCED_SAME,    // it fails as it did,
  FORCED_OTHER,   // otherwise
  FORCED_ENDLESS, // it was stopped: too many steps, or seconds
  FORCED_UNJUDGED,
} ForcedResult;

typedef struct {
  ForcedResult result;
  const char *message; // of its failure; NULL: it has none
} ForcedEnd;

// That check (try/force_branch.h).
typedef struct {
  uint32_t event;
  ForcedEnd here, always; // this execution only; every one
} NearForced;

// Where the failure of the run becomes visible.
typedef enum {
  WRONG_UNKNOWN,
  WRONG_CRASH,
  WRONG_CALL, // one that did not return: abort
  WRONG_STATUS,
  WRONG_OUTPUT, // the first that differs from the passing run
  WRONG_CUT,    // it was killed
} WrongKind;

typedef struct {
  WrongKind kind;
  const char *file;
  uint32_t line;
  bool cut; // the distant past of the run is not known
} NearWrong;

typedef struct {
  size_t conditions; // on the failing path
  size_t queries, unsat, unknown, pruned;
  size_t tests, passing, same, others; // runs, by how they ended
  size_t stored;                       // runs of the store that were compared
  size_t unreplayed; // passing runs that could not be compared
  bool thinned;      // not every branch was negated: the path is long
  bool complete;     // nothing nearer was left to try
} NearStats;

// A made run that does not pass.
typedef struct {
  Inputs inputs;
  uint32_t turned; // the last event that was negated
  bool other;      // fails otherwise
} NearFailed;

typedef struct Near {
  InputSearch *search;
  NearOptions options;
  Control control;
  NearRun failing;
  ARRAY(NearFound) found;
  size_t nearest, best; // of them
  size_t bytes;         // that their inputs and distances take
  uint32_t *rank_of;    // of each branch: how telling its line is; or NULL
  uint32_t best_rank;   // of the branches at which the best parts,
  uint32_t first_best;  // and the first event that has it
  NearPlaces telling;   // lines that tell most, the best first
  ARRAY(NearMoment) moments;
  ARRAY(NearForced) forced;
  const char *force_problem; // why no branch was forced; NULL: none was asked
                             // for, or they were
  NearWrong wrong;
  NearNeighbour neighbour;
  Arena arena; // names of files
  NearStats stats;
  Err problem;              // why the last passing run could not be replayed
  Hashmap tried;            // hashes of inputs
  ARRAY(Inputs) batch;      // to be run next
  ARRAY(uint32_t) turned;   // parallel: see NearFailed
  ARRAY(NearFailed) failed; // some that were run and did not pass
} Near;

void near_open(Near *n, InputSearch *e, const NearOptions *o);
void near_close(Near *n);

// -1: an error, also if the failing run cannot be replayed.
int near_search(Near *n, Err *err);

// NULL: nothing passes.
const NearFound *near_best(const Near *n);

// --- branches to be forced --------------------------------------------------

// The decisive ones among the differing branches that are conditions, in the
// order of the report; none if nothing passes.
void near_branches(const Near *n, NearBranches *out);
// The failing run as a test. Memory: arena.
Test near_failing_test(const Near *n, Arena *arena);

// --- the report -------------------------------------------------------------

// The lines of the report, each once: the decisive ones of the differing
// branches; if only values differ, the rule that the failing run breaks; then
// the lines that best distinguish failing from passing runs.
void near_places(const Near *n, NearPlaces *out);

// Keeps it for `rank --method near` and `why` (locate/near_note.h).
int near_keep(const Near *n, Err *err);

// For people and for programs. `root`: file names are shown relative to it.
void near_print_text(const Near *n, const char *root, FILE *out);
// Also if nothing passes. `more`: further members of the object, each with a
// comma before it.
void near_print_json(const Near *n, const char *root, const char *more,
                     FILE *out);

#endif
