// Bounded encoding of one call: what the code of a function, called in a given
// state, computes, as expressions in which every statement can be switched off.
//
//   Encoder e;
//   encoder_init(&e, &target, pool);
//   encoder_run(&e, err);         // once, concretely: bounds, kinds of
//   pointers encoder_all(&e, err);         // all paths within those bounds
//   encoder_clause(&e, k)         // does clause k hold? over e.statements'
//   `on` encoder_release(&e);
//
// The function is the wrapper that culprit-cc makes of a function with a
// contract (cfront/contract.h): it takes its arguments from the process, tells
// the outcome of each clause, and calls the body. Statements of the body and of
// what it calls have a selector, a condition `on`, one for each line. What the
// clauses call, the wrapper itself and all that is named __culprit_ has none.
//
// Off: an assignment leaves its target free (so do `return` with its value, and
// a call with what it passes and what it writes); a branch leaves free what its
// sides leave different, where they meet again (METHODS section 5). Memory is
// cells of the size they are accessed with, so a field is a cell; a pointer is
// the list of what it may point to (value.h, pointees.h).
//
// Bounds. Loops go round as often as in the run and once more, calls nest as
// deep as in the run and one more; what goes further is assumed away, as are
// accesses through null and outside of objects (`dead`), and `cuts` says so.
//
// The C library: encode_library.c. Other functions outside leave their result
// free and what their arguments point to; `losses` names them.
//
// Memory: expressions in the caller's pool, all else in the Encoder.
#ifndef CULPRIT_SPEC_ENCODE_H
#define CULPRIT_SPEC_ENCODE_H

#include "spec/flow.h"
#include "spec/memory.h"
#include "spec/pointees.h"
#include "spec/value.h"
#include "sym/expr_map.h"
#include "sym/solver.h"
#include "util/err.h"

typedef struct {
  Program *program;  // linked and bound
  uint32_t wrapper;  // function
  ReadProcess *read; // memory at the call
  void *context;
  const void *args; // the parameters as a struct; may be NULL
  size_t nargs;     // bytes
} EncodeTarget;

typedef struct {
  const char *file;
  uint32_t line;
  Expr on;
  bool ran;       // in the run
  bool assigns;   // it sets something
  bool branches;  // it decides
  uint32_t order; // of its first execution in the run, from 1
} Statement;

typedef struct {
  uint64_t table; // address of the contract
  uint32_t number;
  uint64_t cell; // where its outcome is kept
  uint64_t dead; // and what is assumed away when it is evaluated
} EncodedClause;

typedef struct {
  const char *name;
  uint64_t count;
} EncodeLoss;

typedef struct Frame Frame;
typedef struct Fact Fact;

typedef enum {
  ENCODE_RUN,    // concretely
  ENCODE_ALL,    // every path, statements may be off
  ENCODE_FOLLOW, // the run's own path through the body, the state symbolic
  ENCODE_CHECK,  // every path, the state symbolic, nothing is off
} EncodeMode;

typedef struct {
  EncodeTarget target;
  EncodeMode mode;
  ExprPool *pool;
  Values values;
  Memory memory;
  Pointees pointees;
  Arena arena;
  Flow **flows;     // of each function, when needed
  Hashmap touched;  // cells that the run used
  Hashmap wrappers; // names of the functions with a contract -> their bodies

  ARRAY(Statement) statements;
  Hashmap statement_index; // (source, line) -> number
  ARRAY(EncodedClause) clauses;
  ARRAY(Constraint) path; // ENCODE_FOLLOW: branches of the body, in order
  ARRAY(uint32_t) path_statement; // of each
  ARRAY(Expr) path_dead;          // what is assumed away before each
  ARRAY(EncodeLoss) losses;
  uint32_t cut_loops, cut_calls, cut_size; // what was assumed away
  size_t blocks, max_blocks;
  uint32_t bound; // ENCODE_CHECK: rounds of a loop, nested calls
  uint64_t table; // of the wrapper's contract, 0: not seen yet
  uint64_t args;  // where its parameters lie
  size_t npre;    // cells of the process that the run read
  Pmap end;       // state at the end
  bool ended;     // the end is reached in the run

  // While encoding.
  Frame *frame;
  uint32_t nframes;
  ExprMap facts;
  uint32_t steps;
  Val dead; // what the wrapper starts each clause with
} Encoder;

void encoder_init(Encoder *e, const EncodeTarget *t, ExprPool *pool);
void encoder_release(Encoder *e);

// Fails if the call does not come to its end within the bounds, naming why.
int encoder_run(Encoder *e, Err *err);
// After encoder_run. Selectors are variables that are 1 in the run.
int encoder_all(Encoder *e, Err *err);
// After encoder_run: the same path with the state before the call symbolic
// (memory.symbolic). The clauses are encoded on all paths.
int encoder_follow(Encoder *e, Err *err);

// After encoder_run: all paths on which loops go round and calls nest `bound`
// times at most, the state before the call symbolic.
int encoder_check(Encoder *e, uint32_t bound, Err *err);

// Does clause `number` of the wrapper's contract hold? BV(1); 0: it was never
// reached.
Expr encoder_clause(Encoder *e, uint32_t number);
// Was the end not reached, or only by what is assumed away?
Expr encoder_dead(Encoder *e);
// The same for the place where the clause is evaluated: what other clauses
// need is not in it. 0: it was never reached.
Expr encoder_clause_dead(Encoder *e, uint32_t number);

// What a cell is called by pointees.h: the same for a variable of every call.
uint64_t encode_cell_name(const Encoder *e, uint64_t address);

// "assumed away: ..., not modelled: ..."; "" if there is nothing to say.
void encoder_show_limits(const Encoder *e, Str *out);

#endif
