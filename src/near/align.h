// Aligns two runs: which branch event of one corresponds to which of the other,
// and at which of them the runs diverge. Wang and Roychoudhury 2005, "Automated
// path generation for software fault localization", definitions 1 to 4.
//
// A run is its sequence of branch events. Each event depends on the event that
// decided whether it is executed: the last one before it whose branch it is
// control dependent on, or that of the call that entered its function. Events
// of two runs are aligned if they belong to the same branch and the events they
// depend on are aligned.
//
//   1 if(a) 2 i++; 3 if(b) 4 j++; 5 if(c) 6 if(d) 7 k++; else 9 k+=2;
//   failing 1 3 5 6 7     passing 1 3 4 5 6 9     distance <3, 6>
//
// An event depends on the innermost branch of its call whose join
// (ir/control.h) has not been reached. So each iteration of a loop depends on
// the one before, the i-th is aligned with the i-th, and everything that
// depends on an event follows it without a gap.
//
// An event's key is a hash of its branch and the key of the event it depends
// on: aligned events have the same key. Aligning takes linear time; where the
// runs take the same path no table is consulted. Different events with equal
// keys (64 bits) count as aligned.
//
// Memory: 16 bytes per event, 4 to 8 more once runs that differ are compared.
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
  uint32_t parent; // event it depends on; 0: the start of the program
  uint32_t edge;   // taken, in Program.edges: see Control.way
} Event;

// The key of an event, from its branch and the key of what it depends on.
uint64_t event_key(uint64_t key, uint32_t branch);

// Event 0 is the start of the program, not a branch.
typedef struct {
  ARRAY(Event) items;
  Bitset echoes; // events whose outcome an earlier branch had already decided:
                 // `while (a && b)` if a is false. They never differ.
  uint32_t *slots; // by key; made when first needed
  size_t nslots;
} Events;

void events_init(Events *e);
void events_release(Events *e);
// `key`: of the event it depends on. Returns the event's number.
uint32_t events_add(Events *e, uint64_t key, uint32_t parent, uint32_t branch,
                    uint32_t edge);
// The event with that key; 0: none. No event can be added afterwards.
uint32_t events_find(Events *e, uint64_t key);
// For each event the last one that depends on it, directly or indirectly; the
// event itself if there is none. Caller frees.
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

// The event that what is executed now in the call number `depth` depends on; 0:
// none.
uint32_t tracker_decider(const Tracker *t, size_t depth);
// The key that an event of this branch would get there now.
uint64_t tracker_key(const Tracker *t, size_t depth, uint32_t branch);

// --- distance ---------------------------------------------------------------

typedef struct {
  uint32_t event;  // of the failing run
  uint32_t needed; // edge that the passing run took, in Program.edges
} BranchDifference;
typedef ARRAY(BranchDifference) Distance;

// The events of `f` that are aligned with an event of `p` that took another
// edge, in order. If there is none: event 0 alone.
void align_distance(Events *f, const Events *p, Distance *out);

// Below 0: `a` is smaller. Distances are compared from the end: a later event
// is smaller, and so is a distance that is a suffix of the other.
int distance_compare(const Distance *a, const Distance *b);

// --- enumeration ------------------------------------------------------------

// Is given events to negate, in order. Answers: stop; skip all sets that end
// with this one; continue.
typedef enum { FLIP_STOP, FLIP_PRUNE, FLIP_ON } FlipAnswer;
typedef FlipAnswer FlipVisit(void *context, const uint32_t *flips, size_t n);

// All sets of at most `most` of the n events (ascending, without event 0) in
// order of distance, except those in which one depends on another. `ends`:
// see events_ends. For the run above: <6> <3,6> <1,3,6> <1,6> <5> <3,5> ...
// False: the visitor stopped it.
bool flips_enumerate(const uint32_t *ends, const uint32_t *events, size_t n,
                     size_t most, FlipVisit *visit, void *context);

#endif
