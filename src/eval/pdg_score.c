// Breadth-first layers over the dependence graph: see pdg_score.h.
#include "eval/pdg_score.h"

#include <assert.h>
#include <stdlib.h>

#include "util/bitset.h"
#include "util/mem.h"

void pdg_init(Pdg *g, size_t nnodes, size_t nstatements) {
  assert(nstatements <= nnodes);
  *g = (Pdg){.nnodes = nnodes, .nstatements = nstatements};
}

void pdg_edge(Pdg *g, uint32_t from, uint32_t to) {
  assert(from < g->nnodes && to < g->nnodes && !g->first);
  array_push(&g->edges, (PdgEdge){from, to});
}

void pdg_close(Pdg *g) {
  g->first = mem_array(size_t, g->nnodes + 2);
  g->neighbours = mem_array(uint32_t, 2 * g->edges.len);
  // first[s + 2] counts the neighbours of s, then first[s + 1] is where those
  // of s begin; filling them in moves it to where they end.
  for (size_t i = 0; i < g->edges.len; i++) {
    g->first[g->edges.items[i].from + 2]++;
    g->first[g->edges.items[i].to + 2]++;
  }
  for (size_t s = 2; s < g->nnodes + 2; s++)
    g->first[s] += g->first[s - 1];
  for (size_t i = 0; i < g->edges.len; i++) {
    PdgEdge e = g->edges.items[i];
    g->neighbours[g->first[e.from + 1]++] = e.to;
    g->neighbours[g->first[e.to + 1]++] = e.from;
  }
}

void pdg_release(Pdg *g) {
  array_release(&g->edges);
  free(g->neighbours);
  free(g->first);
  *g = (Pdg){0};
}

// Nodes in the order they are reached.
typedef struct {
  uint32_t *items;
  size_t len;
  Bitset seen;
} NodeQueue;

static void queue_add(NodeQueue *q, uint32_t node) {
  if (bitset_has(&q->seen, node))
    return;
  bitset_add(&q->seen, node);
  q->items[q->len++] = node;
}

static bool layer_has(const NodeQueue *q, size_t from, const Bitset *faulty) {
  for (size_t i = from; i < q->len; i++)
    if (bitset_has(faulty, q->items[i]))
      return true;
  return false;
}

static size_t count_statements(const Pdg *g, const NodeQueue *q) {
  size_t n = 0;
  for (size_t i = 0; i < q->len; i++)
    n += q->items[i] < g->nstatements;
  return n;
}

static void search(const Pdg *g, NodeQueue *q, const Bitset *faulty,
                   PdgScore *out) {
  for (size_t from = 0; from < q->len;) {
    size_t end = q->len;
    out->layers++;
    if ((out->found = layer_has(q, from, faulty)))
      return;
    for (; from < end; from++) {
      uint32_t s = q->items[from];
      for (size_t i = g->first[s]; i < g->first[s + 1]; i++)
        queue_add(q, g->neighbours[i]);
    }
  }
}

PdgScore pdg_score(const Pdg *g, const uint32_t *reported, size_t nreported,
                   const uint32_t *faulty, size_t nfaulty) {
  PdgScore out = {0};
  NodeQueue q = {.items = mem_array(uint32_t, g->nnodes)};
  Bitset wanted = {0};
  assert(g->first);
  for (size_t i = 0; i < nfaulty; i++)
    bitset_add(&wanted, faulty[i]);
  for (size_t i = 0; i < nreported; i++)
    queue_add(&q, reported[i]);
  search(g, &q, &wanted, &out);
  out.examined = out.found ? count_statements(g, &q) : g->nstatements;
  if (out.found)
    out.score = 1 - (double)out.examined / (double)g->nstatements;
  bitset_release(&wanted);
  bitset_release(&q.seen);
  free(q.items);
  return out;
}

// --- one way at a time ------------------------------------------------------

// Adds what lies one edge further; true: there was something.
static bool step(const Pdg *g, bool ahead, Bitset *seen) {
  Bitset next = {0};
  bool any = false;
  for (size_t i = 0; i < g->edges.len; i++) {
    PdgEdge e = g->edges.items[i];
    uint32_t from = ahead ? e.from : e.to, to = ahead ? e.to : e.from;
    if (bitset_has(seen, from) && !bitset_has(seen, to)) {
      bitset_add(&next, to);
      any = true;
    }
  }
  bitset_union(seen, &next);
  bitset_release(&next);
  return any;
}

// Statements in either.
static size_t count_both(const Pdg *g, const Bitset *a, const Bitset *b) {
  size_t n = 0;
  for (uint32_t i = 0; i < g->nstatements; i++)
    n += bitset_has(a, i) || bitset_has(b, i);
  return n;
}

static bool has_any(const Bitset *a, const Bitset *b, const uint32_t *faulty,
                    size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bitset_has(a, faulty[i]) || bitset_has(b, faulty[i]))
      return true;
  return false;
}

PdgScore pdg_score_directed(const Pdg *g, const uint32_t *reported,
                            size_t nreported, const uint32_t *faulty,
                            size_t nfaulty) {
  PdgScore out = {.layers = 1};
  Bitset ahead = {0}, behind = {0};
  for (size_t i = 0; i < nreported; i++) {
    bitset_add(&ahead, reported[i]);
    bitset_add(&behind, reported[i]);
  }
  bool more = nreported > 0;
  while (!(out.found = has_any(&ahead, &behind, faulty, nfaulty)) && more) {
    more = step(g, true, &ahead);
    more |= step(g, false, &behind);
    out.layers++;
  }
  out.examined = out.found ? count_both(g, &ahead, &behind) : g->nstatements;
  if (out.found)
    out.score = 1 - (double)out.examined / (double)g->nstatements;
  bitset_release(&ahead);
  bitset_release(&behind);
  return out;
}
