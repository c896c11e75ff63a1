// Bounded encoding of one call: what the code of a function, called in a given
// state, computes, as expressions in which every statement can be switched off.
//
//   Encoder run, e;
//   encoder_init(&run, &target, pool);
//   encoder_run(&run, err);         // once, concretely: bounds, kinds of
//                                   // pointers, statements
//   encoder_fork(&e, &run, other);  // as often as needed
//   encoder_off(&e, &on, err);      // all paths; statements not in `on`: off
//   encoder_clause(&e, k)           // does clause k hold?
//   encoder_release(&e);
//
// The function is the wrapper that culprit-cc makes of a function with a
// contract (contract/contract.h): it takes its arguments from the process,
// reports the outcome of each clause, and calls the body. Statements, one for
// each line, are those of the body and of what it calls. What the clauses call,
// the wrapper itself and all that is named __culprit_ is always on.
//
// Off: an assignment leaves its target free (so does `return` its value, and a
// call what it passes and writes); a branch leaves free what its two sides
// leave different where they join, and both sides are encoded, whatever its
// condition (docs/methods.md). What is on is not symbolic: as long as nothing
// depends on a statement that is off, the encoding is one concrete run.
// Memory is cells of the size they are accessed with, so a field is a cell; a
// pointer is the list of what it may point to (encode_value.h, pointees.h).
//
// Bounds. Loops iterate once more than in the run, calls nest one deeper than
// in the run; anything beyond is assumed not to occur, as are accesses through
// null and outside of objects (`dead`). Loops of clauses iterate further: a
// clause that does not hold is often decided in an early iteration, one that
// holds in the last.
//
// The C library: encode_library.c. Other external functions leave their result
// and what their arguments point to free; `losses` names them.
//
// Memory: expressions in the caller's pool, all else in the Encoder.
#ifndef CULPRIT_SPEC_ENCODE_ENCODE_H
#define CULPRIT_SPEC_ENCODE_ENCODE_H

#include "expr/expr_map.h"
#include "solve/solver.h"
#include "spec/encode/encode_value.h"
#include "spec/encode/memory.h"
#include "spec/encode/pointees.h"
#include "spec/encode/unroll_flow.h"
#include "util/bitset.h"
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
  bool ran;       // in the run
  bool assigns;   // it sets something
  bool branches;  // it decides
  bool returns;   // it sets the result
  uint32_t order; // of its last execution in the run, from 1
} Statement;

typedef struct {
  uint64_t table; // address of the contract
  uint32_t number;
  uint64_t cell;   // where its outcome is kept
  uint64_t dead;   // and what is assumed not to occur before it
  uint64_t untold; // not evaluated; of an assertion
} EncodedClause;

typedef struct {
  const char *name;
  uint64_t count;
} EncodeLoss;

// A cell that a clause names: that it reads itself, not through a predicate.
typedef struct {
  uint32_t clause;
  uint64_t address;
} NamedCell;

// A number that the run read or wrote outside of its variables.
typedef struct {
  uint64_t address;
  unsigned width;
} UsedCell;

// Memory at a label of a contract; an object that `assigns` is checked on.
typedef struct {
  uint64_t key;
  Pmap state;
} KeptState;
typedef struct {
  uint64_t at, size;
} KeptObject;

typedef struct EncodeFrame EncodeFrame;
typedef struct Fact Fact;

typedef enum {
  ENCODE_RUN,    // concretely
  ENCODE_OFF,    // every path, some statements are off
  ENCODE_TRY,    // concretely, statements that are off deviate at random
  ENCODE_FOLLOW, // the run's own path through the body, the state symbolic
  ENCODE_CHECK,  // every path, the state symbolic, nothing is off
} EncodeMode;

// How an ENCODE_TRY deviates: in execution `only` (from 1) of the statement
// `often`, or (0) in one of `rarely`; and in one of `others` of all others that
// are off (0: never).
typedef struct {
  uint64_t random; // state of the generator
  uint32_t often, only, rarely, others;
  uint32_t executed; // how often `often` was
} Dice;

// The next number of a generator (splitmix64).
static inline uint64_t dice_next(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

typedef struct Encoder Encoder;
struct Encoder {
  EncodeTarget target;
  Encoder *first; // that of the run: whose bounds these are; may be itself
  EncodeMode mode;
  const Bitset *on;    // statements; of ENCODE_OFF, ENCODE_TRY
  bool elsewhere;      // ENCODE_OFF: what is off may write another cell, too
  const Bitset *asked; // clauses that are evaluated; NULL: all
  ExprPool *pool;
  ValPool values;
  Memory memory;
  Pointees pointees;
  Arena arena;

  // Only of the first.
  UnrollFlow **flows;  // of each function, when needed
  Hashmap touched;     // cells that the run used
  Bitset touched_some; // some bits of their names
  Hashmap wrappers;    // names of the functions with a contract -> their bodies
  Hashmap frames;      // key of a call -> its number
  ARRAY(Statement) statements;
  Hashmap statement_index; // (source, line) -> number
  Hashmap writes;       // (statement, address): the statement has set that cell
  ARRAY(UsedCell) used; // each once
  ARRAY(NamedCell) named; // by clauses, after the call
  size_t nnamed;          // of them: those of clauses evaluated so far
  ARRAY(uint64_t) seen;   // numbers that statements have set
  Hashmap seen_index;

  ARRAY(EncodedClause) clauses;
  ARRAY(Constraint) path; // ENCODE_FOLLOW: branches of the body, in order
  ARRAY(uint32_t) path_statement; // of each
  ARRAY(Expr) path_dead;          // what is assumed not to occur before each
  ARRAY(EncodeLoss) losses;
  uint32_t cut_loops, cut_calls, cut_size; // assumed not to occur
  size_t blocks, max_blocks;
  size_t max_exprs; // of the pool
  double deadline;  // seconds of clock_now(); beyond: cut_size
  uint32_t bound;   // ENCODE_CHECK: rounds of a loop, nested calls
  uint64_t table;   // of the wrapper's contract, 0: not seen yet
  uint64_t about;   // of the first: the assertion to explain; 0: the contract
  uint64_t args;    // where its parameters lie
  size_t npre;      // cells of the process that the run read
  Pmap end;         // state at the end
  bool ended;       // the end is reached in the run
  bool stopped;     // an assertion in the body is broken: the process ends

  // encode_states.c
  ARRAY(KeptState) kept;
  ARRAY(KeptObject) frames_of_call;
  uint64_t before; // key of the state before the call
  ARRAY(uint64_t)
  met; // of the first: what searched variables are compared with

  // While encoding.
  EncodeFrame *frame;
  ExprMap facts;
  uint32_t steps;
  Val dead;          // what the wrapper starts each clause with
  bool behind_body;  // the body has returned
  uint32_t executed; // the statement last checked for being off
  Dice dice;
};

void encoder_init(Encoder *e, const EncodeTarget *t, ExprPool *pool);
void encoder_release(Encoder *e);

// Fails if the call does not end within the bounds, naming the reason.
int encoder_run(Encoder *e, Err *err);

// After encoder_run: adds the statements of all that the body may call.
void encoder_list_statements(Encoder *e);

// Another encoding of the same call within the bounds of `first`, in a pool of
// its own. `first` must have run, and must live longer.
void encoder_fork(Encoder *e, Encoder *first, ExprPool *pool);
// Of a fork: all paths; statements that are not in `on` are off. With
// max_blocks, max_exprs or deadline the rest is assumed not to occur, and
// cut_size is not 0.
int encoder_off(Encoder *e, const Bitset *on, Err *err);
// Of a fork: one path, on which statements that are not in `on` deviate now and
// then. Everything is a constant. The values are some of those that encoder_off
// allows.
void encoder_try(Encoder *e, const Bitset *on, Dice dice);

// After encoder_run: the same path with the state before the call symbolic
// (memory.symbolic). The clauses are encoded on all paths.
int encoder_follow(Encoder *e, Err *err);

// After encoder_run: all paths on which loops iterate and calls nest at most
// `bound` times, the state before the call symbolic.
int encoder_check(Encoder *e, uint32_t bound, Err *err);

// After encoder_run: from now on, also in all forks, clauses are those of the
// assertion or loop invariant described at `table`, and no others are
// evaluated. False: its clause `number` was not broken.
bool encoder_mean_assertion(Encoder *e, uint64_t table, uint32_t number);

// Does clause `number` of the wrapper's contract hold? BV(1); 0: it was never
// reached. An assertion that is not reached holds.
Expr encoder_clause(Encoder *e, uint32_t number);
// Was the end not reached, or only by what is assumed not to occur?
Expr encoder_dead(Encoder *e);
// The same for the place where the clause is evaluated, without what other
// clauses need. 0: it was never reached.
Expr encoder_clause_dead(Encoder *e, uint32_t number);
// Is some assertion of the body broken, by something that may occur?
Expr encoder_breaks_assertion(Encoder *e);

// Did the run's statements in `list` set none of the cells that the clause
// names? False if it names none.
bool encoder_sets_none(const Encoder *e, uint32_t clause, const uint32_t *list,
                       size_t n);

// What a cell is called by pointees.h: the same for a variable of every call.
uint64_t encode_cell_name(const Encoder *e, uint64_t address);

// "... are assumed not to occur; not modelled: ..."; "": no limits.
void encoder_show_limits(const Encoder *e, Str *out);

#endif
