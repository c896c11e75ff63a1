// Watches a replay: what each executed instruction depends on, and the values
// of source variables at certain branches.
//
//   Watch w;
//   watch_init(&w, &control, keys, n, true);
//   ReplayOptions options = watch_options(&w, most);
//   recorder_replay(...)                      // moments are filled
//   watch_slice(&w, w.last);                  // what led to the last event
//   if (watch_reaches(&w, &w.moments.items[0], &variable)) ...
//   watch_release(&w);
//
// An event is an executed instruction, or the copy of a value from one block to
// the next (phi). It depends on the events that made its operands, on those
// that wrote the memory it reads, and on the branch it is control dependent on
// (align.h). A call of external code depends on its arguments and on the memory
// they point to: the object, if it is a local one, else at most 256 bytes that
// were written one after the other.
//
// Limits: the last one to two million events are kept; `cut` says that there
// were more. Of earlier events only those that a kept one uses are found.
// Variable arguments of the program's own functions, and the internal state of
// external code, carry no dependence. Variables are those of the branch's
// function, and globals; scalars only.
//
// Memory: 12 bytes per event and 4 per dependence.
#ifndef CULPRIT_NEAR_WATCH_H
#define CULPRIT_NEAR_WATCH_H

#include "near/align.h"
#include "near/watch_memory.h"
#include "replay/replay.h"

typedef struct {
  uint64_t bits;
  uint8_t width;
  uint8_t flags; // IR_FP, IR_POINTER, IR_UNSIGNED
  bool known;
  bool constant; // it is in the code
} WatchValue;

bool watch_value_same(const WatchValue *a, const WatchValue *b);

typedef struct {
  uint32_t number; // in Program.variables; behind them the globals
  const char *name;
  WatchValue value;
  uint32_t set; // by this event; 0: not known
} WatchVariable;

// A branch that is about to be taken.
typedef struct {
  uint64_t key; // of its event in Events
  bool seen;
  uint32_t event, block; // its own, and the first of its block
  uint32_t at;           // its block in Program.blocks,
  uint64_t execution;    // and which execution of it this is, from 1
  uint32_t nvalues;      // it depends on: two if compared with `op`, or one
  WatchValue values[2];
  const char *names[2]; // variables that they are, or NULL
  const char *op;
  ARRAY(WatchVariable) variables;
} WatchMoment;

typedef struct {
  uint32_t inst, control, first_dep;
} WatchEvent;

// A call of external code.
typedef struct {
  uint64_t hash; // of its arguments
  uint32_t event, inst;
} WatchCall;

typedef struct {
  uint32_t first_reg, function;
  const IrCall *call; // its last one
  uint32_t call_event;
  uint32_t block; // first event of the block
  uint64_t execution;
  uint32_t first_object, first_binding;
} WatchFrame;

typedef struct {
  uint64_t at, size;
} WatchObject;

typedef struct {
  uint32_t entry; // in Program.variables
} WatchBinding;

typedef struct {
  const Program *program;
  Events events;
  Tracker tracker;
  bool depends; // dependences are wanted, not only values
  ARRAY(WatchMoment) moments;
  Hashmap wanted;           // keys -> moments
  uint32_t *first_variable; // of each instruction: entry + 1, 0: none
  uint64_t *executions;     // of each block so far
  uint64_t execution;       // of the block that was entered last
  WatchMemory memory;
  Hashmap given; // addresses passed to external code -> the last such call,
  ARRAY(WatchCall) calls; // in here
  uint32_t last_outside;
  ARRAY(WatchFrame) frames;
  ARRAY(uint32_t) sets; // of each register: the event that set it
  ARRAY(uint32_t) copied;
  ARRAY(WatchObject) objects;
  ARRAY(WatchBinding) bindings;
  ARRAY(uint32_t) branches; // of each of the Events: its event here
  ARRAY(WatchEvent) items;
  ARRAY(uint32_t) deps;
  uint32_t base, dep_base; // numbers of what is kept first
  uint32_t last;           // event
  uint32_t last_branch;
  bool block_begins, started, cut;
  ARRAY(WatchCall) outputs; // calls that write output
  uint32_t end;             // main returned, or exit was called; 0: neither
  uint64_t status;
  uint32_t *used; // of each kept event: the last of the slice that uses it; 0:
                  // it is not in the slice
  Hashmap before; // the same of events that are not kept, but used by such
} Watch;

// Moments are wanted for the branch events with these keys. `depends` false: no
// slice will be computed.
void watch_init(Watch *w, const Control *c, const uint64_t *keys, size_t n,
                bool depends);
void watch_release(Watch *w);
// `most`: instructions.
ReplayOptions watch_options(Watch *w, uint64_t most);

// --- watch_slice.c: afterwards
// All events that `event` depends on.
void watch_slice(Watch *w, uint32_t event);
// Is the value that the variable had at that moment used from there on by
// something in the slice?
bool watch_reaches(const Watch *w, const WatchMoment *m,
                   const WatchVariable *v);
// The instruction of an event; NULL: it is not kept.
const IrInst *watch_inst(const Watch *w, uint32_t event);

// --- watch_moment.c
void watch_moment(Watch *w, WatchMoment *m, const ReplayStep *s);

#endif
