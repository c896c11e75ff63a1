// What the explorer could ask next, and which of it first: scripts that nobody
// asked for yet, then values that a comparison not yet seen to go the other way
// waits for, then forms, links and the rest; what was asked often in the same
// shape, or in the same world, goes back, what looks like the end of a visit
// (logout, delete) to the end. The same request is asked once in the same
// world. What pages lead to and what is made of input take turns. With a score
// (site_path.h), what is nearest to a failing request comes first, and the
// above decides among equals.
#ifndef CULPRIT_GENERATE_SITE_QUEUE_H
#define CULPRIT_GENERATE_SITE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generate/site_ask.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/hashmap.h"

typedef enum {
  WHY_ENTRY,  // a script of the site, asked for without any input
  WHY_SOLVED, // what input was compared with
  WHY_ABSENT, // a key that was looked up
  WHY_FORM,   // of a page
  WHY_LINK,
  WHY_VARIED, // a failing request with another value
  WHY_ZERO,   // with 0 for numbers that were guessed
  WHYS
} Why;

typedef struct {
  Ask ask;
  uint32_t world; // that it starts in
  Why why;
  bool fresh; // SOLVED: the other outcome was not seen yet
  bool last;  // looks like the end of a visit
  bool lucky; // found on a page that showed something new
  bool plain; // answered without PHP: no run
  unsigned depth;
  uint32_t page; // number of the request on whose page it was found; 0: none
  uint32_t base; // number of the request it was made from; 0: none
  uint32_t step; // of that one's path; VARIED: how many came before
  double score;  // in per cent; below 0: none
  // The queue's own:
  uint64_t order;
  uint32_t path, shape, request, place; // numbers into `asked`
} QueueItem;

// What is done about the end of a visit.
typedef enum {
  LAST_LAST,  // waits until nothing else is left, or 300 requests are made;
              // then every sixteenth is one
  LAST_NEVER, // is not asked for
  LAST_ANY    // is like the others
} LastMode;

enum { QUEUE_MOST = 20000, QUEUE_KEPT = 15000 };

typedef struct {
  ARRAY(QueueItem) items;
  ARRAY(uint32_t) asked; // how often, of each path, shape, request, world
  Hashmap names;         // -> number
  Hashmap known;         // world and request
  LastMode last;
  bool unscored; // scores do not count now
  uint64_t seed, count, taken;
  size_t dropped; // for lack of room
  Arena arena;
} Queue;

// Copies the ask. False: it was there before. What is worst goes if there are
// too many.
bool queue_add(Queue *q, QueueItem item);
// As if it had been added and taken: of an exploration that is resumed.
void queue_note(Queue *q, const Ask *ask, uint32_t world);
// The best; false: there is none. What it points to stays with the queue.
// Worlds that are not in `near` (NULL: all are) cost a little.
bool queue_take(Queue *q, const Bitset *near, QueueItem *out);
void queue_release(Queue *q);

#endif
