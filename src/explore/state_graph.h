// The states an exploration has reached, and the requests between them. A state
// is what a request starts from: the application's data (sessions, files,
// database) and the visitor's cookies. State 0 is the start.
//
// Each state knows the request that led to it, and so the shortest known path
// from the start. A worker that has not been in a state itself, or an
// exploration that is resumed, sends the requests of that path again
// (app_driver.h).
//
// Memory: everything lies in the graph's arena and stays, so other threads may
// read what a VisitState or MadeRequest points to while more is added.
#ifndef CULPRIT_EXPLORE_STATE_GRAPH_H
#define CULPRIT_EXPLORE_STATE_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "explore/cookie_history.h"
#include "explore/hidden_fields.h"
#include "model/similarity.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"

// A request that became a run.
typedef struct {
  Ask ask;
  uint32_t state;        // that it started in
  uint32_t page;         // number of the request on whose page it was found;
                         // 0: none
  HiddenFields hidden;   // of the page that it returned
  uint64_t read;         // tables (php/record/sql_tables.h)
  const PathStep *steps; // its path (web_strategy.h)
  size_t nsteps;
} MadeRequest;

typedef struct {
  uint64_t key; // hash of its content; equal contents are one state
  const CookieHistory *cookies;
  uint32_t from;    // the state before
  uint32_t by;      // number of the request that led here from there
  uint64_t written; // tables that the last request on its path wrote that wrote
                    // any (php/record/sql_tables.h)
  uint32_t role;    // who is logged in, as QueueItem.role; 0: nobody
  unsigned depth;   // requests from the start
} VisitState;

typedef struct {
  ARRAY(VisitState) states;
  ARRAY(MadeRequest) requests; // number n is requests.items[n - 1]
  Hashmap index;               // key of a state -> its number
  Arena arena;
} StateGraph;

// With state 0, whose key follows by state_graph_begin once it is known.
void state_graph_init(StateGraph *g);
void state_graph_begin(StateGraph *g, uint64_t key);
void state_graph_release(StateGraph *g);

// Copies the request and returns its number.
uint32_t state_graph_add_request(StateGraph *g, const MadeRequest *made);
const MadeRequest *state_graph_request(const StateGraph *g, uint32_t number);

// The state with that key; if there is none, a new one, reached from state
// `from` by request `by`.
uint32_t state_graph_enter(StateGraph *g, uint64_t key,
                           const CookieHistory *cookies, uint32_t from,
                           uint32_t by);
// That request led to `state` too. The shortest path is kept: paths only get
// shorter, so they have no cycle.
void state_graph_shorten(StateGraph *g, uint32_t state, uint32_t from,
                         uint32_t by);

// One request on the path to a state.
typedef struct {
  uint32_t state; // that it leads to
  uint32_t from;
  Ask ask;
  HiddenFields hidden; // of the page it returned when it was first sent
} StateStep;
typedef ARRAY(StateStep) StatePath;

// From the start to `state`; empty for state 0. Points into the graph.
void state_graph_path(const StateGraph *g, uint32_t state, StatePath *out);

#endif
