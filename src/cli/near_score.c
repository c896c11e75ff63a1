// The score of a report of near: see near_score.h.
#include "cli/near_score.h"

#include <stdlib.h>

#include "eval/dependence_graph.h"
#include "locate/fault.h"
#include "store/store.h"
#include "util/mem.h"

typedef ARRAY(uint32_t) Nodes;

// The statements of FILE:LINE[,LINE] as nodes.
static int add_nodes(const DependenceGraph *g, const Suite *suite, const char *spec,
                     Nodes *out, Err *err) {
  Fault f = {0};
  int rc = fault_add(&f, suite, spec, ENTITY_STATEMENT, err);
  for (size_t i = 0; !rc && i < f.places.len; i++) {
    uint32_t node = g->nodes[f.places.items[i].statement];
    if (node != ENTITY_NONE)
      array_push(out, node);
  }
  fault_release(&f);
  return rc;
}

// Places without a statement (in a header that carries none) are left out.
static void add_places(const DependenceGraph *g, const Suite *suite,
                       const NearPlaces *places, Nodes *out) {
  for (size_t i = 0; i < places->len; i++) {
    Err ignored;
    char *spec =
        mem_printf("%s:%u", places->items[i].file, places->items[i].line);
    add_nodes(g, suite, spec, out, &ignored);
    free(spec);
  }
}

static NearScore score_places(const DependenceGraph *g, const Suite *suite,
                              const NearPlaces *places, const Nodes *faulty) {
  Nodes nodes = {0};
  add_places(g, suite, places, &nodes);
  NearScore s = {
      pdg_score_directed(&g->pdg, nodes.items, nodes.len, faulty->items,
                         faulty->len),
      pdg_score(&g->pdg, nodes.items, nodes.len, faulty->items, faulty->len)};
  array_release(&nodes);
  return s;
}

static int read_graph(const Near *n, const Suite *suite, DependenceGraph *g, Err *err) {
  const Explorer *e = n->explorer;
  char *path = mem_printf("%s/dependences", e->options.dir);
  char *scratch = mem_printf("%s/scratch", e->options.dir);
  int rc = dependence_graph_write(e->options.program, scratch, path, err) ||
           dependence_graph_read(g, suite, path, err);
  free(path);
  free(scratch);
  return rc ? -1 : 0;
}

static int score(const Near *n, const Suite *suite, const DependenceGraph *g,
                 const char *const *faults, size_t nfaults, NearScores *out,
                 Err *err) {
  Nodes faulty = {0};
  NearPlaces places = {0};
  int rc = 0;
  for (size_t i = 0; !rc && i < nfaults; i++)
    rc = add_nodes(g, suite, faults[i], &faulty, err);
  near_places(n, &places);
  if (!rc) {
    out->report = score_places(g, suite, &places, &faulty);
    out->neighbour = score_places(g, suite, &n->neighbour.places, &faulty);
  }
  array_release(&places);
  array_release(&faulty);
  return rc;
}

int near_score(const Near *n, const char *const *faults, size_t nfaults,
               NearScores *out, Err *err) {
  Runner *r = n->explorer->runner;
  Suite suite = {0};
  DependenceGraph g = {0};
  *out = (NearScores){0};
  int rc = store_flush(r->store, err) ||
           store_load(r->store, r->session, &suite, err) ||
           read_graph(n, &suite, &g, err) ||
           score(n, &suite, &g, faults, nfaults, out, err);
  dependence_graph_release(&g);
  suite_release(&suite);
  return rc ? -1 : 0;
}
