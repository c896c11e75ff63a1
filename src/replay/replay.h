// Replays one recorded run over the lowered IR and builds, for every value the
// run computed from its input, the expression that says how.
//
//   trace:  in[0] = '7' was loaded, B3 taken, then the run ended
//   gives:  path = { in.size > 0, in[0] >= '0', in[0] <= '9' }
//
// The trace gives every address and every result of external code; everything
// else is computed again, branches included, so replay never forks and
// never calls a solver. Every condition put on the path holds in the run it
// came from; one that does not is our bug, is counted in stats.false_conditions
// and left out.
//
// Limits. Values that depend on the input become concrete where external code
// uses them or where they are addresses: the path says so with a condition of
// its own (PATH_LIBC, PATH_ADDRESS), and stats.losses counts it by name. Signal
// handlers that interrupt instrumented code cannot be replayed.
//
// Memory: expressions live in the caller's pool, events in the Path.
#ifndef CULPRIT_REPLAY_REPLAY_H
#define CULPRIT_REPLAY_REPLAY_H

#include "expr/expr.h"
#include "ir/ir.h"
#include "model/input.h"
#include "replay/trace.h"
#include "solve/solver.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

enum { PATH_TEXTS = 256 };

typedef enum {
  PATH_BRANCH, // if, loops, && ...
  PATH_SWITCH,
  PATH_ADDRESS, // an address computed from input is what it was
  PATH_LIBC,    // what a library function found, or was given
  PATH_DIVIDE,  // implicit: the divisor is not 0
  PATH_BOUNDS,  // implicit: the access stays in its object
  PATH_EOF,     // the input goes on at this place, or ends here
  PATH_KINDS
} PathKind;

// `cond` had `outcome` in this run.
typedef struct {
  uint32_t kind : 4; // PathKind
  uint32_t outcome : 1;
  uint32_t violated : 1; // implicit: the run itself breaks the rule
  uint32_t edge : 26;    // that was taken, counted from the branch's first
  uint32_t branch;       // in Program.branches, IR_NONE: no branch
  uint32_t instance;     // how often this branch was executed before
  uint32_t place;        // in Program.places
  uint32_t function;     // in Program.functions, which tells the unit
  Expr cond;             // BV(1)
  Expr subject;          // PATH_SWITCH: the value; PATH_ADDRESS: the address;
                         // PATH_DIVIDE: the divisor; 0: none
} PathEvent;
_Static_assert(sizeof(PathEvent) == 28, "a long run has millions of them");

// A text from the input that was compared with a constant one, and was not
// equal to it: bytes at..at+size of a source.
typedef struct {
  uint32_t source, at, size;
  uint32_t place; // of the comparison
  char *text;     // what it was compared with, `len` bytes
  uint32_t len;
} PathText;

typedef enum {
  STOP_END,   // the program came to its end
  STOP_CRASH, // a fatal signal, at `place`
  STOP_CALL,  // inside a call of code that we do not have: exit, abort, ...
  STOP_CUT,   // the trace ends: the process was killed, or the cap reached
  STOP_LIMIT, // as many instructions as were allowed
} StopKind;

typedef struct {
  const char *name; // of the function or operation
  uint64_t count;
} PathLoss;

typedef struct {
  uint64_t instructions;
  uint64_t symbolic; // of which had an operand from the input
  uint64_t calls, branches;
  uint64_t false_conditions; // should be 0
  uint64_t wrong_values;     // expressions that did not give the run's value
  uint64_t surprises;        // memory changed by code outside, seen by a load
  uint64_t checked;          // blocks compared with a checking trace
  ARRAY(PathLoss) losses;    // most frequent first
} PathStats;

typedef struct {
  ARRAY(PathEvent) events;
  ARRAY(PathText) texts; // PATH_TEXTS at most, in the order of the run
  PathStats stats;
  StopKind stop;
  uint32_t signal;
  uint32_t stop_place, stop_function; // IR_NONE: outside
  const char *stop_callee;            // STOP_CALL; may be NULL
  // Variables of each source of the input.
  // An argument's and an environment variable's have 1 + INPUT_SLACK more.
  ARRAY(VarId) first_var; // of its bytes
  ARRAY(VarId) size_var;
} Path;

// Observes every branch, symbolic or not.
typedef void ReplayObserver(void *context, uint32_t branch, uint32_t edge);

// ... and every block (in Program.blocks), before it is executed, with the
// number of calls it is in, its own function's included. A block that a branch
// leads to comes after that branch; returns are not reported.
typedef void ReplayBlockObserver(void *context, uint32_t block, size_t depth);

// ... every instruction, before it is executed,
typedef struct {
  const IrInst *inst;
  const uint64_t *regs; // of its function
  uint32_t first_reg;   // so that registers of all open calls are told apart
  uint32_t function;    // in Program.functions
  size_t depth;         // of calls
} ReplayStep;
typedef void ReplayStepObserver(void *context, const ReplayStep *step);

// ... and what code outside wrote.
typedef void ReplayWriteObserver(void *context, uint64_t at,
                                 const uint8_t *bytes, uint64_t n);

typedef struct {
  uint64_t max_instructions; // 0: 500 million
  ReplayObserver *observer;
  ReplayBlockObserver *entered;
  ReplayStepObserver *stepped;
  ReplayWriteObserver *written;
  void *context;
  bool note_texts;   // fill Path.texts
  bool split_tables; // a place in a table: fix its far parts, not all of it
} ReplayOptions;

// The program must be linked, and is bound to the trace. `in`, `pool`: NULL for
// a concrete replay. Fails if trace and program do not fit (our bug, a signal
// handler, or a damaged trace). `out` is to be released even then.
int replay(Program *p, const Trace *t, const Inputs *in, ExprPool *pool,
           Path *out, Err *err);
int replay_with(Program *p, const Trace *t, const Inputs *in, ExprPool *pool,
                const ReplayOptions *options, Path *out, Err *err);
void path_release(Path *p);

// The input that a solution stands for: `from`, which was replayed, with the
// bytes and sizes of the model. What is new at the end of a source is '0'.
void path_apply(const Path *p, const Inputs *from, const Model *m, Inputs *out);

#endif
