// Where one worker of the exploration sits: its seat (PHP, sessions, database,
// run/seat.h), and the worlds it has been to itself. To any other world it goes
// the way from the start again, from the last world on it that it knows.
//
// An application that draws lots (session ids, CSRF tokens) is in another state
// each time. So a desk has cookies of its own for each world; and where a page
// on its way has other hidden values than when it was first seen, those are
// sent in place of the old ones: the token comes from the page that the desk
// itself was given.
//
// A Desk is for the thread that opened it.
#ifndef CULPRIT_EXPLORE_SITE_DESK_H
#define CULPRIT_EXPLORE_SITE_DESK_H

#include "explore/site_atlas.h"
#include "php/links.h"
#include "run/seat.h"

// A hidden value as it was, and as it is here.
typedef struct Swap Swap;
struct Swap {
  const Swap *before;
  const char *old, *now;
};

// A world at this desk.
typedef struct {
  bool here;
  uint32_t state;
  const Crumb *crumbs;
  const Swap *swaps;
} Local;

typedef struct {
  Seat seat;
  ARRAY(Local) locals; // by world
  Hashmap keys;        // to worlds
  Arena arena;         // of their crumbs and swaps
  size_t replayed;     // requests on ways gone again
} Desk;

// To be closed even if it fails.
int desk_open(Desk *d, const Visits *v, const char *maps, int number, Err *err);
void desk_close(Desk *d);

// An answer, and what it left behind.
typedef struct {
  Request request;
  Exchange exchange;
  Links links;  // of the page; none if it is no HTML
  Local after;  // where it left the application
  uint64_t key; // of that world
} Answer;

// Restores the world at the end of `way` (empty: world 0), going the missing
// part of it again.
int desk_go(Desk *d, const Way *way, Err *err);
// As desk_go leaves it: the world's local data.
const Local *desk_local(const Desk *d, uint32_t world);
// Notes that `world` is what an answer left behind, unless it is known.
void desk_note(Desk *d, uint32_t world, const Local *after, uint64_t key);
// The world that had this key when the desk was there; WORLD_NONE: none.
#define WORLD_NONE UINT32_MAX
uint32_t desk_world(const Desk *d, uint64_t key);

// What tells a world from others, at every desk.
uint64_t desk_key(const Desk *d, const Local *at);

// Makes a request where the application is now; `from` says whose cookies and
// hidden values are sent. Its state is not saved yet: desk_leave does that.
int desk_ask(Desk *d, const Local *from, const Ask *ask, unsigned number,
             Answer *out, Arena *arena, Err *err);
int desk_leave(Desk *d, const Local *from, Answer *out, Err *err);

// What `now`, the hidden fields of a page made again, has in place of `then`.
// `names` (may be NULL) gets the names of the fields that differ, blanks
// between.
const Swap *swaps_find(const Swap *before, const Hiddens *then,
                       const Hiddens *now, Str *names, Arena *arena);
// The ask with its hidden values swapped; and back, as all desks know them.
Ask swaps_apply(const Swap *swaps, const Ask *ask, Arena *arena);
Ask swaps_undo(const Swap *swaps, const Ask *ask, Arena *arena);
Hiddens hiddens_undo(const Swap *swaps, const Hiddens *h, Arena *arena);

#endif
