// The requests that the explorer could make next, and their order.
//
// First of all come requests for an outcome that no request has shown yet
// (outcome_goals.h), and the queue never drops one. They take turns with pages
// that were not seen yet, because a large application has such outcomes without
// end on its first pages. All others take turns once there is no such request.
//
// There are four classes of requests: those that pages lead to, the same in
// another state, solved input, and odd input. A class gets
// more turns the more new lines and outcomes its last requests covered, and at
// least one in sixteen (fewer while another class covers very much).
//
// Within a class the request of least cost comes first:
//
//   cheap      a script not requested yet; a value for an outcome that was asked
//              for in vain; a parameter not sent to this script
//              yet, or a new value of one with few (?page=...)
//   dear       the same script, shape or state as many requests before
//   last       what looks like the end of a visit (logout, delete)
//
// A request in another state costs less the more of its conditions always had
// the same outcome; and much less if it reads a table that the way to that state
// has written, unless many requests like the last one on that way were tried. The same request is made once in the same state. With a
// score (web_strategy.h) the request nearest to a failing one comes first, of
// whatever class, and the cost decides among equals.
#ifndef CULPRIT_EXPLORE_REQUEST_QUEUE_H
#define CULPRIT_EXPLORE_REQUEST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explore/outcome_goals.h"
#include "php/ask.h"
#include "php/record/php_record.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/hashmap.h"

typedef enum {
  ORIGIN_ENTRY,  // an entry page, without input
  ORIGIN_SOLVED, // input for the other outcome of a comparison
  ORIGIN_ABSENT, // with a key that the script looked up
  ORIGIN_FORM,   // of a page
  ORIGIN_LINK,   // of a page
  ORIGIN_VARIED, // a failing request with another value
  ORIGIN_ZERO,   // with 0 for numbers that were guessed
  ORIGIN_ODD,    // with an odd value (odd_values.h)
  ORIGINS
} RequestOrigin;

enum { ROLE_BESIDE = 0x8000, ROLE_ACCOUNT = 0xffff };

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
  bool fresh;    // ODD: first try; SOLVED: has several good values
  uint32_t goal; // SOLVED: the outcome it is to show (outcome_goals.h); 0: none
  bool last;     // looks like the end of a visit
  bool lucky;    // follows from a request that covered something new
  bool plain;    // answered without PHP: no run
  bool redirect; // the target of a redirect: takes a turn of the class that
                 // the redirecting request had
  bool account;  // logs in with an account that was registered
  uint32_t role; // whom it logs in: n for request n of the user's list,
                 // ROLE_BESIDE and more for names found beside theirs,
                 // ROLE_ACCOUNT for a registered account; 0: nobody
  uint64_t written; // tables that changed on the way to its state
  const Ask *way;   // the request that led there; NULL: none; NULL in the queue
  unsigned tried;   // ODD: how many of its page and role were offered before
  bool early; // a page in a state that the user's own requests led to: costs
              // as little as a new one
  unsigned depth;
  uint32_t page; // number of the request on whose page it was found; 0: none
  uint32_t base; // number of the request it was made from; 0: none
  uint32_t step; // of that one's path; VARIED: how many came before
  const PhpCompare *compare; // SOLVED: what was solved; NULL in the queue
  double score;              // in per cent; below 0: none
  // The queue's own:
  uint64_t order;
  uint32_t path, shape, request, place; // numbers into `counts`
  uint32_t passage;     // of the request and the shape of its way
  uint32_t name, value; // of the parameter sent least often
  QueueClass class;     // when it was taken
} QueueItem;
typedef ARRAY(QueueItem) QueueItems;

// When requests are made that look like the end of a visit.
typedef enum {
  LAST_LAST, // when nothing else is left; after 300 requests, every sixteenth
  LAST_NEVER,
  LAST_ANY // like any other request
} LastMode;

enum { QUEUE_MOST = 20000, QUEUE_KEPT = 15000 };

// How often a path, shape, request, state, name or value was used.
typedef struct {
  uint64_t read;        // a request: tables it reads (php/record/sql_tables.h)
  uint32_t asked, late; // late: of them, without an answer in time
  union {
    uint32_t open;   // a request: conditions it executed that always had the
                     // same outcome
    uint32_t values; // a name of a parameter: distinct values sent
  };
} UseCount;

// The turns of a class: its next one comes at `due`.
typedef struct {
  double gain; // new coverage of its last requests, on average; 0: as expected
  double due;
} Turns;

typedef struct {
  QueueItems items;
  ARRAY(UseCount) counts; // each path, shape, request, state, name and value
  Hashmap names;          // -> number
  Hashmap done;           // state and request
  Turns turns[QUEUE_CLASSES];
  double now;
  OutcomeGoals *goals; // of the items; NULL: none has one
  LastMode last;
  bool scored;     // by nearness
  bool unscored;   // scores do not count now
  bool after_goal; // the last request was made for a new outcome
  uint64_t seed, count, taken;
  size_t most;    // room for items now; 0: QUEUE_MOST
  size_t dropped; // for lack of room
  size_t late;    // requests that had no answer in time
  size_t spared;  // requests like them that were not made
  size_t made;    // items that no page led to, when one was last taken
  Arena arena;
} Queue;

// Copies the ask. False: it was there before. A full queue drops its dearest
// requests, but none for an outcome that was not shown yet.
bool queue_add(Queue *q, QueueItem item);
// Even if it was made before in the same state.
void queue_add_again(Queue *q, QueueItem item);
// Conditions that the request executed, when it was last made, and that always
// had the same outcome.
uint32_t queue_open(Queue *q, const Ask *ask);
// Counts it as added and taken: a request of an exploration that is resumed.
// `read`: the tables that it read.
void queue_note(Queue *q, const Ask *ask, uint32_t state, uint64_t read);
// The cheapest request of the class whose turn it is; false: the queue is
// empty. What it points to stays with the queue. States that are not in `near`
// (NULL: all are) cost a little.
bool queue_take(Queue *q, const Bitset *near, QueueItem *out);
// Its result: how many lines and outcomes were new, how many conditions always
// had the same outcome, and which tables it read.
void queue_learn(Queue *q, const QueueItem *taken, size_t news, size_t open,
                 uint64_t read);
// It had no answer in time. The same is not requested again, nor what has the
// same shape or script if most such requests have none.
void queue_learn_late(Queue *q, const QueueItem *taken);
void queue_release(Queue *q);

#endif
