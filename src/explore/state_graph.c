// The states an exploration has reached: see state_graph.h.
#include "explore/state_graph.h"

#include <assert.h>
#include <string.h>

void state_graph_init(StateGraph *g) {
  *g = (StateGraph){0};
  array_push(&g->states, (VisitState){.cookies = cookie_history_start()});
}

void state_graph_begin(StateGraph *g, uint64_t key) {
  g->states.items[0].key = key;
  hashmap_put(&g->index, &key, sizeof key, 0);
}

void state_graph_release(StateGraph *g) {
  array_release(&g->states);
  array_release(&g->requests);
  hashmap_release(&g->index);
  arena_release(&g->arena);
}

uint32_t state_graph_add_request(StateGraph *g, const MadeRequest *made) {
  MadeRequest copy = *made;
  copy.ask = ask_copy(&made->ask, &g->arena);
  copy.hidden = hidden_fields_copy(&made->hidden, &g->arena);
  PathStep *steps = arena_array(&g->arena, PathStep, made->nsteps);
  if (made->nsteps)
    memcpy(steps, made->steps, made->nsteps * sizeof *steps);
  copy.steps = steps;
  array_push(&g->requests, copy);
  return (uint32_t)g->requests.len;
}

const MadeRequest *state_graph_request(const StateGraph *g, uint32_t number) {
  return number && number <= g->requests.len ? &g->requests.items[number - 1]
                                             : NULL;
}

static const CookieHistory *copy_cookies(const CookieHistory *last,
                                         Arena *arena) {
  if (!last)
    return NULL;
  CookieHistory *c = arena_new(arena, CookieHistory);
  *c = (CookieHistory){.before = copy_cookies(last->before, arena),
                       .path = arena_strdup(arena, last->path),
                       .value = arena_strdup(arena, last->value)};
  return c;
}

uint32_t state_graph_enter(StateGraph *g, uint64_t key,
                           const CookieHistory *cookies, uint32_t from,
                           uint32_t by) {
  uint64_t fresh = g->states.len;
  uint64_t n = hashmap_intern(&g->index, &key, sizeof key, fresh);
  if (n == fresh)
    array_push(&g->states,
               (VisitState){.key = key,
                            .cookies = copy_cookies(cookies, &g->arena),
                            .from = from,
                            .by = by,
                            .depth = g->states.items[from].depth + 1});
  return (uint32_t)n;
}

void state_graph_shorten(StateGraph *g, uint32_t state, uint32_t from,
                         uint32_t by) {
  unsigned depth = g->states.items[from].depth + 1;
  VisitState *s = &g->states.items[state];
  if (depth >= s->depth)
    return;
  s->from = from;
  s->by = by;
  s->depth = depth;
}

void state_graph_path(const StateGraph *g, uint32_t state, StatePath *out) {
  out->len = 0;
  while (state) {
    const VisitState *s = &g->states.items[state];
    const MadeRequest *by = state_graph_request(g, s->by);
    assert(by);
    array_push(out, (StateStep){.state = state,
                                .from = s->from,
                                .ask = by->ask,
                                .hidden = by->hidden});
    state = s->from;
  }
  for (size_t i = 0, j = out->len; i + 1 < j; i++) {
    StateStep step = out->items[i];
    out->items[i] = out->items[--j];
    out->items[j] = step;
  }
}
