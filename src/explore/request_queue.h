// What the explorer could ask next, and which of it first.
//
// There are four sorts of ideas: what pages lead to, the same in another state,
// input that was solved for, and odd input. They take turns, and a sort gets
// the more of them the more new lines and outcomes its last requests showed; a
// sixteenth at least (less while another shows very much), so none waits for
// the end of another, however many there are.
//
// Of one sort, scripts that nobody asked for come first, then values that a
// comparison not yet seen to go the other way waits for, then forms, links and
// the rest: those first that send a parameter nobody sent to this script, or a
// new value of one that has few (?page=...); what was asked often in the same
// shape, or in the same state, goes back, what looks like the end of a visit
// (logout, delete) to the end. What is asked again in another state comes the
// earlier the more conditions it went by that always had the same outcome. The
// same request is asked once in the same state. With a score (web_strategy.h),
// what is nearest to a failing request comes first of all sorts, and the above
// decides among equals.
#ifndef CULPRIT_EXPLORE_REQUEST_QUEUE_H
#define CULPRIT_EXPLORE_REQUEST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "php/ask.h"
#include "php/record/php_record.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/hashmap.h"

typedef enum {
  ORIGIN_ENTRY,  // a script of the site, asked for without any input
  ORIGIN_SOLVED, // what input was compared with
  ORIGIN_ABSENT, // a key that was looked up
  ORIGIN_FORM,   // of a page
  ORIGIN_LINK,
  ORIGIN_VARIED, // a failing request with another value
  ORIGIN_ZERO,   // with 0 for numbers that were guessed
  ORIGIN_ODD,    // with a value that nobody is expected to send
  ORIGINS
} RequestOrigin;

typedef enum {
  QUEUE_PAGE,
  QUEUE_INPUT,
  QUEUE_AGAIN,
  QUEUE_ODD,
  QUEUE_CLASSES
} QueueClass;

typedef struct {
  Ask ask;
  uint32_t state; // that it starts in
  RequestOrigin origin;
  bool fresh;    // SOLVED: the other outcome was not seen yet; ODD: first try
  bool last;     // looks like the end of a visit
  bool lucky;    // found on a page that showed something new
  bool plain;    // answered without PHP: no run
  bool redirect; // where an answer sent its visitor at once: a turn of the
                 // sort that the request was of
  bool early;    // a page in a state that the user's own requests led to: as if
                 // it were new
  unsigned depth;
  uint32_t page; // number of the request on whose page it was found; 0: none
  uint32_t base; // number of the request it was made from; 0: none
  uint32_t step; // of that one's path; VARIED: how many came before
  const PhpCompare *compare; // SOLVED: what was solved; NULL in the queue
  double score;              // in per cent; below 0: none
  // The queue's own:
  uint64_t order;
  uint32_t path, shape, request, place; // numbers into `known`
  uint32_t name, value; // of the parameter that was sent most rarely
  QueueClass class;     // that it was taken as
} QueueItem;
typedef ARRAY(QueueItem) QueueItems;

// What is done about the end of a visit.
typedef enum {
  LAST_LAST,  // waits until nothing else is left, or 300 requests are made;
              // then every sixteenth is one
  LAST_NEVER, // is not asked for
  LAST_ANY    // is like the others
} LastMode;

enum { QUEUE_MOST = 20000, QUEUE_KEPT = 15000 };

// What was asked before.
typedef struct {
  uint32_t asked; // how often
  union {
    uint32_t open;   // a request: conditions it went by that always had the
                     // same outcome
    uint32_t values; // a name of a parameter: different ones that were sent
  };
} UseCount;

// How the turns of a sort are dealt out: its next one comes at `due`.
typedef struct {
  double gain; // what its last requests showed, on average; 0: as expected
  double due;
} Turns;

typedef struct {
  QueueItems items;
  ARRAY(UseCount) counts; // each path, shape, request, state, name and value
  Hashmap names;          // -> number
  Hashmap done;           // state and request
  Turns turns[QUEUE_CLASSES];
  double now;
  LastMode last;
  bool scored;   // by nearness
  bool unscored; // scores do not count now
  uint64_t seed, count, taken;
  size_t dropped; // for lack of room
  size_t made; // items made of other requests' input, when one was last taken
  Arena arena;
} Queue;

// Copies the ask. False: it was there before. What is worst goes if there are
// too many.
bool queue_add(Queue *q, QueueItem item);
// Though it was asked before in the same state.
void queue_add_again(Queue *q, QueueItem item);
// Conditions that the request went by and that always had the same outcome,
// when it was last asked.
uint32_t queue_open(Queue *q, const Ask *ask);
// As if it had been added and taken: of an exploration that is resumed.
void queue_note(Queue *q, const Ask *ask, uint32_t state);
// The best; false: there is none. What it points to stays with the queue.
// Worlds that are not in `near` (NULL: all are) cost a little.
bool queue_take(Queue *q, const Bitset *near, QueueItem *out);
// What came of it: so many new lines and outcomes, and so many conditions that
// always had the same outcome.
void queue_learn(Queue *q, const QueueItem *taken, size_t news, size_t open);
void queue_release(Queue *q);

#endif
