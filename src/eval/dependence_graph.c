// The program dependence graph of a version: see dependence_graph.h.
#include "eval/dependence_graph.h"

#include <stdlib.h>
#include <string.h>

#include "program/program_code.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

int dependence_graph_write(const char *program, const char *scratch,
                           const char *path, Err *err) {
  ProgramCode code;
  Str text = {0};
  if (program_code_read(&code, program, err))
    return -1;
  int rc = fs_mkdirs(scratch, err);
  rc = rc || program_code_pdg(&code, scratch, &text, err);
  rc = rc || fs_write(path, str_text(&text), text.len, err);
  program_code_release(&code);
  fs_remove_tree(scratch);
  str_release(&text);
  return rc ? -1 : 0;
}

// --- reading ---------------------------------------------------------------

// Node names, and whether they have edges that lead away and to them.
typedef struct {
  Hashmap ids;
  ARRAY(PdgEdge) edges;
  ARRAY(char) kinds; // per node: the first character of its name
  ARRAY(char) out, in;
  size_t nstatements;
} Names;

static uint32_t node_of(Names *n, const char *name) {
  uint64_t fresh = n->kinds.len;
  uint64_t id = hashmap_intern(&n->ids, name, strlen(name), fresh);
  if (id == fresh) {
    array_push(&n->kinds, *name);
    array_push(&n->out, 0);
    array_push(&n->in, 0);
  }
  return (uint32_t)id;
}

// Statements come first, so that their nodes have the first numbers. The same
// line of several units is one statement.
static void add_statements(Names *n, DependenceGraph *g, const Suite *suite) {
  g->nodes = mem_array(uint32_t, suite->nentities);
  for (size_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    g->nodes[i] = ENTITY_NONE;
    if (e->kind != ENTITY_STATEMENT)
      continue;
    char *name = mem_printf("%s:%u", suite->sources[e->source].path, e->line);
    g->nodes[i] = node_of(n, name);
    free(name);
  }
  n->nstatements = n->kinds.len;
}

static int add_line(Names *n, char *line, Err *err) {
  char *from = strsep(&line, "\t"), *to = strsep(&line, "\t");
  if (!to || !line || !*from || !*to)
    return err_set(err, "no dependence: '%s'; remove the file and start again",
                   from);
  PdgEdge e = {node_of(n, from), node_of(n, to)};
  n->out.items[e.from] = 1;
  n->in.items[e.to] = 1;
  array_push(&n->edges, e);
  return 0;
}

static bool is_foreign(const Names *n, uint32_t node) {
  char kind = n->kinds.items[node];
  return (kind == '@' && !n->out.items[node]) ||
         (kind == '^' && !n->in.items[node]);
}

static void add_edges(const Names *n, Pdg *g) {
  pdg_init(g, n->kinds.len, n->nstatements);
  for (size_t i = 0; i < n->edges.len; i++) {
    PdgEdge e = n->edges.items[i];
    if (!is_foreign(n, e.from) && !is_foreign(n, e.to))
      pdg_edge(g, e.from, e.to);
  }
  pdg_close(g);
}

int dependence_graph_parse(DependenceGraph *g, const Suite *suite,
                           const char *text, Err *err) {
  Names n = {0};
  char *copy = mem_strdup(text), *rest = copy;
  int rc = 0;
  *g = (DependenceGraph){0};
  add_statements(&n, g, suite);
  for (char *line; !rc && (line = strsep(&rest, "\n"));)
    if (*line)
      rc = add_line(&n, line, err);
  if (!rc)
    add_edges(&n, &g->pdg);
  else
    dependence_graph_release(g);
  hashmap_release(&n.ids);
  array_release(&n.edges);
  array_release(&n.kinds);
  array_release(&n.out);
  array_release(&n.in);
  free(copy);
  return rc;
}

int dependence_graph_read(DependenceGraph *g, const Suite *suite,
                          const char *path, Err *err) {
  Str text = {0};
  int rc = fs_read(path, 0, &text, err);
  if (!rc && dependence_graph_parse(g, suite, str_text(&text), err))
    rc = err_prefix(err, "%s", path);
  str_release(&text);
  return rc;
}

void dependence_graph_release(DependenceGraph *g) {
  pdg_release(&g->pdg);
  free(g->nodes);
  *g = (DependenceGraph){0};
}

// --- scoring ---------------------------------------------------------------

PdgScore dependence_graph_score(const DependenceGraph *g, const Ranking *r,
                                const uint32_t *faulty, size_t nfaulty) {
  uint32_t reported[GRAPH_REPORT], *wanted = mem_array(uint32_t, nfaulty);
  size_t n = 0;
  for (size_t i = 0; i < r->suspects.len && n < GRAPH_REPORT; i++)
    reported[n++] = g->nodes[r->suspects.items[i].entity];
  for (size_t i = 0; i < nfaulty; i++)
    wanted[i] = g->nodes[faulty[i]];
  PdgScore s = pdg_score(&g->pdg, reported, n, wanted, nfaulty);
  free(wanted);
  return s;
}
