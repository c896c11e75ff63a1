// Looks for passing runs near a failing one: the branches at which they part
// are what there is to look at (Wang and Roychoudhury, docs/methods.md).
//
//   Near n;
//   near_open(&n, &explorer, &options);  // explorer: opened
//   explore_given, explore_reduce
//   near_search(&n, &err);               // until nothing more is wanted
//   if (near_best(&n)) near_print_text(&n, ...);
//   near_close(&n);                      // before the explorer
//
// Conditions of the failing path are turned round, the later ones first: a rule
// it breaks, branches one by one, what the library decided, then two branches
// at a time, three, ... in order of distance; if all sets of branches are few,
// they are tried in that order from the start, as the paper has it. Each is
// asked for with the path up to there only (following), and with the rest of
// the path as it was (strict). Branches that only the made runs came to are
// turned round in some of those (detours). An input that comes out is run
// natively and judged; if it passes, its run is replayed and its real distance
// computed. Passing runs of the store, and those that reduction came by, are
// candidates, too.
//
// Which passing run is the best: the nearest (align.h), or (NEAR_TELLING) the
// one that parts at the branch that best tells failing from passing runs, and
// of those the one with the fewest differences, then the nearest. Telling is
// the rank of the branch's line by the default method (locate/localizer.h) over
// all runs of the session. The nearest alone is often one in which the program
// refuses its input: if the failing run does not end with a status other than
// 0, passing runs that do count only if there is no other.
#ifndef CULPRIT_NEAR_NEAR_H
#define CULPRIT_NEAR_NEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "input/explore.h"
#include "near/align.h"
#include "near/watch.h"
#include "solve/solver.h"
#include "util/hashmap.h"

// How the conditions behind what is turned round are treated.
typedef enum {
  NEAR_BOTH,
  NEAR_FOLLOWING, // they may go as they like
  NEAR_STRICT,    // they stay as they are
  NEAR_STORED,    // nothing is made: runs of the store only
} NearMode;

typedef enum { NEAR_TELLING, NEAR_NEAREST } NearOrder;

// May branches be turned round that lead out of loops, or into more iterations?
typedef enum { LOOPS_BOTH, LOOPS_FEWER, LOOPS_NONE } NearLoops;

typedef struct {
  NearMode mode;
  NearOrder order;
  NearLoops loops;
  size_t paths;   // questions to the solver
  size_t depth;   // branches turned round at once
  size_t detours; // in one made run
  size_t inputs;  // for one path
  size_t stored;  // runs of the store that are compared
  bool keep_all;  // variables that differ are not exchanged (NearMinimal)
  FILE *trail;    // gets a line for every path that was tried; or NULL
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
  bool other;      // does not pass, but fails otherwise
  bool refused; // passes, but with a status that says that something is wrong
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

// A variable that the two runs have with different values at a branch, and
// whose value is used behind it by something that the wrong result goes by.
typedef struct {
  const char *name;
  WatchValue failing, passing;
  const char *failing_leads, *passing_leads; // of pointers: what they point
                                             // to; NULL: not known
} NearVariable;

// A variable whose value was exchanged, as it is shown: p->len.
typedef struct {
  const char *name;              // "depth of parse()": of a caller
  const char *failing, *passing; // a number, "null", what a pointer leads
                                 // to (poke/poke_format.h), or a text,
  bool text;                     // to be put in quotes
} NearPut;

// How far putting values of the passing run into the failing one at a branch
// gets it.
typedef enum {
  PUT_NOTHING,
  PUT_TURNS,  // the branch goes the other way
  PUT_AS,     // and the run then ends as the passing one does: output, status
  PUT_PASSES, // the oracle says so
} PutResult;

// Of all that differs at a branch a set that gets as far as all together, and
// none of which can be left out.
typedef struct {
  PutResult result;
  ARRAY(NearPut) puts;
  size_t differing;      // variables that could be exchanged,
  ARRAY(NearPut) differ; // the first of them
  size_t others;         // that could not: pointers, texts that do not fit
  size_t runs;
  bool cut;            // the set might get smaller: out of runs or time
  const char *problem; // why it could not be tried; NULL: it was
} NearMinimal;

// What a differing branch went by.
typedef struct {
  uint32_t event;       // of the failing run
  const char *op;       // compares two values; NULL: there is one, or none
  size_t nvalues;       // 0: not known
  const char *names[2]; // of variables that they are, or NULL
  WatchValue taken[2], needed[2];
  const char *taken_leads[2], *needed_leads[2]; // as of a variable
  bool aligned; // `needed` is known
  ARRAY(NearVariable) variables;
  uint32_t block;       // in Program.blocks
  uint64_t failing_run; // which execution of the block it is there,
  uint64_t passing_run; // and there; 0: not known
  NearMinimal minimal;
} NearMoment;

// Where it shows that the run is wrong.
typedef enum {
  WRONG_UNKNOWN,
  WRONG_CRASH,
  WRONG_CALL, // it never came back from: abort
  WRONG_STATUS,
  WRONG_OUTPUT, // the first that the passing run does not have
  WRONG_CUT,    // it was ended from outside
} WrongKind;

typedef struct {
  WrongKind kind;
  const char *file;
  uint32_t line;
  bool cut; // what happened long before is not known
} NearWrong;

typedef struct {
  size_t conditions; // on the failing path
  size_t queries, unsat, unknown, pruned;
  size_t tests, passing, same, others; // runs, by how they ended
  size_t stored;                       // runs of the store that were compared
  size_t unreplayed; // passing runs that could not be compared
  bool thinned;      // not every branch was turned round: the path is long
  bool complete;     // nothing nearer was left to try
} NearStats;

// A made run that does not pass.
typedef struct {
  Inputs inputs;
  uint32_t turned; // the last event that was turned round
  bool other;      // fails otherwise
} NearFailed;

typedef struct Near {
  Explorer *explorer;
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
  NearWrong wrong;
  NearNeighbour neighbour;
  Arena arena; // names of files
  NearStats stats;
  Err problem;              // why the last passing run could not be replayed
  Hashmap tried;            // hashes of inputs
  ARRAY(Inputs) batch;      // to be run next
  ARRAY(uint32_t) turned;   // parallel: see NearFailed
  ARRAY(NearFailed) failed; // some that were run and did not pass
  // How the runs of the explorer end is listened to.
  void (*judged)(void *context, const Run *run);
  void *judged_context;
  unsigned first; // number of the batch's first test
  ARRAY(Verdict) verdicts;
  ARRAY(int) statuses;
  ARRAY(bool) shows;
  int status;              // of the given run
  ARRAY(unsigned) reduced; // numbers of passing tests made by reduction
} Near;

void near_open(Near *n, Explorer *e, const NearOptions *o);
void near_close(Near *n);

// -1: an error, among them that the failing run cannot be replayed.
int near_search(Near *n, Err *err);

// NULL: nothing passes.
const NearFound *near_best(const Near *n);

// --- the report -------------------------------------------------------------

// The lines of the report, each once: the branches that differ, of those the
// decisive ones; if only values differ, the rule that the failing run breaks;
// then the lines that tell most, branches or not.
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
