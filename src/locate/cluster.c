// Several causes behind one signature: see cluster.h.
#include "locate/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/mem.h"

// One distinct spectrum and the runs that have it.
typedef struct {
  const Bitset *hits;
  size_t size;    // members of hits
  size_t weight;  // runs
  size_t cluster; // the one it belongs to: index of its first spectrum
  size_t nearest; // of the clusters behind this one, the most similar
  bool alive;     // it is the first of its cluster
} ClusterNode;

typedef struct {
  ClusterNode *nodes;
  size_t n;
  double *similar; // n * n; between clusters, at the indexes of their first
  uint32_t *node;  // per run of the group
} Clusters;

static size_t common(const Bitset *a, const Bitset *b) {
  size_t n = a->nwords < b->nwords ? a->nwords : b->nwords, bits = 0;
  for (size_t i = 0; i < n; i++)
    bits += (size_t)__builtin_popcountll(a->words[i] & b->words[i]);
  return bits;
}

static double jaccard(const ClusterNode *a, const ClusterNode *b) {
  size_t both = common(a->hits, b->hits), either = a->size + b->size - both;
  return either ? (double)both / (double)either : 1;
}

// --- distinct spectra -------------------------------------------------------

// Its statements only: the tally may hold other kinds as well.
static Bitset statements_of(const Bitset *hits, const Bitset *statements) {
  Bitset out = {0};
  bitset_union(&out, hits);
  for (size_t i = 0; i < out.nwords; i++)
    out.words[i] &= i < statements->nwords ? statements->words[i] : 0;
  return out;
}

static size_t find_equal(const Clusters *c, const ClusterNode *node) {
  size_t i = 0;
  while (i < c->n && (c->nodes[i].size != node->size ||
                      !bitset_equal(c->nodes[i].hits, node->hits)))
    i++;
  return i;
}

static size_t find_similar(const Clusters *c, const ClusterNode *node) {
  size_t best = 0;
  double highest = -1;
  for (size_t i = 0; i < c->n; i++) {
    double s = jaccard(&c->nodes[i], node);
    if (s > highest) {
      highest = s;
      best = i;
    }
  }
  return best;
}

static void add_run(Clusters *c, const Bitset *hits, size_t run) {
  ClusterNode node = {.hits = hits, .size = bitset_count(hits), .alive = true};
  size_t at = find_equal(c, &node);
  if (at == c->n && c->n == CLUSTER_SPECTRA)
    at = find_similar(c, &node);
  if (at == c->n) {
    node.cluster = c->n;
    c->nodes[c->n++] = node;
  }
  c->nodes[at].weight++;
  c->node[run] = (uint32_t)at;
}

// --- merging ----------------------------------------------------------------

static double *similarity(Clusters *c, size_t a, size_t b) {
  return a < b ? &c->similar[a * c->n + b] : &c->similar[b * c->n + a];
}

static void find_nearest(Clusters *c, size_t a) {
  size_t best = c->n;
  for (size_t b = a + 1; b < c->n; b++)
    if (c->nodes[b].alive &&
        (best == c->n || *similarity(c, a, b) > *similarity(c, a, best)))
      best = b;
  c->nodes[a].nearest = best;
}

static void measure(Clusters *c) {
  c->similar = mem_array(double, c->n * c->n);
  for (size_t a = 0; a < c->n; a++)
    for (size_t b = a + 1; b < c->n; b++)
      *similarity(c, a, b) = jaccard(&c->nodes[a], &c->nodes[b]);
  for (size_t a = 0; a < c->n; a++)
    find_nearest(c, a);
}

// The cluster whose nearest one is nearer than any other's, or c->n.
static size_t closest_pair(Clusters *c) {
  size_t best = c->n;
  double highest = CLUSTER_SIMILARITY;
  for (size_t a = 0; a < c->n; a++) {
    if (!c->nodes[a].alive || c->nodes[a].nearest == c->n)
      continue;
    double s = *similarity(c, a, c->nodes[a].nearest);
    if (best == c->n ? s >= highest : s > highest) {
      best = a;
      highest = s;
    }
  }
  return best;
}

static void merge(Clusters *c, size_t a, size_t b) {
  double wa = (double)c->nodes[a].weight, wb = (double)c->nodes[b].weight;
  for (size_t i = 0; i < c->n; i++)
    if (c->nodes[i].alive && i != a && i != b)
      *similarity(c, a, i) =
          (wa * *similarity(c, a, i) + wb * *similarity(c, b, i)) / (wa + wb);
  c->nodes[a].weight += c->nodes[b].weight;
  c->nodes[b].alive = false;
  for (size_t i = 0; i < c->n; i++)
    if (c->nodes[i].cluster == b)
      c->nodes[i].cluster = a;
  for (size_t i = 0; i < c->n; i++) {
    size_t nearest = c->nodes[i].nearest;
    if (!c->nodes[i].alive)
      continue;
    if (i == a || nearest == a || nearest == b ||
        (i < a && nearest < c->n &&
         *similarity(c, i, a) >= *similarity(c, i, nearest)))
      find_nearest(c, i);
  }
}

static void merge_all(Clusters *c) {
  measure(c);
  for (size_t a; (a = closest_pair(c)) < c->n;)
    merge(c, a, c->nodes[a].nearest);
}

// --- groups -----------------------------------------------------------------

typedef ARRAY(FailureGroup) Groups;

static FailureGroup part_of(Suite *suite, const FailureGroup *g,
                            const Clusters *c, size_t cluster, bool first) {
  FailureGroup out = *g;
  out.runs = arena_array(&suite->arena, uint32_t, g->nruns);
  out.nruns = 0;
  for (size_t i = 0; i < g->nruns; i++) {
    uint32_t node = c->node[i];
    if (node == UINT32_MAX ? first : c->nodes[node].cluster == cluster)
      out.runs[out.nruns++] = g->runs[i];
  }
  return out;
}

static int larger_first(const void *a, const void *b) {
  const FailureGroup *x = a, *y = b;
  if (x->nruns != y->nruns)
    return x->nruns > y->nruns ? -1 : 1;
  int c = strcmp(x->signature, y->signature);
  if (c)
    return c;
  return x->runs[0] < y->runs[0] ? -1 : x->runs[0] > y->runs[0];
}

static void add_parts(Suite *suite, const FailureGroup *g, const Clusters *c,
                      Groups *out) {
  Groups parts = {0};
  for (size_t i = 0; i < c->n; i++)
    if (c->nodes[i].alive) {
      FailureGroup part = part_of(suite, g, c, i, !parts.len);
      array_push(&parts, part);
    }
  if (parts.len > 1)
    qsort(parts.items, parts.len, sizeof *parts.items, larger_first);
  for (size_t i = 0; i < parts.len; i++) {
    if (parts.len > 1)
      parts.items[i].signature =
          arena_printf(&suite->arena, "%s#%zu", g->signature, i + 1);
    array_push(out, parts.items[i]);
  }
  if (!parts.len)
    array_push(out, *g);
  array_release(&parts);
}

static void split(Suite *suite, const Tally *t, const Bitset *statements,
                  const FailureGroup *g, Groups *out) {
  Clusters c = {.nodes = mem_array(ClusterNode, g->nruns),
                .node = mem_array(uint32_t, g->nruns)};
  Bitset *hits = mem_array(Bitset, g->nruns);
  for (size_t i = 0; i < g->nruns; i++) {
    const RunInfo *run = &suite->runs[g->runs[i]];
    c.node[i] = UINT32_MAX;
    if (!run->has_spectrum || run->verdict != VERDICT_FAIL)
      continue;
    hits[i] = statements_of(&t->hits[g->runs[i]], statements);
    add_run(&c, &hits[i], i);
  }
  merge_all(&c);
  add_parts(suite, g, &c, out);
  for (size_t i = 0; i < g->nruns; i++)
    bitset_release(&hits[i]);
  free(hits);
  free(c.nodes);
  free(c.node);
  free(c.similar);
}

// All failing runs, whatever they show.
static FailureGroup pooled(Suite *suite) {
  const FailureGroup *first = &suite->failures[0];
  FailureGroup g = *first;
  if (suite->nfailures > 1) {
    g.signature = "failing";
    g.message =
        arena_printf(&suite->arena, "%zu different failures", suite->nfailures);
    g.place = "";
  }
  for (size_t i = 1; i < suite->nfailures; i++)
    if (strcmp(suite->failures[i].kind, g.kind) != 0)
      g.kind = "several";
  bool *fails = mem_array(bool, suite->nruns);
  for (size_t i = 0; i < suite->nfailures; i++)
    for (size_t j = 0; j < suite->failures[i].nruns; j++)
      fails[suite->failures[i].runs[j]] = true;
  g.runs = arena_array(&suite->arena, uint32_t, suite->nruns);
  g.nruns = 0;
  for (uint32_t i = 0; i < suite->nruns; i++)
    if (fails[i])
      g.runs[g.nruns++] = i;
  free(fails);
  return g;
}

void cluster_failures(Suite *suite, const Tally *t, bool pool) {
  if (!suite->nfailures)
    return;
  Bitset statements = {0};
  for (size_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_STATEMENT)
      bitset_add(&statements, (uint32_t)i);
  Groups out = {0};
  FailureGroup all;
  if (pool)
    all = pooled(suite);
  for (size_t i = 0; i < (pool ? 1 : suite->nfailures); i++)
    split(suite, t, &statements, pool ? &all : &suite->failures[i], &out);
  suite->failures = arena_array(&suite->arena, FailureGroup, out.len);
  memcpy(suite->failures, out.items, out.len * sizeof *out.items);
  suite->nfailures = out.len;
  array_release(&out);
  bitset_release(&statements);
}

// --- failures that one line explains
// ------------------------------------------

// With more failures a session has more than one fault, or nobody reads them.
enum { FAILURES_MOST = 50 };

static int by_number(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

// Adds the group of all failing runs behind the last one.
static void add_union(Suite *suite) {
  size_t n = suite->nfailures, all = 0, nruns = 0;
  FailureGroup *groups = arena_array(&suite->arena, FailureGroup, n + 1);
  memcpy(groups, suite->failures, n * sizeof *groups);
  for (size_t i = 0; i < n; i++)
    all += groups[i].nruns;
  uint32_t *runs = arena_array(&suite->arena, uint32_t, all);
  for (size_t i = 0, k = 0; i < n; k += groups[i++].nruns)
    memcpy(runs + k, groups[i].runs, groups[i].nruns * sizeof *runs);
  qsort(runs, all, sizeof *runs, by_number);
  for (size_t i = 0; i < all; i++)
    if (!i || runs[i] != runs[nruns - 1])
      runs[nruns++] = runs[i];
  groups[n] = (FailureGroup){.kind = "all",
                             .message = "all failures together",
                             .signature = "",
                             .place = "",
                             .excerpt = "",
                             .output = "",
                             .runs = runs,
                             .nruns = nruns};
  suite->failures = groups;
}

// Is the entity among the first of the ranking? Of a small program's, only a
// tenth are.
static bool is_early(const Ranking *r, uint32_t entity) {
  size_t most = r->suspects.len / 10;
  most = most < 1 ? 1 : most > TOGETHER_RANK ? TOGETHER_RANK : most;
  for (size_t i = 0; i < r->suspects.len; i++) {
    const Suspect *s = &r->suspects.items[i];
    if (s->rank_best > most)
      return false;
    if (s->entity == entity)
      return true;
  }
  return false;
}

// Takes those back that are not among the first for this failure.
static int compare_with(const OpenLocalizer *l, size_t failure,
                        const Ranking *all, bool *explains, Err *err) {
  Ranking own = {.failure = failure};
  int rc = localizer_rank(l, failure, &own, err);
  for (size_t i = 0; !rc && i < all->suspects.len; i++)
    explains[i] &= is_early(&own, all->suspects.items[i].entity);
  ranking_release(&own);
  return rc;
}

int together_rank(const OpenLocalizer *l, Suite *suite, Ranking *out,
                  bool *found, Err *err) {
  size_t n = suite->nfailures;
  *found = false;
  if (n < 2 || n > FAILURES_MOST)
    return 0;
  add_union(suite);
  *out = (Ranking){.failure = n};
  int rc = localizer_rank(l, n, out, err);
  bool *explains = mem_array(bool, out->suspects.len + 1);
  for (size_t i = 0; i < out->suspects.len; i++) {
    const Suspect *s = &out->suspects.items[i];
    explains[i] = s->rank_best == 1 && s->ef == out->failing && !s->test;
  }
  for (size_t i = 0; !rc && i < n; i++)
    rc = compare_with(l, i, out, explains, err);
  for (size_t i = 0; !rc && i < out->suspects.len; i++)
    *found |= explains[i];
  free(explains);
  if (!*found)
    ranking_release(out);
  return rc;
}
