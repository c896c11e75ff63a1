// Localization by output: see outmap.h.
#include "locate/outmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tally/formula.h"
#include "tally/owner.h"
#include "util/hashmap.h"
#include "util/mem.h"

// --- places -----------------------------------------------------------------

typedef struct {
  OutputPlaces *places;
  const Suite *suite;
  Hashmap sources; // path -> source
  Hashmap lines;   // source, line -> statement
} PlaceLoader;

typedef struct {
  uint32_t source, line;
} LineKey;

static void index_statements(PlaceLoader *l) {
  const Suite *suite = l->suite;
  for (size_t i = 0; i < suite->nsources; i++)
    hashmap_put(&l->sources, suite->sources[i].path,
                strlen(suite->sources[i].path), i);
  for (size_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    LineKey key = {e->source, e->line};
    if (e->kind == ENTITY_STATEMENT)
      hashmap_put(&l->lines, &key, sizeof key, i);
  }
}

// The statement on this line, else the nearest above it: a line in the middle
// of a template or of a statement of several lines.
static bool find_statement(PlaceLoader *l, const FailurePlace *p,
                           uint32_t *out) {
  uint64_t source, statement;
  if (!p->line || !hashmap_get(&l->sources, p->file, strlen(p->file), &source))
    return false;
  for (LineKey key = {(uint32_t)source, p->line}; key.line; key.line--) {
    if (hashmap_get(&l->lines, &key, sizeof key, &statement)) {
      *out = (uint32_t)statement;
      return true;
    }
  }
  return false;
}

static void add_place(void *ctx, size_t run, const char *signature,
                      const FailurePlace *p) {
  PlaceLoader *l = ctx;
  Arena *arena = &l->places->arena;
  PlaceAt at = {.run = (uint32_t)run, .line = p->line};
  if (!find_statement(l, p, &at.statement))
    return;
  at.signature = arena_strdup(arena, signature);
  at.what = arena_strdup(arena, p->what);
  at.excerpt = arena_strdup(arena, p->excerpt);
  array_push(&l->places->items, at);
}

int output_places_load(OutputPlaces *p, Store *store, const Suite *suite,
                       Err *err) {
  PlaceLoader l = {.places = p, .suite = suite};
  index_statements(&l);
  int rc = store_each_place(store, suite, add_place, &l, err);
  hashmap_release(&l.sources);
  hashmap_release(&l.lines);
  return rc;
}

void output_places_release(OutputPlaces *p) {
  array_release(&p->items);
  arena_release(&p->arena);
}

// A group that was split (cluster.h) is named after the whole: "html: ...#2".
// One of all failing runs together shows every failure of its runs.
static bool names_group(const char *signature, const FailureGroup *g) {
  size_t n = strlen(signature);
  if (!strncmp(g->signature, signature, n))
    return !g->signature[n] || g->signature[n] == '#';
  return !strcmp(g->signature, "failing");
}

static bool has_run(const FailureGroup *g, uint32_t run) {
  for (size_t i = 0; i < g->nruns; i++)
    if (g->runs[i] == run)
      return true;
  return false;
}

bool place_shows(const Suite *suite, const PlaceAt *p, size_t failure) {
  const FailureGroup *g = &suite->failures[failure];
  return names_group(p->signature, g) && has_run(g, p->run);
}

// --- scores -----------------------------------------------------------------

typedef struct {
  const OutputPlaces *places;
  const Tally *tally;
  const Comparison *comparison;
  const PlaceAt **blamed; // per entity: a place it wrote, or NULL
  bool any;               // some entity did
} Apollon;

static const PlaceAt **find_blamed(const OutputPlaces *places,
                                   const Suite *suite, size_t failure,
                                   bool *any) {
  const PlaceAt **blamed = mem_array(const PlaceAt *, suite->nentities);
  *any = false;
  for (size_t i = 0; i < places->items.len; i++) {
    const PlaceAt *p = &places->items.items[i];
    if (blamed[p->statement] || !place_shows(suite, p, failure))
      continue;
    blamed[p->statement] = p;
    *any = true;
  }
  return blamed;
}

static double tarantula(const Apollon *a, uint32_t e) {
  const Comparison *c = a->comparison;
  Counts n = comparison_counts(c, e);
  return formula_find("tarantula")->score(n);
}

static void score_tarantula(const Apollon *a, unsigned kinds, Scores *s) {
  const Suite *suite = a->tally->suite;
  uint32_t *owner = owners_find(suite, ENTITY_STATEMENT, kinds);
  for (uint32_t e = 0; e < suite->nentities; e++)
    if (owner[e] != ENTITY_NONE && bitset_has(&a->tally->executed, e))
      scores_offer(s, owner[e], tarantula(a, e),
                   owner[e] == e ? ENTITY_NONE : e);
  free(owner);
}

static void score_map(const Apollon *a, Scores *s) {
  const Suite *suite = a->tally->suite;
  for (uint32_t e = 0; e < suite->nentities; e++)
    if (suite->entities[e].kind == ENTITY_STATEMENT)
      scores_offer(s, e, a->blamed[e] ? 1 : 0, ENTITY_NONE);
}

// Both agree: above everything that only Tarantula suspects.
static void combine(const Apollon *a, Scores *s) {
  for (uint32_t e = 0; e < a->tally->suite->nentities; e++)
    if (a->blamed[e] && s->score[e] > 0.5)
      s->score[e] = 1.1;
}

static void score(const Apollon *a, Apollo technique, Scores *s) {
  const unsigned lines = 1u << ENTITY_STATEMENT;
  const unsigned conditions = lines | 1u << ENTITY_CONDITION;
  switch (technique) {
  case APOLLO_T:
    score_tarantula(a, lines, s);
    break;
  case APOLLO_O:
    score_map(a, s);
    break;
  case APOLLO_T_O:
    score_tarantula(a, lines, s);
    combine(a, s);
    break;
  case APOLLO_TC:
    score_tarantula(a, conditions, s);
    break;
  case APOLLO_TC_O:
    score_tarantula(a, conditions, s);
    combine(a, s);
    break;
  case APOLLO_TC_OR_O:
    if (a->any)
      score_map(a, s);
    else
      score_tarantula(a, conditions, s);
    break;
  }
}

// --- ranking ----------------------------------------------------------------

static void explain(const Suite *suite, const PlaceAt *const *blamed,
                    size_t top, Ranking *r) {
  for (size_t i = 0; i < r->suspects.len && i < top; i++) {
    Suspect *s = &r->suspects.items[i];
    const PlaceAt *p = blamed[s->entity];
    if (!p)
      continue;
    char *at = p->line == suite->entities[s->entity].line
                   ? mem_strdup("")
                   : mem_printf(", line %u", p->line);
    suspect_explain(s, "output",
                    mem_printf("wrote `%s`%s: %s", p->excerpt, at, p->what));
    free(at);
  }
}

int apollo_rank(const OutputPlaces *p, const Tally *t, Apollo technique,
                size_t failure, const ListOptions *o, Ranking *out, Err *err) {
  Comparison c;
  comparison_init(&c, t, failure, o->others_pass);
  Apollon a = {.places = p, .tally = t, .comparison = &c};
  a.blamed = find_blamed(p, t->suite, failure, &a.any);
  Scores s;
  scores_init(&s, t->suite);
  score(&a, technique, &s);
  int rc = listing_rank(t, &c, failure, &s, o, out, err);
  if (!rc && o->by == ENTITY_STATEMENT)
    explain(t->suite, a.blamed, o->explain, out);
  free(a.blamed);
  scores_release(&s);
  comparison_release(&c);
  return rc;
}

// Tarantula above 0.5.
static bool leans_to_failing(const Suspect *s, const Ranking *r) {
  uint64_t failing = (uint64_t)s->ef * r->passing;
  return failing > (uint64_t)s->ep * r->failing;
}

static double spread(const Ranking *r) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < r->suspects.len; i++) {
    low = fmin(low, r->suspects.items[i].score);
    high = fmax(high, r->suspects.items[i].score);
  }
  return high - low;
}

void apollo_raise(const OutputPlaces *p, const Suite *suite, Ranking *r) {
  bool any;
  const PlaceAt **blamed = find_blamed(p, suite, r->failure, &any);
  double lift = r->suspects.len ? spread(r) + 1 : 0;
  for (size_t i = 0; any && i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    if (!blamed[s->entity] || !leans_to_failing(s, r))
      continue;
    s->score += lift;
    s->hint += lift;
    s->own += lift;
  }
  free(blamed);
}

void apollo_explain(const OutputPlaces *p, const Suite *suite, Ranking *r,
                    size_t top) {
  bool any;
  const PlaceAt **blamed = find_blamed(p, suite, r->failure, &any);
  explain(suite, blamed, top, r);
  free(blamed);
}
