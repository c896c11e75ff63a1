// Drives one instance of the application (run/app_instance.h) for one worker:
// brings it into a state of the graph, sends a request, saves the state that
// the request left behind. A state the instance was in before is restored;
// otherwise the requests of the path to it are sent again, from the last state
// on the path that the instance knows.
//
// An application that uses random values (session ids, CSRF tokens) ends in
// different data each time. So a driver keeps its own cookies for each state,
// and replaces hidden values by those of the pages it received itself.
//
// A driver belongs to the thread that opened it.
#ifndef CULPRIT_EXPLORE_APP_DRIVER_H
#define CULPRIT_EXPLORE_APP_DRIVER_H

#include "explore/state_graph.h"
#include "run/app_instance.h"

// A state of the graph in this instance.
typedef struct {
  bool known;     // the instance was in it
  uint32_t saved; // number of the application's data (AppState)
  const CookieHistory *cookies;
  const ValueSwap *swaps;
} LocalState;

typedef struct {
  AppInstance instance;
  ARRAY(LocalState) locals; // by number of the state
  Hashmap keys;             // key -> number of the state
  Arena arena;              // of cookies and swaps
  size_t replayed;          // requests sent again to reach a state
  bool cut;                 // time was up (Exchange.cut) on the way to one
} AppDriver;

// To be closed even if it fails.
int app_driver_open(AppDriver *d, const Visits *v, const char *maps, int number,
                    Err *err);
void app_driver_close(AppDriver *d);

// A response, and the state it left behind.
typedef struct {
  Request request;
  Exchange exchange;
  Links links; // of the page; none unless it is HTML
  LocalState after;
  uint64_t key; // of `after`
} Answer;

// Brings the application into the state at the end of `path` (empty: state 0).
int app_driver_go(AppDriver *d, const StatePath *path, Err *err);
// The state in this instance; NULL: it was not in it.
const LocalState *app_driver_at(const AppDriver *d, uint32_t state);
// `state` is what a response left behind. The first one counts.
void app_driver_note(AppDriver *d, uint32_t state, const LocalState *after,
                     uint64_t key);
// The state with this key; STATE_NONE: none.
#define STATE_NONE UINT32_MAX
uint32_t app_driver_find(const AppDriver *d, uint64_t key);
// The key of a state: the same for equal contents in every instance.
uint64_t app_driver_key(const AppDriver *d, const LocalState *at);

// Sends a request with the cookies and hidden values of `from`, the state the
// application is in. app_driver_save then saves what it left behind.
int app_driver_send(AppDriver *d, const LocalState *from, const Ask *ask,
                    unsigned number, Answer *out, Arena *arena, Err *err);
int app_driver_save(AppDriver *d, const LocalState *from, Answer *out,
                    Err *err);

#endif
