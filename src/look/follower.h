// Follows a replayed run forwards and keeps, for every value in a register and
// every byte of memory, the set of lines it depends on: the dynamic slice of
// every value, whenever it is asked for. One value is asked for: the byte of
// standard output at an offset.
//
//   Follower f;
//   follower_init(&f, &control, actual, nactual, wanted, standard_out);
//   ReplayOptions options = follower_options(&f, most);
//   replay_with(...);
//   follower_end(&f, &path, &trace);
//   if (f.found) line_sets_list(&f.sets, f.slice, &lines);
//
// What an instruction computes depends on its line, on its operands, on the
// memory it reads (each byte on what wrote it, and on the address), and on what
// decided that it is executed: the innermost branch of its call whose join
// (ir/control.h) has not been reached, else the call. The replayed code is not
// promoted (stores_build): an assignment is a store with its line.
//
// The byte at the wanted offset depends on
// - what was written there: the character, the argument that was converted, the
//   byte of the string; and the call that wrote it;
// - a piece of varying length (%d, %s, a string) that ends right before it: it
//   might have been longer;
// - branches since the byte before it was written whose other outcome leads to
//   code that prints, up to their join: something may have been left out there.
// Where the output ends at the offset, the end of the run takes the place of the
// byte: the return from main, the call of exit, the instruction that crashed or
// was the last before the run was killed (and, but for a crash, the branches as
// above).
//
// What the replay prints is compared with what the run printed; if it is
// something else, the output was written in some way that is not followed
// (`strange`), and nothing is found.
//
// Limits. A call of a library function depends on its arguments and what they
// point to (follower_calls.c knows how far); state inside the library carries no
// dependence, but for strtok and rand. What is passed as variable arguments
// counts as one value. Memory beyond 16 MiB of touched bytes is not followed
// (`memory.full`), nor are dependences beyond LINE_SETS_MAX (`sets.full`).
#ifndef CULPRIT_LOOK_FOLLOWER_H
#define CULPRIT_LOOK_FOLLOWER_H

#include "ir/control.h"
#include "look/line_sets.h"
#include "look/skipped.h"
#include "near/watch_memory.h"
#include "replay/replay.h"

typedef struct {
  const char *source;
  uint32_t line;
} FollowedLine;

// A branch whose join has not been reached.
typedef struct {
  uint32_t join, set;
} OpenDecision;

typedef struct {
  uint64_t at, size;
} FollowedObject;

typedef struct {
  uint32_t first_reg, function;
  bool fresh;         // no instruction was executed yet
  const IrCall *call; // its last one
  uint32_t called;    // what the callee is executed for
  uint32_t outside;   // what a call of code outside depends on
  bool is_outside;    // that call has not returned
  const IrInst *inst; // ... and is this one
  uint32_t parent;    // what it is executed for itself
  uint32_t first_open, first_object;
  uint32_t varargs;
} FollowFrame;

// Pieces of the output before the wanted byte that depend on the same lines.
typedef struct {
  uint32_t set, pieces;
} RightPieces;

typedef struct Follower {
  const Program *program;
  const Control *control;
  LineSets sets;
  uint32_t *line_of; // of each place: in `lines`; IR_NONE: none
  ARRAY(FollowedLine) lines;
  ARRAY(uint32_t) single; // of each line: the set of it alone; 0: not made yet
  Bitset executed;        // lines
  bool *prints;           // of each edge: it may lead to output before the join
  WatchMemory memory;
  ARRAY(FollowFrame) frames;
  ARRAY(uint32_t) regs; // the set of each register
  ARRAY(uint32_t) moved;
  ARRAY(uint64_t) passed; // arguments of the last call
  ARRAY(OpenDecision) open;
  ARRAY(FollowedObject) objects;
  Hashmap given; // addresses passed to code outside -> set
  uint32_t last_outside;
  uint32_t tokens, random; // state of strtok, of rand
  uint32_t jumped;         // by longjmp; 0: no
  SkippedCode skipped;
  bool strict;            // to be set: without what was skipped
  const uint64_t *values; // registers of the branch being executed
  uint32_t decided;       // its set
  uint32_t branch, edge;  // taken, its target not yet entered
  bool block_begins, started;
  // --- output
  uint64_t standard_out; // FILE *
  const char *actual;    // what the run printed
  size_t nactual, wanted;
  size_t offset;       // of the next byte
  uint32_t omitted;    // what might have printed since the last byte
  Hashmap right_index; // set -> in `right`
  ARRAY(RightPieces) right;
  uint32_t last_right; // set of the byte before
  uint32_t nright;     // pieces
  bool found, strange;
  uint32_t slice;      // of the wanted byte
  uint32_t place;      // in Program.places: what wrote it
  const char *by;      // function that was called to write it; NULL: the end
  uint32_t last, end;  // of the last instruction; of the end of main, of exit
  uint32_t last_place; // of the last instruction
  uint32_t divided, division_place; // of the last division
  uint32_t end_place;
  bool ended;
} Follower;

// `control` is that of the program, which is going to be replayed.
void follower_init(Follower *f, const Control *control, const char *actual,
                   size_t nactual, size_t wanted, uint64_t standard_out);
void follower_release(Follower *f);
ReplayOptions follower_options(Follower *f, uint64_t most);
// The replay is over. `killed`: the run would have gone on.
void follower_end(Follower *f, const Path *path, bool killed);

// --- for its parts ----------------------------------------------------------

static inline uint32_t follower_union(Follower *f, uint32_t a, uint32_t b) {
  return line_sets_union(&f->sets, a, b);
}

static inline uint64_t follower_value(const Follower *f, const ReplayStep *s,
                                      uint32_t operand) {
  return operand & IR_CONST ? f->program->values.items[operand & ~IR_CONST]
                            : s->regs[operand];
}

static inline uint32_t follower_set(const Follower *f, const FollowFrame *frame,
                                    uint32_t operand) {
  return operand & IR_CONST ? 0 : f->regs.items[frame->first_reg + operand];
}

// The set of n bytes of memory.
uint32_t follower_memory(Follower *f, uint64_t at, uint64_t n);
// Copies n bytes with what they depend on, and `set`.
void follower_copy(Follower *f, uint64_t to, uint64_t from, uint64_t n,
                   uint32_t set);
// The bytes up to the first NUL; false: they are not known.
bool follower_text(Follower *f, uint64_t at, uint64_t most, Str *out);

// --- follower_calls.c: library functions
const char *follower_callee(const Follower *f, const IrCall *c);
// Before: sets frame->outside. `base`: of the call itself.
void follower_call(Follower *f, const ReplayStep *s, FollowFrame *frame,
                   uint32_t base);
// It has returned, `s` is the next instruction.
void follower_called(Follower *f, const ReplayStep *s, FollowFrame *frame);
bool follower_prints(const char *function);

// --- follower_output.c: what it prints
// True: the call writes output. It has returned `result`.
bool follower_output(Follower *f, const ReplayStep *s, const FollowFrame *frame,
                     const IrCall *c, uint64_t result);
// sprintf and its like: the bytes at its first argument.
void follower_format(Follower *f, const ReplayStep *s, const FollowFrame *frame,
                     const IrCall *c, uint32_t format, uint64_t result);
// A byte (-1: not known which) that depends on `set`.
void follower_print(Follower *f, int byte, uint32_t set);
// The run ends here, by a call of exit or the like.
void follower_note_end(Follower *f, uint32_t set, uint32_t place);
// The union of what the innermost function with variable arguments was given.
uint32_t follower_varargs(const Follower *f);

#endif
