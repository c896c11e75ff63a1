// Localization by output: see outmap.h.
#include "locate/outmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
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
  PlaceAt *main;   // of the failure whose places are read,
  size_t main_run; // in this run
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
  uint32_t line = p->statement ? p->statement : p->line;
  for (LineKey key = {(uint32_t)source, line}; key.line; key.line--) {
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
  PlaceAt at = {.run = (uint32_t)run, .line = p->line, .role = p->role};
  if (!find_statement(l, p, &at.statement))
    return;
  at.signature = arena_strdup(arena, signature);
  at.what = arena_strdup(arena, p->what);
  at.excerpt = arena_strdup(arena, p->excerpt);
  if (!l->main || l->main_run != run || strcmp(l->main->signature, signature)) {
    l->main = arena_new(arena, PlaceAt);
    *l->main = at;
    l->main_run = run;
  }
  at.aside = p->role <= PLACE_BETWEEN && strcmp(l->main->what, at.what) != 0;
  array_push(&l->places->items, at);
}

int outmap_open(void *state, SessionEvidence *s, Err *err) {
  PlaceLoader l = {.places = state, .suite = s->suite};
  index_statements(&l);
  int rc = store_each_place(s->store, s->suite, add_place, &l, err);
  hashmap_release(&l.sources);
  hashmap_release(&l.lines);
  return rc;
}

void outmap_close(void *state) {
  OutputPlaces *p = state;
  array_release(&p->items);
  arena_release(&p->arena);
}

const OutputPlaces *outmap_places(SessionEvidence *s, Err *err) {
  return localizer_state(outmap_localizers, s, err);
}

// A group that was split (cluster.h) is named after the whole: "html: ...#2".
// One of all failing runs together shows every failure of its runs.
static bool names_group(const char *signature, const FailureGroup *g) {
  size_t n = strlen(signature);
  if (!strncmp(g->signature, signature, n))
    return !g->signature[n] || g->signature[n] == '#';
  return !strcmp(g->signature, "failing");
}

bool place_shows(const Suite *suite, const PlaceAt *p, size_t failure) {
  const FailureGroup *g = &suite->failures[failure];
  return names_group(p->signature, g) && run_shows(suite, failure, p->run);
}

// --- scores -----------------------------------------------------------------

#define ROLE(name) (1u << PLACE_##name)
enum {
  PRINTING = ROLE(OUTPUT) | ROLE(PRINTED), // what the six techniques know
  ALL_ROLES = (1 << PLACE_ROLES) - 1,
  DEGREES = 3
};

// How far a line is from what is blamed.
static int degree_of(const PlaceAt *p) {
  static const int degrees[PLACE_ROLES] = {
      [PLACE_OUTPUT] = 0,  [PLACE_TEXT] = 0,    [PLACE_NEAR] = 0,
      [PLACE_PRINTED] = 1, [PLACE_BETWEEN] = 2, [PLACE_QUERY] = 1,
      [PLACE_SENT] = 2};
  return p->aside && !degrees[p->role] ? 1 : degrees[p->role];
}

// Per entity: the place of one of these roles that it has and the failure is
// about, the most telling one; or NULL.
static const PlaceAt **find_blamed(const OutputPlaces *places,
                                   const Suite *suite, size_t failure,
                                   unsigned roles, Arena *arena, bool *any) {
  const PlaceAt **blamed =
      arena_array(arena, const PlaceAt *, suite->nentities);
  *any = false;
  for (size_t i = 0; i < places->items.len; i++) {
    const PlaceAt *p = &places->items.items[i];
    const PlaceAt *old = blamed[p->statement];
    if (!(roles & 1u << p->role) || (old && degree_of(old) <= degree_of(p)) ||
        !place_shows(suite, p, failure))
      continue;
    blamed[p->statement] = p;
    *any = true;
  }
  return blamed;
}

static void score_tarantula(Scoring *s, bool conditions) {
  unsigned kinds =
      1u << ENTITY_STATEMENT | (conditions ? 1u << ENTITY_CONDITION : 0);
  uint32_t *owner = owners_find(s->suite, ENTITY_STATEMENT, kinds);
  Formula *tarantula = formula_find("tarantula")->score;
  for (uint32_t e = 0; e < s->suite->nentities; e++)
    if (owner[e] != ENTITY_NONE && bitset_has(&s->tally->executed, e))
      scores_offer(&s->scores, owner[e],
                   tarantula(comparison_counts(&s->runs, e)),
                   owner[e] == e ? ENTITY_NONE : e);
  free(owner);
}

static void score_map(Scoring *s, const PlaceAt *const *blamed) {
  for (uint32_t e = 0; e < s->suite->nentities; e++)
    if (s->suite->entities[e].kind == ENTITY_STATEMENT)
      scores_offer(&s->scores, e, blamed[e] ? 1 : 0, ENTITY_NONE);
}

// Both agree: above everything that only Tarantula suspects.
static void combine(Scoring *s, const PlaceAt *const *blamed) {
  s->deaths = &s->session->deaths;
  for (uint32_t e = 0; e < s->suite->nentities; e++)
    if (blamed[e] && s->scores.score[e] > 0.5)
      s->scores.score[e] = 1.1;
}

// What a technique is made of.
enum { CONDITIONS = 1, COMBINED = 2, MAP = 4, MAP_IF_ANY = 8 };

static void rank(Scoring *s) {
  bool any;
  scoring_begin(s, &s->session->tally);
  const PlaceAt **blamed =
      find_blamed(s->state, s->suite, s->failure, PRINTING, &s->arena, &any);
  if (s->variant & MAP || (s->variant & MAP_IF_ANY && any))
    score_map(s, blamed);
  else
    score_tarantula(s, s->variant & CONDITIONS);
  if (s->variant & COMBINED)
    combine(s, blamed);
}

// --- ranking ----------------------------------------------------------------

static char *describe(const PlaceAt *p, const Entity *e, Arena *arena) {
  const char *at =
      p->line == e->line ? "" : arena_printf(arena, ", line %u", p->line);
  switch (p->role) {
  case PLACE_OUTPUT:
    return mem_printf("wrote `%s`%s: %s", p->excerpt, at, p->what);
  case PLACE_TEXT:
    return mem_printf("holds `%s`%s, printed elsewhere: %s", p->excerpt, at,
                      p->what);
  case PLACE_PRINTED:
    return mem_printf("printed `%s`, which another line holds: %s", p->excerpt,
                      p->what);
  case PLACE_BETWEEN:
    return mem_printf("wrote `%s`%s, shortly before an end tag is missed",
                      p->excerpt, at);
  case PLACE_NEAR:
  case PLACE_QUERY:
    if (*p->excerpt)
      return mem_printf("holds `%s`%s: %s", p->excerpt, at, p->what);
    return mem_strdup(p->what);
  default:
    return mem_strdup(p->what);
  }
}

static void explain_roles(const OutputPlaces *places, const Suite *suite,
                          Ranking *r, size_t top, unsigned roles) {
  Arena arena = {0};
  bool any;
  const PlaceAt **blamed =
      find_blamed(places, suite, r->failure, roles, &arena, &any);
  for (size_t i = 0; i < r->suspects.len && i < top; i++) {
    Suspect *s = &r->suspects.items[i];
    const PlaceAt *p = blamed[s->entity];
    if (p)
      suspect_explain(s, p->role <= PLACE_BETWEEN ? "output" : "query",
                      describe(p, &suite->entities[s->entity], &arena));
  }
  arena_release(&arena);
}

void outmap_explain(const OutputPlaces *places, const Suite *suite, Ranking *r,
                    size_t top) {
  explain_roles(places, suite, r, top, ALL_ROLES);
}

// Every method shows the line that holds what is blamed, not the first of its
// statement.
static void set_lines(const PlaceAt *const *blamed, Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    s->line = blamed[s->entity] ? blamed[s->entity]->line : 0;
  }
}

static void explain(const Scoring *s, Ranking *r) {
  if (s->options->by == ENTITY_STATEMENT)
    explain_roles(s->state, s->suite, r, s->options->explain, PRINTING);
}

static double spread(const Ranking *r) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < r->suspects.len; i++) {
    low = fmin(low, r->suspects.items[i].score);
    high = fmax(high, r->suspects.items[i].score);
  }
  return high - low;
}

// Does the outcome of a condition here tell all failing runs from all passing
// ones?
static bool decides(const Suite *suite, const Ranking *r, const Suspect *s) {
  return s->carried && s->carrier_ef == r->failing && !s->carrier_ep &&
         suite->entities[s->carrier].kind == ENTITY_CONDITION;
}

static bool is_decided(const Suite *suite, const Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (decides(suite, r, &r->suspects.items[i]))
      return true;
  return false;
}

static void lift(Suspect *s, double by) {
  s->score += by;
  s->hint += by;
  s->own += by;
}

// Who wrote what is blamed did so in passing runs, too: what decided about it in
// the same file comes first.
static void raise_deciding(const Suite *suite, Ranking *r, double by) {
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    if (decides(suite, r, s) && s->near > 0)
      lift(s, by);
  }
}

// Who writes what is blamed fails, as a rule: a line that passing runs execute
// at least half as often as failing ones wrote it because of another (a tenth,
// if a condition has decided it). A text may be put together always and used at
// times.
static bool is_raised(const Suspect *s, const Ranking *r, const PlaceAt *p,
                      bool decided) {
  bool holds = p->role == PLACE_TEXT || p->role == PLACE_NEAR;
  uint64_t failing = (uint64_t)s->ef * r->passing;
  bool leans = failing > (decided ? 10 : 2) * (uint64_t)s->ep * r->failing;
  return 2 * s->ef > r->failing && (leans || (holds && s->ef == r->failing));
}

// In how many runs what a statement wrote comes before a missing end tag.
static uint32_t *count_between(const OutputPlaces *places, const Suite *suite,
                               size_t failure, Arena *arena) {
  uint32_t *runs = arena_array(arena, uint32_t, suite->nentities);
  for (size_t i = 0; i < places->items.len; i++) {
    const PlaceAt *p = &places->items.items[i];
    runs[p->statement] +=
        p->role == PLACE_BETWEEN && place_shows(suite, p, failure);
  }
  return runs;
}

// How far in lines from the nearest place in its file: 1 there, 1/2 one line
// away, ...
static void set_nearness(uint32_t source, uint32_t line, const Suite *suite,
                         Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    const Entity *e = &suite->entities[s->entity];
    double far = fabs((double)e->line - (double)line);
    if (e->source == source)
      s->near = fmax(s->near, 1 / (1 + far));
  }
}

static void set_nearness_to_blamed(const PlaceAt *const *blamed,
                                   const Suite *suite, Ranking *r) {
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (blamed[i])
      set_nearness(suite->entities[i].source, blamed[i]->line, suite, r);
}

// A message of PHP names its line, which need not be that of a statement.
static void set_nearness_to_message(const Suite *suite, Ranking *r) {
  const char *place = suite->failures[r->failure].place;
  const char *colon = place ? strrchr(place, ':') : NULL;
  uint32_t line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
  for (uint32_t i = 0; line && i < suite->nsources; i++)
    if (place_is_at(place, suite->sources[i].path, line))
      set_nearness(i, line, suite, r);
}

void outmap_raise(const OutputPlaces *p, const Suite *suite, Ranking *r) {
  Arena arena = {0};
  bool any;
  const PlaceAt **blamed =
      find_blamed(p, suite, r->failure, ALL_ROLES, &arena, &any);
  const uint32_t *between = count_between(p, suite, r->failure, &arena);
  double step = r->suspects.len ? spread(r) + 1 : 0;
  bool decided = is_decided(suite, r), raised = false;
  for (size_t i = 0; any && i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    const PlaceAt *place = blamed[s->entity];
    s->near = place ? 1 : 0; // wherever in the statement it stands
    if (!place || !is_raised(s, r, place, decided) ||
        (place->role == PLACE_BETWEEN && 2 * between[s->entity] <= r->failing))
      continue;
    lift(s, step * (DEGREES - degree_of(place)));
    raised = true;
  }
  if (any)
    set_nearness_to_blamed(blamed, suite, r);
  else
    set_nearness_to_message(suite, r);
  if (any && decided && !raised)
    raise_deciding(suite, r, step);
  arena_release(&arena);
}

void outmap_lines(const OutputPlaces *p, const Suite *suite, Ranking *r) {
  Arena arena = {0};
  bool any;
  set_lines(find_blamed(p, suite, r->failure, ALL_ROLES, &arena, &any), r);
  arena_release(&arena);
}

// --- the localizers ---------------------------------------------------------

static bool has_places(const void *state) {
  return ((const OutputPlaces *)state)->items.len > 0;
}

#define APOLLO                                                                 \
  .scope = FOR_PHP, .all_kinds = 1u << ENTITY_STATEMENT,                       \
  .loads = 1u << ENTITY_STATEMENT | 1u << ENTITY_CONDITION,                    \
  .lists = LIST_LINES, OUTMAP_STATE, .rank = rank, .explain = explain

const Localizer outmap_localizers[] = {
    {.name = "apollo-t", .doc = "Tarantula of the line (Artzi 2010)", APOLLO},
    {.name = "apollo-o",
     .doc = "lines that wrote what the oracle blames in the output",
     APOLLO,
     .variant = MAP,
     .has = has_places,
     .needs = "a failure that names places in the output",
     .remedy = "`culprit web` finds them in pages that are not valid HTML"},
    {.name = "apollo-t+o",
     .doc = "apollo-t, raised to 1.1 where apollo-o agrees",
     APOLLO,
     .variant = COMBINED},
    {.name = "apollo-tc",
     .doc = "apollo-t over the line and the outcomes of its conditions",
     APOLLO,
     .variant = CONDITIONS},
    {.name = "apollo-tc+o",
     .doc = "apollo-tc, raised to 1.1 where apollo-o agrees",
     APOLLO,
     .variant = CONDITIONS | COMBINED},
    {.name = "apollo-tcoro",
     .doc = "apollo-o where the oracle names places, else apollo-tc",
     APOLLO,
     .variant = CONDITIONS | MAP_IF_ANY},
    {0}};
