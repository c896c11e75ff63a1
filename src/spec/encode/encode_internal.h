// What the parts of the encoder share: encode.c unrolls, encode_merge.c merges,
// encode_step.c encodes instructions, encode_place.c accesses, encode_library.c
// the C library, encode_known.c keeps what is known where.
#ifndef CULPRIT_SPEC_ENCODE_ENCODE_INTERNAL_H
#define CULPRIT_SPEC_ENCODE_ENCODE_INTERNAL_H

#include "spec/encode/encode.h"

#define UNROLLED_NONE UINT32_MAX

// A condition that holds at the current place: `cond` is `value`.
struct Fact {
  Expr cond;
  bool value;
  const Fact *before;
};

// A way into an unrolled block.
typedef struct {
  uint32_t from; // unrolled
  Pmap state;
  bool cut; // assumed not to occur
} Incoming;

// A way out: its target, and which of the target's incoming ones it is.
typedef struct {
  uint32_t to, in;
} Leaving;

typedef struct {
  uint32_t block; // IR_NONE: the end of the function
  uint32_t nloops;
  uint32_t loops[LOOPS_MAX], rounds[LOOPS_MAX];
  ARRAY(Incoming) in;
  Leaving *out; // one for each edge; UNROLLED_NONE: not possible
  uint32_t nout;
  const IrInst *last;
  Val subject; // of the branch
  bool off;    // the branch
  Pmap end;    // state before it leaves
  const Fact *facts;
  uint32_t above, depth; // in the tree of dominators
  uint32_t order;        // in which it was encoded
  bool done;
} Unrolled;

struct EncodeFrame {
  EncodeFrame *caller;
  uint32_t function, id;
  uint64_t key; // the same for the same call in every encoding
  bool soft;    // its statements can be off
  bool root;    // the wrapper itself
  bool made;    // its code is generated: a wrapper, a predicate
  bool bare;    // a wrapper without clauses, for assertions only
  UnrollFlow *flow;
  Val *regs;
  ARRAY(Unrolled) blocks; // 0: the end
  ARRAY(uint32_t) pending;
  uint32_t current; // unrolled block
  uint32_t order;
  uint32_t nreturned;
  const Fact *facts; // at the call
  uint32_t *mark;    // of each unrolled block, and how many there is room for
  Val *at;
  size_t room;
};

// Cells that are not memory.
uint64_t ghost_dead(void);
uint64_t ghost_register(const EncodeFrame *f, uint32_t reg);
uint64_t ghost_returned(const EncodeFrame *f, uint32_t k);
uint64_t ghost_clause(uint32_t index); // four each: outcome, dead then, untold
bool ghost_is_dead(uint64_t key);      // it, or that of a clause

// --- encode.c ---------------------------------------------------------------

// Calls `function`: state and results in place.
void encode_call_function(Encoder *e, uint32_t function, bool soft, bool root,
                          const IrInst *site, const Val *args, size_t nargs,
                          Pmap *state, Val *results, size_t nresults);
UnrollFlow *encode_flow(Encoder *e, uint32_t function);
// The same number for the same instruction in the same call and round of every
// loop, in every encoding.
uint64_t encode_site_key(const Encoder *e, const IrInst *site);
uint64_t encode_mix(uint64_t a, uint64_t b);
bool encode_is_dead(Encoder *e, Pmap state);
// Assumes from here on that `cond` does not hold.
Pmap encode_assume_not(Encoder *e, Pmap state, Expr cond);
void encode_lost(Encoder *e, const char *name);

// --- encode_merge.c ---------------------------------------------------------

// What a state has in a cell; 0: nothing.
Val encode_look_up(Encoder *e, Pmap state, uint64_t key, unsigned width);
// Condition of edge `k` of a branch: exclusive, and one holds.
Expr encode_edge_guard(Encoder *e, const Unrolled *u, uint32_t k);
// The state at the unrolled block `to`, where ways meet; all pass `top`.
Pmap encode_merge(Encoder *e, EncodeFrame *f, uint32_t to, uint32_t top);

// --- encode_known.c ---------------------------------------------------------

// Can the instruction's statement be off? And its number.
bool encode_is_statement(const Encoder *e, const IrInst *i);
uint32_t encode_statement(Encoder *e, const IrInst *i);
// Is it off here?
bool encode_is_off(Encoder *e, const IrInst *i, bool branch);
// ENCODE_TRY: does the statement that is off deviate this time?
bool encode_deviates(Encoder *e);
uint64_t encode_random(Encoder *e, uint64_t below);
// A number for something that is `now` in a try.
uint64_t encode_other(Encoder *e, uint64_t now);
// In the run: the statement has set the cell; the clause that is being
// evaluated reads it.
void encode_note_write(Encoder *e, uint64_t address);
void encode_note_named(Encoder *e, uint64_t address);
// Notes a number that may be tried.
void encode_note_seen(Encoder *e, uint64_t value);
const Fact *encode_add_fact(Encoder *e, const Fact *before, Expr cond,
                            bool value);
// Makes these hold from now on.
void encode_load_facts(Encoder *e, const Fact *f);
// `cond`, simplified with what is known here.
Expr encode_simplify(const Encoder *e, Expr cond);

// --- encode_step.c ----------------------------------------------------------

// The instructions of the frame's current block up to its last.
void encode_block(Encoder *e, const IrBlock *b, Pmap *state);
Val encode_operand(Encoder *e, Pmap state, uint32_t operand, unsigned width);
void encode_set(Encoder *e, Pmap *state, uint32_t reg, Val v);

// --- encode_place.c ---------------------------------------------------------

Val encode_load(Encoder *e, Pmap *state, Val at, unsigned width, bool pointer,
                uint64_t site);
void encode_store(Encoder *e, Pmap *state, Val at, Val v, bool pointer,
                  uint64_t site);
// Where an assignment that is off may write instead: another pointer of the
// same kind, another number of the same object.
Val encode_elsewhere(Encoder *e, Val at, unsigned width, bool pointer);
// Something in the place of `v`, because its statement is off.
Val encode_any(Encoder *e, Val v, bool pointer, uint64_t site, uint64_t cell);
// The same in a try: one value that is allowed.
Val encode_try_other(Encoder *e, Val v, bool pointer, uint64_t site,
                     uint64_t cell);
// The cells that a pointer of unknown content may reach become anything.
void encode_forget(Encoder *e, Pmap *state, Val at);

// --- encode_states.c --------------------------------------------------------

// A function of the contract runtime that keeps or reads states.
bool encode_states(Encoder *e, const char *name, const IrInst *i,
                   const Val *args, Pmap *state, Val *result);

// --- encode_library.c -------------------------------------------------------

// True if `name` is known.
bool encode_library(Encoder *e, const char *name, const IrInst *i,
                    const IrCall *c, const Val *args, bool off, Pmap *state);

#endif
