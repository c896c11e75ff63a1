// Control dependence of all blocks of a suite: see deciders.h.
//
// All functions are one graph, whose last node is the end that every way out
// leads to. A block decides about what comes behind one of its edges, up to its
// own post-dominator.
#include "depend/deciders.h"

#include <stdlib.h>

#include "util/mem.h"

// The blocks that edges out of `b` lead to; the end if there are none.
static void add_edges(const Cfg *c, uint32_t b, Graph *g) {
  uint32_t end = c->nblocks;
  for (uint32_t i = c->first_out[b]; i < c->first_out[b + 1]; i++) {
    uint32_t to = c->suite->entities[c->out[i]].to;
    graph_add(g, b, to < c->suite->nentities ? c->number[to] : end);
  }
  if (c->first_out[b] == c->first_out[b + 1])
    graph_add(g, b, end);
}

// Marks all blocks that lead to `to`.
static void flood(const Graph *back, uint32_t to, bool *seen) {
  NumberList todo = {0};
  seen[to] = true;
  array_push(&todo, to);
  while (todo.len) {
    const NumberList *before = &back->succs[todo.items[--todo.len]];
    for (size_t i = 0; i < before->len; i++) {
      if (seen[before->items[i]])
        continue;
      seen[before->items[i]] = true;
      array_push(&todo, before->items[i]);
    }
  }
  array_release(&todo);
}

// An endless loop gets a way out, so that every block has a post-dominator.
static void leave_loops(Graph *g, Graph *back) {
  uint32_t end = (uint32_t)g->n - 1;
  bool *seen = mem_array(bool, g->n);
  flood(back, end, seen);
  for (uint32_t b = end; b-- > 0;) {
    if (seen[b])
      continue;
    graph_add(g, b, end);
    graph_add(back, end, b);
    flood(back, b, seen);
  }
  free(seen);
}

static void decide(Deciders *d, const Dominators *post, uint32_t by,
                   uint32_t behind) {
  uint32_t end = d->cfg.nblocks;
  for (uint32_t b = behind; b != end && b != post->parent[by];
       b = post->parent[b])
    if (!d->of[b].len || array_last(&d->of[b]) != by)
      array_push(&d->of[b], by);
}

void deciders_find(Deciders *d, const Suite *suite) {
  cfg_init(&d->cfg, suite);
  uint32_t n = d->cfg.nblocks;
  d->of = mem_array(NumberList, n + 1);
  Graph g, back;
  graph_init(&g, n + 1);
  for (uint32_t b = 0; b < n; b++)
    add_edges(&d->cfg, b, &g);
  graph_reverse(&g, &back);
  leave_loops(&g, &back);
  Dominators post;
  dominators_find(&post, &back, n);
  for (uint32_t b = 0; b < n; b++)
    for (size_t i = 0; g.succs[b].len > 1 && i < g.succs[b].len; i++)
      decide(d, &post, b, g.succs[b].items[i]);
  dominators_release(&post);
  graph_release(&g);
  graph_release(&back);
}

void deciders_release(Deciders *d) {
  for (uint32_t b = 0; b < d->cfg.nblocks; b++)
    array_release(&d->of[b]);
  free(d->of);
  cfg_release(&d->cfg);
}
