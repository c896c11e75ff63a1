// Two runs side by side: which branch of one is which branch of the other, and
// at which of them they part. Paper: Wang and Roychoudhury 2005, "Automated
// path generation for software fault localization", definitions 1 to 4.
//
// A run is its sequence of branch events. Each depends on the event that
// decided about it: the last one before it whose branch it is control dependent
// on, or that of the call its function was entered by. Events of two runs are
// aligned if they are of the same branch and what they depend on is aligned.
//
//   1 if(a) 2 i++; 3 if(b) 4 j++; 5 if(c) 6 if(d) 7 k++; else 9 k+=2;
//   failing 1 3 5 6 7     passing 1 3 4 5 6 9     distance <3, 6>
//
// What an event depends on is the innermost branch of its call whose join
// (ir/control.h) has not been reached. So in a loop each iteration depends on
// the one before, the i-th is aligned with the i-th, and all that depends on an
// event follows it without a gap.
//
// An event's key is a hash of its branch and the key of what it depends on:
// aligned events have the same key. Two runs are aligned in linear time; where
// they go the same way no table is asked. Equal keys of different events (64
// bits) are taken for aligned.
//
// Memory: 16 bytes an event, 4 to 8 more once runs that differ are compared.
#ifndef CULPRIT_NEAR_ALIGN_H
#define CULPRIT_NEAR_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/control.h"
#include "util/array.h"
#include "util/bitset.h"

typedef struct {
  uint64_t key;
  uint32_t parent; // event it depends on; 0: none but the start of the program
  uint32_t edge;   // that was taken, in Program.edges: see Control.way
} Event;

// Of an event: of its branch and the key of what decided about it.
uint64_t event_key(uint64_t key, uint32_t branch);

// Event 0 is the start of the program, no branch.
typedef struct {
  ARRAY(Event) items;
  Bitset echoes; // events whose outcome an earlier branch had decided already:
                 // `while (a && b)` if a is false. They differ from nothing.
  uint32_t *slots; // by key; made when first needed
  size_t nslots;
} Events;

void events_init(Events *e);
void events_release(Events *e);
// `key`: of what decided about it. Returns the event's number.
uint32_t events_add(Events *e, uint64_t key, uint32_t parent, uint32_t branch,
                    uint32_t edge);
// The event with that key, 0: there is none. None can be added afterwards.
uint32_t events_find(Events *e, uint64_t key);
// The last event that depends on each one, by way of others too; itself if
// there is none. Caller frees.
uint32_t *events_ends(const Events *e);

// --- from a replay ----------------------------------------------------------

typedef struct {
  uint64_t key;
  uint32_t event;
  uint32_t join; // block; IR_NONE: the function's end
} OpenBranch;

typedef struct {
  uint64_t key;
  uint32_t parent;
  uint32_t first_open;
  uint32_t block;   // being executed
  uint32_t entered; // by this edge; IR_NONE: it is the first
  uint32_t calls;   // made by it so far
} OpenCall;

// Follows a replay: its observers are tracker_branch and tracker_block.
typedef struct {
  const Control *control;
  Events *events;
  ARRAY(OpenBranch) open;
  ARRAY(OpenCall) calls;
  uint32_t branch, edge; // taken, its block's successor not yet entered
} Tracker;

void tracker_init(Tracker *t, const Control *c, Events *out);
void tracker_release(Tracker *t);
void tracker_branch(void *tracker, uint32_t branch, uint32_t edge);
// `depth`: of calls, from 1.
void tracker_block(void *tracker, uint32_t block, size_t depth);

// What decides about what is executed now in the call number `depth`: an event
// of the Events, 0: none.
uint32_t tracker_decider(const Tracker *t, size_t depth);
// The key that the event gets which is this branch, executed there now.
uint64_t tracker_key(const Tracker *t, size_t depth, uint32_t branch);

// --- distance ---------------------------------------------------------------

typedef struct {
  uint32_t event;  // of the failing run
  uint32_t needed; // edge that the passing run took, in Program.edges
} BranchDifference;
typedef ARRAY(BranchDifference) Distance;

// The events of `f` that are aligned with one of `p` that went another way, in
// order. If there is none: event 0 alone.
void align_distance(Events *f, const Events *p, Distance *out);

// Below 0: `a` is smaller. Compared from the end: the later event is the
// smaller one, and so is a distance that is the end of the other.
int distance_compare(const Distance *a, const Distance *b);

// --- enumeration ------------------------------------------------------------

// Events to turn round, in order. Answers: no more are wanted; none that this
// is the end of; go on.
typedef enum { FLIP_STOP, FLIP_PRUNE, FLIP_ON } FlipAnswer;
typedef FlipAnswer FlipVisit(void *context, const uint32_t *flips, size_t n);

// All sets of at most `most` of the n events (ascending, without event 0) in
// order of distance; sets in which one depends on another are left out. `ends`:
// see events_ends. For the run above: <6> <3,6> <1,3,6> <1,6> <5> <3,5> ...
// False: the visitor wanted no more.
bool flips_enumerate(const uint32_t *ends, const uint32_t *events, size_t n,
                     size_t most, FlipVisit *visit, void *context);

#endif
